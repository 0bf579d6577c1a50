#ifndef femgpu_app_study_h
#define femgpu_app_study_h

#include "app/cycle_record.h"
#include "app/parameters.h"
#include "common/console.h"
#include "physics/discretization.h"

#include <functional>

namespace femgpu
{
/**
 * Collective. Checks that @p parameters fit together, the mesh can be made, and the boundary ids
 * that they name are there; solves nothing. @throws ParameterError, InputError
 */
void validate(const Parameters &parameters, MPI_Comm communicator, Console &console);

/// Collective. Checks as validate() does, and that the solver's methods fit the problem; prints
/// nothing. @throws as above, and DeviceError
void check_study(const Parameters &parameters, MPI_Comm communicator, Console &console);

/// Receives the unfinished study after each cycle, with the solution of that cycle.
using StudyObserver = std::function<void(const StudyRecord &, const FeVector &)>;

/**
 * Collective. Runs the study that @p parameters describe: mesh, solution, errors and files of each
 * cycle. A cycle that does not converge is the last one; its files for ParaView say so.
 * @throws ParameterError, InputError, DeviceError, OutputError
 */
StudyRecord run_study(const Parameters &parameters, MPI_Comm communicator, Console &console,
                      const StudyObserver &observer = {});
} // namespace femgpu

#endif
