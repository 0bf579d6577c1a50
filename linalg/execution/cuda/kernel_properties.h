#ifndef femgpu_linalg_execution_cuda_kernel_properties_h
#define femgpu_linalg_execution_cuda_kernel_properties_h

#include <cuda_runtime_api.h>

#include <cstddef>
#include <unordered_map>

namespace femgpu::linalg::cuda
{
/// Caches the properties of kernels on one device. A kernel is identified by its address on the
/// host. Each property is queried once, because a query takes longer than a small solve.
class KernelProperties
{
public:
  /// @param shared_bytes maximum shared memory of a block on the device
  KernelProperties(const int device, const std::size_t shared_bytes)
      : device(device), max_shared_bytes(shared_bytes)
  {}

  /// Returns the number of blocks that a multiprocessor holds at once, at least 1. From this call
  /// on, the kernel prefers L1 cache to shared memory.
  int max_active_blocks(const void *kernel, int threads);

  /// Allows a kernel to use all shared memory of a block.
  /// @return how many bytes of dynamic shared memory a launch can request
  std::size_t shared_bytes(const void *kernel);

  /// Returns whether the device can hold the cluster of @p config if its blocks use all shared
  /// memory. Not every device supports clusters of more than 8 blocks.
  bool supports_cluster(const void *kernel, cudaLaunchConfig_t config);

private:
  template <class T>
  using Cache = std::unordered_map<const void *, T>;

  int device;
  std::size_t max_shared_bytes;
  Cache<int> active_blocks;
  Cache<std::size_t> available_shared_bytes;
  Cache<bool> cluster_support;
};
} // namespace femgpu::linalg::cuda

#endif
