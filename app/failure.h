#ifndef femgpu_app_failure_h
#define femgpu_app_failure_h

#include "app/parameter_file.h"

#include <mpi.h>

#include <exception>

namespace femgpu
{
/**
 * Says on standard error what went wrong, once, with file and line of the parameter to blame, and
 * returns the exit code. If other ranks go on without knowing of it, all are ended with that code.
 */
int report_failure(const std::exception_ptr &failure, const ParameterPlaces &places,
                   MPI_Comm communicator);
} // namespace femgpu

#endif
