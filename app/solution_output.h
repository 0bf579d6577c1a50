#ifndef femgpu_app_solution_output_h
#define femgpu_app_solution_output_h

#include "app/node_fields.h"
#include "app/parameters.h"

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// What a rank writes of a solution.
struct SolutionFiles
{
  std::vector<std::string> names; ///< of all ranks, without that of the record
  std::function<void()> write;    ///< those of this rank, by a thread; empty: none
  std::string record;             ///< what the first rank writes when all others are there
};

/**
 * Writes the files for ParaView of a series of solutions, as the cycles of a study, by a thread of
 * each rank while the run goes on. Every file has its name only when it is complete, and so are
 * those that it names.
 */
template <int dim>
class SolutionOutput
{
public:
  /// @param name begin of the names of the files
  SolutionOutput(const OutputParameters &parameters, std::string name, const Problem<dim> &problem)
      : parameters(parameters), name(std::move(name)), problem(problem)
  {}
  virtual ~SolutionOutput() = default;

  /**
   * Collective. Writes solution, derived fields, exact solution and error where known, material and
   * subdomain ids and, if given, the error indicator of each active cell.
   * @param index of the solution in the series, for the names of its files
   * @param time by which ParaView orders and names it
   * @param has_converged if not, the field data `converged` of the files is 0
   * @throws OutputError if a file of a solution before cannot be written.
   */
  void write(unsigned int index, double time, DiscreteSolution<dim> &solution,
             const dealii::Vector<float> &indicators, bool has_converged);

  /// Collective. Waits for all files. @throws OutputError if one cannot be written
  void finish(MPI_Comm communicator);

  /// Leaves out Problem::nodal_fields(), which belong to a solution for the data of the parameters:
  /// along a branch λ is another.
  void leave_out_nodal_fields()
  {
    has_nodal_fields = false;
  }

  /// Names of the files written, relative to the output directory.
  const std::vector<std::string> &files() const
  {
    return names;
  }

protected:
  /// Collective. @param base "solution_003"
  virtual SolutionFiles files_of(NodeFields<dim> fields, const std::string &base,
                                 bool has_converged, MPI_Comm communicator) const = 0;
  /// Have cells nodes in common in these files?
  virtual bool shares_nodes() const = 0;
  /// Of the file that stands for a solution.
  virtual std::string extension() const = 0;
  /// Of the file that names all with their times.
  virtual std::string series_extension() const = 0;
  virtual std::string
  series_text(const std::vector<std::pair<double, std::string>> &series) const = 0;

  std::string path_of(const std::string &file) const
  {
    return parameters.directory + "/" + file;
  }

  const OutputParameters &parameters;

private:
  std::string name;
  const Problem<dim> &problem;
  bool has_nodal_fields = true;
  std::vector<std::string> names;
  std::vector<std::pair<double, std::string>> series; ///< times and files

  std::future<void> writing;
  bool is_pending = false; ///< on some rank
  std::string record;      ///< of the last solution
};

/// Collective. Each rank does what @p write says; all throw the OutputError that one has.
void write_together(const std::function<void()> &write, MPI_Comm communicator);

/// In the format that the parameters name.
template <int dim>
std::unique_ptr<SolutionOutput<dim>> make_output(const OutputParameters &parameters,
                                                 const Problem<dim> &problem);
} // namespace femgpu

#endif
