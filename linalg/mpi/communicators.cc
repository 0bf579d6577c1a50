#include "linalg/mpi/communicators.h"

#include "linalg/base/error.h"
#include "linalg/mpi/mpi_communicator.h"
#include "linalg/mpi/nodes.h"

#include <algorithm>

namespace femgpu::linalg
{
namespace
{
constexpr const char *parameter = "Solver/Communicator";

/// Are all parts on one node, each with a GPU? All parts get the same answer.
bool are_gpus_of_one_node(MPI_Comm ranks, const Executor &executor)
{
  MPI_Comm node = ranks_of_node(ranks);
  int n_here = 0, n_all = 0;
  MPI_Comm_size(node, &n_here);
  MPI_Comm_size(ranks, &n_all);
  MPI_Comm_free(&node);
  int are = n_here == n_all && executor.backend() == BackendKind::cuda ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &are, 1, MPI_INT, MPI_MIN, ranks);
  return are != 0;
}
} // namespace

std::vector<Choice> communicator_choices()
{
  return {{"auto", "peers where they can be had and each part has a GPU of its own, else mpi"},
          {"peers", "kernels reach the memory of the other GPUs of a host, so that loops need no "
                    "host"},
          {"mpi", "sums and ghosts pass through the host"}};
}

void check_communicator(const std::string &name)
{
  const std::vector<Choice> choices = communicator_choices();
  if (std::none_of(choices.begin(), choices.end(),
                   [&](const Choice &choice) { return choice.name == name; }))
    throw ParameterError("There is no communicator '" + name + "'; use " + names_of(choices) + ".",
                         parameter);
}

CommunicatorPtr make_communicator(MPI_Comm ranks, const ExecutorPtr &executor,
                                  const std::string &name)
{
  check_communicator(name);
  const auto mpi = std::make_shared<MpiCommunicator>(ranks);
  if (name == "mpi")
    return mpi;
  const bool is_wanted = name == "peers";
  if (!are_gpus_of_one_node(ranks, *executor)) {
    if (is_wanted)
      throw ParameterError(
          "Communicator 'peers' is between the GPUs of one host, and not all parts "
          "of this system are on these. Use auto or mpi.",
          parameter);
    return mpi;
  }
  const Peers peers = with_peers(mpi, executor, is_wanted);
  if (is_wanted && !peers.communicator)
    throw ParameterError(
        "Communicator 'peers' cannot be had here, use auto or mpi: " + peers.failure, parameter);
  return peers.communicator ? peers.communicator : mpi;
}
} // namespace femgpu::linalg
