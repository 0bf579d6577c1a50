#ifndef femgpu_app_run_h
#define femgpu_app_run_h

#include "app/command_line.h"
#include "app/parameters.h"
#include "common/console.h"
#include "linalg/base/error.h"

namespace femgpu
{
/**
 * Collective. Reads the parameters, and checks them, runs the study that they describe, or a study
 * for each combination of the values of --study, as @p command_line asks for. Tables are printed,
 * and the first rank writes the files.
 * @return has everything converged? Else the code of the first combination for which it has not, or
 *         that has failed
 * @throws ParameterError, InputError, DeviceError, OutputError
 */
ExitCode run(const CommandLine &command_line, Parameters &parameters, MPI_Comm communicator,
             Console &console);
} // namespace femgpu

#endif
