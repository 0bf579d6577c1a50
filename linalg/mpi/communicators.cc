#include "linalg/mpi/communicators.h"

#include "linalg/base/error.h"
#include "linalg/mpi/mpi_communicator.h"
#include "linalg/mpi/nodes.h"

#include <algorithm>

namespace femgpu::linalg
{
namespace
{
constexpr const char *parameter = "communicator";

/// Returns whether @p condition is true on all ranks. Collective.
bool true_on_all_ranks(MPI_Comm ranks, const bool condition)
{
  int is_true = condition ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &is_true, 1, MPI_INT, MPI_MIN, ranks);
  return is_true != 0;
}

bool is_one_node(MPI_Comm ranks)
{
  MPI_Comm node = split_by_node(ranks);
  int n_on_node = 0, n_all = 0;
  MPI_Comm_size(node, &n_on_node);
  MPI_Comm_size(ranks, &n_all);
  MPI_Comm_free(&node);
  return true_on_all_ranks(ranks, n_on_node == n_all);
}

/// Returns the communicator @p name between devices, or the fastest available one for "auto"; if it
/// is unavailable, nullptr and the reason.
DeviceConnection make_device_communicator(MPI_Comm ranks, const CommunicatorPtr &mpi,
                                          const ExecutorPtr &executor, const std::string &name)
{
  if (!true_on_all_ranks(ranks, executor->backend() == BackendKind::cuda))
    return {nullptr, "not all solver groups have a GPU."};
  DeviceConnection found;
  if (name != "nccl")
    found = is_one_node(ranks) ? make_peer_communicator(mpi, executor, name == "peers")
                               : DeviceConnection{nullptr, "the GPUs are on several hosts."};
  if (name == "nccl" || (name == "auto" && !found.communicator))
    found = make_nccl_communicator(mpi, executor);
  return found;
}
} // namespace

std::vector<Choice> communicator_choices()
{
  return {{"auto", "the first of peers, nccl and mpi that is available; peers and nccl need a GPU "
                   "for each subdomain"},
          {"peers", "kernels access the memory of the other GPUs of the same host, so that the "
                    "iteration loops run without the host"},
          {"nccl", "NCCL sends sums and ghost values from GPU to GPU, also between hosts; each "
                   "rank launches the kernels of its own GPU"},
          {"mpi", "sums and ghost values pass through host memory"}};
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
  const DeviceConnection found = make_device_communicator(ranks, mpi, executor, name);
  if (found.communicator)
    return found.communicator;
  if (name != "auto")
    throw ParameterError("Communicator '" + name + "' is unavailable: " + found.failure +
                             " Use communicator auto or mpi.",
                         parameter);
  return mpi;
}
} // namespace femgpu::linalg
