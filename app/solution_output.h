#ifndef femgpu_app_solution_output_h
#define femgpu_app_solution_output_h

#include "app/output_format.h"
#include "physics/measurements/measurements.h"

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// The names and texts of the files that SolutionOutput has written so far.
struct OutputState
{
  std::string name; ///< prefix of the names of the present series
  std::vector<std::string> names, measurement_files;
  OutputSeries series;
  std::string points; ///< text of points.csv
};

/**
 * Writes the files of a series of solutions, such as the cycles of a study: ParaView files, by a
 * background thread on each rank, and measurements. A file gets its name only when it and all files
 * that it refers to are complete.
 */
template <int dim>
class SolutionOutput
{
public:
  /// Prepares output in the format of @p parameters, which must outlive this object.
  /// @param has_nodal_fields whether to write Problem::nodal_fields(). False along a branch: these
  /// fields are valid only for the λ that the parameters specify
  SolutionOutput(const OutputParameters &parameters, const bool has_nodal_fields)
      : parameters(parameters), has_nodal_fields(has_nodal_fields),
        format(parameters.format == "vtkhdf" ? vtkhdf_format : vtu_format), written{parameters.name,
                                                                                    {},
                                                                                    {},
                                                                                    {},
                                                                                    {}}
  {}

  /// Returns what was written. @pre finish() was called after the last write()
  const OutputState &state() const
  {
    return written;
  }
  /// Continues the output of an earlier run.
  void restore(OutputState state)
  {
    written = std::move(state);
  }

  /// Collective. Ends the present series of ParaView files, and begins one with @p suffix appended
  /// to its name. @throws OutputError if a file of the present series cannot be written
  void begin_series(const std::string &suffix, MPI_Comm communicator);

  /**
   * Collective. Starts to write the solution, derived fields, exact solution and error (if known),
   * material and subdomain ids and, if not empty, the error indicators of the active cells.
   * @param index number of the solution in the series, for file names
   * @param time time that ParaView shows and by which it orders the series
   * @param has_converged if false, the files contain the field data `converged` = 0
   * @throws OutputError if a file of a previous solution cannot be written
   */
  void write(unsigned int index, double time, DiscreteSolution<dim> &solution,
             const dealii::Vector<float> &indicators, bool has_converged);

  /// Collective. Waits until all files are written. @throws OutputError if one cannot be written
  void finish(MPI_Comm communicator);

  /// Collective. On the first rank, writes the values at points of all calls so far to points.csv
  /// and the values along lines to line_NAME_INDEX.csv. @throws OutputError on all ranks
  /// @param labels names and values of the first columns of points.csv
  void write_measurements(unsigned int index,
                          const std::vector<std::pair<std::string, std::string>> &labels,
                          const MeasuredValues &values, MPI_Comm communicator);

  /// Returns the names of the completed files relative to the output directory, measurements last.
  std::vector<std::string> files() const
  {
    std::vector<std::string> all = written.names;
    all.insert(all.end(), written.measurement_files.begin(), written.measurement_files.end());
    return all;
  }

private:
  const OutputParameters &parameters;
  bool has_nodal_fields;
  const OutputFormat &format;
  OutputState written;
  std::unique_ptr<const SolutionFiles> pending; ///< files of the last solution, not yet complete
  std::future<void> writing;                    ///< writes `pending`
};
} // namespace femgpu

#endif
