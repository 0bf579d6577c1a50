#ifndef femgpu_linalg_mpi_communicators_h
#define femgpu_linalg_mpi_communicators_h

#include "linalg/base/choice.h"
#include "linalg/operators/communicator.h"

#include <mpi.h>

#include <string>
#include <vector>

namespace femgpu::linalg
{
/// What make_communicator() takes.
std::vector<Choice> communicator_choices();

/// @throws ParameterError unless @p name is one of the choices
void check_communicator(const std::string &name);

/**
 * How the parts of a system speak with each other, which are the ranks of @p ranks. Collective.
 * @param executor of this rank's part
 * @param name auto: what is fastest and can be had
 * @throws ParameterError for another word, and for one that these parts cannot have
 */
CommunicatorPtr make_communicator(MPI_Comm ranks, const ExecutorPtr &executor,
                                  const std::string &name);
} // namespace femgpu::linalg

#endif
