#include "linalg/execution/cuda/kernel_properties.h"

#include "linalg/execution/cuda/check.h"

#include <algorithm>

namespace femgpu::linalg::cuda
{
int KernelProperties::max_active_blocks(const void *const kernel, const int threads)
{
  const auto [entry, is_new] = active_blocks.try_emplace(kernel, 0);
  if (is_new) {
    FEMGPU_CUDA(cudaSetDevice(device));
    // Strided reads of CSR rows need a large L1 cache.
    FEMGPU_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxL1));
    int blocks = 0;
    FEMGPU_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
    entry->second = std::max(blocks, 1);
  }
  return entry->second;
}

std::size_t KernelProperties::shared_bytes(const void *const kernel)
{
  const auto [entry, is_new] = available_shared_bytes.try_emplace(kernel, 0);
  if (is_new) {
    FEMGPU_CUDA(cudaSetDevice(device));
    cudaFuncAttributes attributes{};
    FEMGPU_CUDA(cudaFuncGetAttributes(&attributes, kernel));
    entry->second = max_shared_bytes - attributes.sharedSizeBytes;
    FEMGPU_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(entry->second)));
  }
  return entry->second;
}

bool KernelProperties::supports_cluster(const void *const kernel, cudaLaunchConfig_t config)
{
  const auto [entry, is_new] = cluster_support.try_emplace(kernel, false);
  if (is_new) {
    config.dynamicSmemBytes = shared_bytes(kernel);
    FEMGPU_CUDA(cudaSetDevice(device));
    FEMGPU_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    int clusters = 0;
    const cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
    if (error != cudaSuccess)
      cudaGetLastError(); // so that a later call does not report it
    entry->second = error == cudaSuccess && clusters > 0;
  }
  return entry->second;
}
} // namespace femgpu::linalg::cuda
