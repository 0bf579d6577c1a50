#ifndef femgpu_app_failure_h
#define femgpu_app_failure_h

#include "app/parameter_file.h"
#include "linalg/base/error.h"

#include <mpi.h>

#include <exception>

namespace femgpu
{
/// Converts @p exception to an Error. If a parameter caused it, the message names the location that
/// set the parameter.
Error describe_failure(const std::exception_ptr &exception, const ParameterLocations &locations);

/// Collective. Prepares report_failure() to terminate ranks that are unaware of a failure.
/// @param communicator a communicator that is used for failures only
void init_failure_reporting(MPI_Comm communicator);

/**
 * Prints @p error once to standard error. Returns when all ranks have called this function. If a
 * rank does not do so within a few seconds, terminates all ranks with the exit code of @p error.
 * @return the exit code of the first rank's error, on all ranks
 */
ExitCode report_failure(const Error &error, MPI_Comm communicator);

/// Reports @p exception on the communicator of init_failure_reporting() and terminates the program.
/// For code that must not throw.
[[noreturn]] void terminate_program(const std::exception_ptr &exception);
} // namespace femgpu

#endif
