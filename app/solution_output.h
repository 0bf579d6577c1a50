#ifndef femgpu_app_solution_output_h
#define femgpu_app_solution_output_h

#include "app/output_format.h"
#include "physics/measurements/measurements.h"

#include <future>
#include <memory>
#include <string>
#include <vector>

namespace femgpu
{
/**
 * Writes the files of a series of solutions, as the cycles of a study: those for ParaView, by a
 * thread of each rank while the run goes on, and what is measured. Every file has its name only
 * when it is complete, and so are those that it names.
 */
template <int dim>
class SolutionOutput
{
public:
  /// In the format that the parameters name. Both outlive this object.
  /// @param has_nodal_fields whether Problem::nodal_fields() are written, which belong to a
  /// solution for the data of the parameters: along a branch λ is another
  SolutionOutput(const OutputParameters &parameters, const Problem<dim> &problem,
                 const bool has_nodal_fields)
      : parameters(parameters), problem(problem), has_nodal_fields(has_nodal_fields),
        format(parameters.format == "vtkhdf" ? vtkhdf_format : vtu_format)
  {}

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

  /// Collective; the first rank writes values at points, of all cycles so far, to points.csv, and
  /// those along lines to line_NAME_CYCLE.csv. @throws OutputError on all ranks
  void write_measured(unsigned int cycle, const MeasuredValues &values, MPI_Comm communicator);

  /// Names of the files that are complete, relative to the output directory: those of measurements
  /// last.
  std::vector<std::string> files() const
  {
    std::vector<std::string> all = names;
    all.insert(all.end(), names_of_measured.begin(), names_of_measured.end());
    return all;
  }

private:
  const OutputParameters &parameters;
  const Problem<dim> &problem;
  bool has_nodal_fields;
  const OutputFormat &format;
  std::vector<std::string> names, names_of_measured;
  OutputSeries series;
  std::unique_ptr<const SolutionFiles> pending; ///< of the last solution, on all ranks
  std::future<void> writing;                    ///< uses them
  std::string points;                           ///< text of points.csv
};
} // namespace femgpu

#endif
