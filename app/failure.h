#ifndef femgpu_app_failure_h
#define femgpu_app_failure_h

#include "app/parameter_file.h"
#include "linalg/base/error.h"

#include <mpi.h>

#include <exception>

namespace femgpu
{
/// What @p exception says, with file and line of the parameter to blame.
Error describe_failure(const std::exception_ptr &exception, const ParameterPlaces &places);

/// Collective. Lets report_failure() end ranks that know nothing of a failure. @p communicator is
/// for failures alone.
void introduce_ranks(MPI_Comm communicator);

/**
 * Says @p error on standard error, once. Returns when all ranks have come here; if others go on
 * without knowing of it, all are ended with its exit code.
 * @return the exit code that the first rank came with, on all ranks
 */
ExitCode report_failure(const Error &error, MPI_Comm communicator);

/// Reports @p exception on the communicator of introduce_ranks() and ends the program, where
/// nothing can be thrown.
[[noreturn]] void end_program(const std::exception_ptr &exception);
} // namespace femgpu

#endif
