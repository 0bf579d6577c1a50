#ifndef femgpu_linalg_execution_cuda_device_communicator_h
#define femgpu_linalg_execution_cuda_device_communicator_h

#include "linalg/base/error.h"
#include "linalg/execution/cuda/executor.h"
#include "linalg/operators/communicator.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace femgpu::linalg::cuda
{
/// A communicator that exchanges data in device memory directly between the devices, and data in
/// host memory through another communicator.
class DeviceCommunicator : public Communicator
{
public:
  DeviceCommunicator(CommunicatorPtr host, std::shared_ptr<const CudaExecutor> executor)
      : host(std::move(host)), executor(std::move(executor))
  {}

  int n_ranks() const override
  {
    return host->n_ranks();
  }
  int rank() const override
  {
    return host->rank();
  }
  void do_gather(const void *mine, const std::size_t bytes, void *all) const override
  {
    host->gather(mine, bytes, all);
  }
  GhostPlan do_plan(std::vector<long long> ghosts,
                    const std::vector<long long> &starts) const override
  {
    return host->plan(std::move(ghosts), starts);
  }
  void do_exchange(const ExchangeCounts &neighbours, const std::size_t bytes, const void *sent,
                   void *received) const override
  {
    host->exchange(neighbours, bytes, sent, received);
  }

protected:
  const CommunicatorPtr host;
  const std::shared_ptr<const CudaExecutor> executor; ///< this rank's executor
};

/// Returns whether two ranks use the same device. Collective.
inline bool ranks_share_device(const Communicator &comm, const CudaExecutor &executor)
{
  cudaDeviceProp properties;
  FEMGPU_CUDA(cudaGetDeviceProperties(&properties, executor.device_number()));
  constexpr std::size_t length = sizeof(properties.uuid.bytes);
  std::vector<char> all(length * static_cast<std::size_t>(comm.n_ranks()));
  comm.gather(properties.uuid.bytes, length, all.data());
  std::vector<std::string> devices;
  for (std::size_t begin = 0; begin < all.size(); begin += length)
    devices.emplace_back(all.data() + begin, length);
  std::sort(devices.begin(), devices.end());
  return std::adjacent_find(devices.begin(), devices.end()) != devices.end();
}

/// Calls @p make, which returns a communicator or throws DeviceError. Collective: if @p make
/// fails on any rank, all ranks get the reason for the failure instead of a communicator.
template <class Make>
DeviceConnection on_all_or_none(const Communicator &comm, const Make &make)
{
  DeviceConnection result;
  try {
    result.communicator = make();
  }
  catch (const DeviceError &error) {
    result.failure = error.what();
  }
  if (comm.max(result.communicator ? 0. : 1.) > 0.) { // it may have failed only on another rank
    result.communicator.reset();
    if (result.failure.empty())
      result.failure = "another solver group failed.";
  }
  return result;
}
} // namespace femgpu::linalg::cuda

#endif
