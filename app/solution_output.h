#ifndef femgpu_app_solution_output_h
#define femgpu_app_solution_output_h

#include "app/parameters.h"
#include "physics/residual.h"

#include <deal.II/lac/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/**
 * Writes the files for ParaView of a series of solutions, as the cycles of a study. Every file has
 * its name only when it is complete.
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
   * subdomain ids and, if given, the error indicator of each active cell. The file may be written
   * by a thread while the run goes on.
   * @param index of the solution in the series, for the names of its files
   * @param time by which ParaView orders and names it
   * @param has_converged if not, the field data `converged` of the files is 0
   * @throws OutputError if a file, or that of a write before, cannot be written.
   */
  virtual void write(unsigned int index, double time, DiscreteSolution<dim> &solution,
                     const dealii::Vector<float> &indicators, bool has_converged) = 0;

  /// Collective. Waits for all files. @throws OutputError if one cannot be written
  virtual void finish(MPI_Comm /* communicator */)
  {}

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
  /// "solution_003"
  std::string base_name(unsigned int index) const;

  const OutputParameters &parameters;
  std::string name;
  const Problem<dim> &problem;
  bool has_nodal_fields = true;
  std::vector<std::string> names;
};

/// Collective. Every rank throws OutputError if one of them has an @p error.
void throw_together(const std::string &error, MPI_Comm communicator);

/// In the format that the parameters name.
template <int dim>
std::unique_ptr<SolutionOutput<dim>> make_output(const OutputParameters &parameters,
                                                 const Problem<dim> &problem);
} // namespace femgpu

#endif
