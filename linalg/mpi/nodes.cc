#include "linalg/mpi/nodes.h"

#include <algorithm>
#include <cstdlib>

namespace femgpu::linalg
{
MPI_Comm ranks_of_node(MPI_Comm ranks)
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
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(node, static_cast<int>(static_cast<long long>(rank) * n / size), 0, &part);
  MPI_Comm_free(&node);
  return part;
}

MPI_Comm ranks_by_nodes(MPI_Comm ranks)
{
  MPI_Comm node = ranks_of_node(ranks), ordered = MPI_COMM_NULL;
  int first = 0;
  MPI_Comm_rank(ranks, &first);
  MPI_Bcast(&first, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  MPI_Comm_split(ranks, 0, first, &ordered); // those with the same key stay in their order
  return ordered;
}

cpu_set_t cores_of(MPI_Comm ranks)
{
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof(mine), &mine);
  MPI_Allreduce(&mine, &all, sizeof(cpu_set_t), MPI_BYTE, MPI_BOR, ranks);
  return all;
}
} // namespace femgpu::linalg
