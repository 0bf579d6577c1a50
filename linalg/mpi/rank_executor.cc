#include "linalg/mpi/rank_executor.h"

#include "linalg/base/parallel.h"
#include "linalg/execution/make_executor.h"
#include "linalg/mpi/nodes.h"

#include <algorithm>

namespace femgpu::linalg
{
ExecutorPtr make_rank_executor(MPI_Comm ranks, const std::string &backend, Resources resources)
{
  MPI_Comm node = split_by_node(ranks);
  int rank = 0, size = 1;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &size);
  const cpu_set_t cores = allowed_cores(node);
  MPI_Comm_free(&node);
  if (resources.threads == 0)
    resources.threads = static_cast<unsigned int>(std::max(1, CPU_COUNT(&cores) / size));
  set_n_loop_threads(static_cast<int>(resources.threads)); // for loops outside the executor
  const int n_devices = n_cuda_devices();
  const bool may_use_device = backend == "auto" || backend == "cuda";
  return make_executor(may_use_device && n_devices > 0 ? "cuda:" + std::to_string(rank % n_devices)
                                                       : backend,
                       resources);
}
} // namespace femgpu::linalg
