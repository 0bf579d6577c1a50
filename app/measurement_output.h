#ifndef femgpu_app_measurement_output_h
#define femgpu_app_measurement_output_h

#include "physics/measurements/measurements.h"

#include <mpi.h>

#include <string>
#include <vector>

namespace femgpu
{
/**
 * Writes values at points, of all cycles so far, to points.csv, and those along lines to
 * line_NAME_CYCLE.csv. Every file has its name only when it is complete.
 */
class MeasurementOutput
{
public:
  /// @param directory that is there
  MeasurementOutput(std::string directory, MPI_Comm communicator)
      : directory(std::move(directory)), communicator(communicator)
  {}

  /// Collective; the first rank writes. @throws OutputError on all ranks
  void write(unsigned int cycle, const MeasuredValues &values);

  /// Names of the files written, relative to the output directory.
  const std::vector<std::string> &files() const
  {
    return names;
  }

private:
  std::string directory;
  MPI_Comm communicator;
  std::string points; ///< text of points.csv
  std::vector<std::string> names;
};

/// What the user has measured by name, and behind it what the physics reports by itself. An
/// extremum that the physics has computed already, with the same definition, is that of the
/// physics; another name that both have gets " (measured)".
std::vector<Quantity> with_measured(std::vector<Quantity> measured,
                                    const std::vector<Quantity> &of_physics);
} // namespace femgpu

#endif
