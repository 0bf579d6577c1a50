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
 * Collective. Checks that @p parameters are consistent, that the mesh can be created and that the
 * mesh has the boundary ids that @p parameters name; prints a summary. Does not solve.
 * @param draws whether to write the sides of the mesh to the output directory, see write_sides()
 * @throws ParameterError, InputError, OutputError
 */
void validate(const Parameters &parameters, MPI_Comm communicator, Console &console, bool draws);

/// Collective. Checks what validate() checks, and that the solver's methods suit the problem.
/// Prints nothing. @throws ParameterError, InputError, DeviceError
void check_study(const Parameters &parameters, MPI_Comm communicator, Console &console);

/// A callback that receives the unfinished study and the solution after each cycle.
using StudyObserver = std::function<void(const StudyRecord &, const FeVector &)>;

/**
 * Collective. Runs the study that @p parameters describe: for each cycle, creates the mesh, solves,
 * computes errors and writes files. A cycle that does not converge ends the study; the field data
 * `converged` of its ParaView files is 0.
 * @param continues whether to go on from the last checkpoint in the output directory
 * @throws ParameterError, InputError, DeviceError, OutputError
 */
StudyRecord run_study(const Parameters &parameters, MPI_Comm communicator, Console &console,
                      const StudyObserver &observer = {}, bool continues = false);
} // namespace femgpu

#endif
