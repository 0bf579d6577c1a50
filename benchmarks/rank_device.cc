#include "benchmarks/rank_device.h"

#include "linalg/base/error.h"
#include "linalg/mpi/communicators.h"

#include <cstdio>

namespace femgpu::linalg::benchmark
{
RankDevice::RankDevice(const std::string &backend, const std::string &communicator_name)
    : executor(ranks.make_executor(backend, {}))
{
  check_communicator(communicator_name);
  if (ranks.is_parallel())
    communicator = make_communicator(ranks.communicator(), executor, communicator_name);
  if (!ranks.is_first() && std::freopen("/dev/null", "w", stdout) == nullptr)
    throw OutputError("The output of a rank could not be discarded.");
}

void RankDevice::synchronize() const
{
  executor->synchronize();
  if (communicator)
    MPI_Barrier(ranks.communicator());
}
} // namespace femgpu::linalg::benchmark
