#include "linalg/mpi/nodes.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <thread>

namespace femgpu::linalg
{
bool was_started_by_mpi()
{
  constexpr const char *variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK",
                                       "MV2_COMM_WORLD_RANK"};
  return std::any_of(std::begin(variables), std::end(variables),
                     [](const char *const name) { return std::getenv(name) != nullptr; });
}

void skip_hardware_discovery()
{
  const auto value = [](const char *const name) {
    const char *const text = std::getenv(name);
    return std::string(text != nullptr ? text : "");
  };
  const bool is_alone = !was_started_by_mpi();
  const std::string size = value("OMPI_COMM_WORLD_SIZE");
  if (is_alone) {
    ::setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    // All such processes would share one session directory, and the first process to exit would
    // remove it while others start.
    ::setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
  }
  if (is_alone || (!size.empty() && size == value("OMPI_COMM_WORLD_LOCAL_SIZE"))) {
    ::setenv("OMPI_MCA_pml", "ob1", 0);
    ::setenv("HWLOC_COMPONENTS", "-linux:pci,-linux:io,-pci,-opencl,-gl", 0);
  }
}

MPI_Comm split_by_node(MPI_Comm ranks)
{
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(ranks, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const char *const n_nodes = std::getenv("FEMGPU_NODES");
  if (n_nodes == nullptr)
    return node;
  int rank = 0, size = 1;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &size);
  const int n = std::clamp(std::atoi(n_nodes), 1, size); // NOLINT(cert-err34-c): 0 is 1
  MPI_Comm virtual_node = MPI_COMM_NULL;
  MPI_Comm_split(node, static_cast<int>(static_cast<long long>(rank) * n / size), 0, &virtual_node);
  MPI_Comm_free(&node);
  return virtual_node;
}

MPI_Comm reorder_by_node(MPI_Comm ranks)
{
  MPI_Comm node = split_by_node(ranks), ordered = MPI_COMM_NULL;
  int first = 0;
  MPI_Comm_rank(ranks, &first);
  MPI_Bcast(&first, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  MPI_Comm_split(ranks, 0, first, &ordered); // ranks with the same key keep their order
  return ordered;
}

bool sleeping_barrier(MPI_Comm communicator, const std::chrono::milliseconds timeout)
{
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(communicator, &request);
  const auto begin = std::chrono::steady_clock::now();
  auto pause = std::chrono::microseconds(10);
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0)
      return true;
    if (std::chrono::steady_clock::now() - begin > timeout)
      return false;
    std::this_thread::sleep_for(pause);
    if (pause < std::chrono::milliseconds(1))
      pause *= 2;
  }
}

cpu_set_t allowed_cores(MPI_Comm ranks)
{
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof(mine), &mine);
  MPI_Allreduce(&mine, &all, sizeof(cpu_set_t), MPI_BYTE, MPI_BOR, ranks);
  return all;
}
} // namespace femgpu::linalg
