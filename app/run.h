#ifndef femgpu_app_run_h
#define femgpu_app_run_h

#include "app/command_line.h"
#include "app/cycle_record.h"
#include "app/parameters.h"
#include "common/console.h"
#include "linalg/base/error.h"

namespace femgpu
{
/// Collective. Runs the study that @p parameters describe, prints its table and, on the first rank,
/// writes all files. @throws as run_study()
StudyRecord run_and_write(const Parameters &parameters, MPI_Comm communicator, Console &console);

/**
 * Collective. Runs a study for each combination of the values of --study, each into a directory of
 * its own, and writes one table of all. Every combination is checked before the first is solved.
 * One that an error ends is a line of the table; the others run all the same, but after an error of
 * output, which they would meet too.
 * @return the exit code of the first combination that has not converged or has failed
 * @throws as check_study(), with the combination that is wrong
 */
ExitCode run_combinations(const CommandLine &command_line, Parameters &parameters,
                          MPI_Comm communicator, Console &console);
} // namespace femgpu

#endif
