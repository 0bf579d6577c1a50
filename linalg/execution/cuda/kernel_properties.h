#ifndef femgpu_linalg_execution_cuda_kernel_properties_h
#define femgpu_linalg_execution_cuda_kernel_properties_h

#include <cuda_runtime_api.h>

#include <cstddef>
#include <unordered_map>

namespace femgpu::linalg::cuda
{
/// What one device says of kernels, named by the addresses that the host knows them by. Each is
/// asked for once: an answer takes longer than a small solve.
class KernelProperties
{
public:
  /// @param shared_bytes most that a block of the device can have
  KernelProperties(const int device, const std::size_t shared_bytes)
      : device(device), most_shared_bytes(shared_bytes)
  {}

  /// Of a multiprocessor, at least 1, where all that is not shared memory is L1, which the kernel
  /// gets from now on.
  int blocks_at_once(const void *kernel, int threads);

  /// Lets a kernel have all the shared memory there is. @return how much of it a launch can give
  std::size_t shared_bytes(const void *kernel);

  /// Can the device hold the cluster of @p config, with all its shared memory? Those of more than 8
  /// blocks are not on every device.
  bool holds_cluster(const void *kernel, cudaLaunchConfig_t config);

private:
  template <class T>
  using Known = std::unordered_map<const void *, T>;

  int device;
  std::size_t most_shared_bytes;
  Known<int> of_multiprocessor;
  Known<std::size_t> of_block;
  Known<bool> of_cluster;
};
} // namespace femgpu::linalg::cuda

#endif
