#ifndef femgpu_linalg_mpi_communicators_h
#define femgpu_linalg_mpi_communicators_h

#include "linalg/base/choice.h"
#include "linalg/operators/communicator.h"

#include <mpi.h>

#include <string>
#include <vector>

namespace femgpu::linalg
{
/// Returns the choices for make_communicator().
std::vector<Choice> communicator_choices();

/// Checks that @p name is one of communicator_choices().
/// @throws ParameterError if it is not
void check_communicator(const std::string &name);

/**
 * Makes the communicator of a system distributed over @p ranks. Collective.
 * @param executor the executor of this rank
 * @param name one of communicator_choices(); auto selects the fastest communicator available
 * @throws ParameterError if the name is unknown, or the communicator is unavailable on these ranks
 */
CommunicatorPtr make_communicator(MPI_Comm ranks, const ExecutorPtr &executor,
                                  const std::string &name);
} // namespace femgpu::linalg

#endif
