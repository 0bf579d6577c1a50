#ifndef femgpu_linalg_execution_cuda_launch_cuh
#define femgpu_linalg_execution_cuda_launch_cuh

#include "linalg/execution/cuda/executor.h"

#include <cuda_runtime.h>

/**
 * @file
 * The launch wrapper of all kernels.
 */
namespace femgpu::linalg::cuda
{
/// Which blocks of a kernel must be resident at the same time.
enum class Residency
{
  any,    ///< no requirement
  all,    ///< all blocks of the grid (a cooperative launch if there are several)
  cluster ///< all blocks, in one cluster
};

/// The number and the properties of the blocks of a kernel launch.
struct Grid
{
  unsigned int blocks;
  unsigned int threads;         ///< number per block
  std::size_t shared_bytes = 0; ///< dynamic shared memory per block
  Residency residency = Residency::any;
};

/// A grid in the form that CUDA expects.
struct LaunchConfig
{
  cudaLaunchConfig_t config{};
  cudaLaunchAttribute attribute{};

  LaunchConfig(const cudaStream_t stream, const Grid &grid)
  {
    config.gridDim = dim3(grid.blocks);
    config.blockDim = dim3(grid.threads);
    config.dynamicSmemBytes = grid.shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = grid.residency != Residency::any && grid.blocks > 1 ? 1 : 0;
    if (grid.residency == Residency::cluster) {
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim.x = grid.blocks;
      attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    }
    else {
      attribute.id = cudaLaunchAttributeCooperative;
      attribute.val.cooperative = 1;
    }
  }
  LaunchConfig(const LaunchConfig &) = delete;
  LaunchConfig &operator=(const LaunchConfig &) = delete;
};

/// Returns the address that identifies a kernel in KernelProperties.
template <class... Parameters>
const void *address_of(void (*const kernel)(Parameters...))
{
  return reinterpret_cast<const void *>(kernel);
}

/// Launches a kernel on a stream of @p executor; the stream may be capturing. Does nothing if the
/// grid has no blocks. All kernels are launched here.
template <class... Parameters, class... Arguments>
void launch(const CudaExecutor &executor, const cudaStream_t stream, const Grid &grid,
            void (*const kernel)(Parameters...), const Arguments &...arguments)
{
  if (grid.blocks == 0)
    return;
  executor.make_current(); // the last launch may have been on another device
  const LaunchConfig launch_config(stream, grid);
  FEMGPU_CUDA(cudaLaunchKernelEx(&launch_config.config, kernel, arguments...));
  executor.count_launch();
}
} // namespace femgpu::linalg::cuda

#endif
