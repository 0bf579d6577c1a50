#ifndef femgpu_linalg_execution_cuda_resident_launch_cuh
#define femgpu_linalg_execution_cuda_resident_launch_cuh

#include "linalg/execution/cuda_executor.h"
#include "linalg/execution/cuda_resident.cuh"
#include "linalg/execution/resident_shape.h"
#include "linalg/matrices/csr_matrix.h"

#include <optional>
#include <type_traits>
#include <utility>

namespace femgpu::linalg::cuda
{
/// The tag and the parts of a vector step.
template <class Step>
struct VectorStepParts;
template <int n, class M, class Body>
struct VectorStepParts<RowStep<InMemory<n, M, Body>>>
{
  using Tag = ResidentRows<Body>;
  static constexpr int n_vectors = n;
  static const Operator *factor(const RowStep<InMemory<n, M, Body>> & /* step */)
  {
    return nullptr;
  }
};
template <int n, class M, class Body>
struct VectorStepParts<ProductStep<InMemory<n, M, Body>>>
{
  using Tag = ResidentProduct<Body>;
  static constexpr int n_vectors = n;
  static const Operator *factor(const ProductStep<InMemory<n, M, Body>> &step)
  {
    return step.A;
  }
};

/// The one matrix that all products of a loop are with; nullptr if there are several, or none.
template <class... Steps>
const Matrix *matrix_of(const Steps &...steps)
{
  const Operator *factors[] = {VectorStepParts<Steps>::factor(steps)...};
  const Operator *found = nullptr;
  for (const Operator *const factor : factors) {
    if (found != nullptr && factor != nullptr && factor != found)
      return nullptr;
    found = factor != nullptr ? factor : found;
  }
  return dynamic_cast<const Matrix *>(found);
}

/// Launches the loop of @p Tags in one of the resident kernels.
template <class State, class Sums, int n_vectors, class... Tags>
class ResidentLauncher
{
public:
  using Loop = ResidentLoop<n_vectors, State>;

  ResidentLauncher(const cudaStream_t stream, const ResidentLimits &limits)
      : stream(stream), limits(limits)
  {}

  /// @return whether the device could hold the kernel
  bool launch(Loop &loop, const ResidentShape &shape) const
  {
    loop.layout.n = loop.A.n;
    loop.layout.slice = (loop.A.n + shape.blocks - 1) / shape.blocks;
    loop.layout.lanes = shape.lanes;
    using Kernel = ResidentKernel;
    switch (shape.kernel) {
    case Kernel::block_registers_1:
      return start<BlockFabric, RegisterEntries<1, entries_in_registers>, 1>(
          loop, shape, most<Kernel::block_registers_1>{});
    case Kernel::block_registers_2:
      return start<BlockFabric, RegisterEntries<2, entries_in_registers>, 2>(
          loop, shape, most<Kernel::block_registers_2>{});
    case Kernel::cluster_registers_2:
      return start<ClusterFabric, RegisterEntries<2, entries_in_registers>, 2>(
          loop, shape, most<Kernel::cluster_registers_2>{});
    case Kernel::cluster_registers_4:
      return start<ClusterFabric, RegisterEntries<4, entries_in_registers>, 4>(
          loop, shape, most<Kernel::cluster_registers_4>{});
    case Kernel::cluster_shared_1:
      return start<ClusterFabric, SharedEntries<1>, 1>(loop, shape,
                                                       most<Kernel::cluster_shared_1>{});
    case Kernel::grid_registers_1:
      return start<GridFabric, RegisterEntries<1, entries_in_registers>, 1>(
          loop, shape, most<Kernel::grid_registers_1>{});
    case Kernel::grid_shared_1:
      return start<GridFabric, SharedEntries<1>, 1>(loop, shape, most<Kernel::grid_shared_1>{});
    case Kernel::grid_shared_4:
      return start<GridFabric, SharedEntries<4>, 4>(loop, shape, most<Kernel::grid_shared_4>{});
    case Kernel::grid_shared_8:
      if constexpr (n_vectors <= most_vectors_of_8_rows)
        return start<GridFabric, SharedEntries<8>, 8>(loop, shape, most<Kernel::grid_shared_8>{});
    }
    return false;
  }

private:
  template <ResidentKernel kernel>
  using most = std::integral_constant<int, most_threads(kernel)>;

  template <class Fabric, class Entries, int R, class MostThreads>
  bool start(Loop &loop, const ResidentShape &shape, MostThreads /* most */) const
  {
    const auto kernel =
        run_resident<Fabric, Entries, MostThreads::value, R, Sums, n_vectors, State, Tags...>;
    cudaFuncAttributes attributes{};
    FEMGPU_CUDA(cudaFuncGetAttributes(&attributes, kernel));
    const std::size_t most_bytes = limits.shared_bytes - attributes.sharedSizeBytes;
    const std::size_t exchange = exchange_bytes<Fabric>(loop.layout.slice);
    if (exchange > most_bytes)
      return false;
    const std::size_t bytes = Entries::in_shared_memory ? most_bytes : exchange;
    loop.layout.shared_bytes = static_cast<unsigned int>(bytes - exchange);
    FEMGPU_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(bytes)));
    cudaLaunchAttribute together{};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned int>(shape.blocks));
    config.blockDim = dim3(static_cast<unsigned int>(shape.threads));
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = &together;
    config.numAttrs = 1;
    if constexpr (std::is_same_v<Fabric, ClusterFabric>) {
      together.id = cudaLaunchAttributeClusterDimension;
      together.val.clusterDim.x = config.gridDim.x;
      together.val.clusterDim.y = together.val.clusterDim.z = 1;
      if (!has_place_for_cluster(kernel, config))
        return false;
    }
    else {
      together.id = cudaLaunchAttributeCooperative;
      together.val.cooperative = 1;
    }
    FEMGPU_CUDA(cudaLaunchKernelEx(&config, kernel, std::as_const(loop)));
    return true;
  }

  template <class Fabric>
  static std::size_t exchange_bytes(const int slice)
  {
    return Fabric::publishes_in_shared_memory ? sizeof(double) * static_cast<std::size_t>(slice)
                                              : 0;
  }

  /// Clusters of more than 8 blocks are not on every device.
  template <class Kernel>
  static bool has_place_for_cluster(const Kernel kernel, const cudaLaunchConfig_t &config)
  {
    FEMGPU_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    int clusters = 0;
    const cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
    if (error != cudaSuccess)
      cudaGetLastError(); // of no further interest
    return error == cudaSuccess && clusters > 0;
  }

  cudaStream_t stream;
  ResidentLimits limits;
};
} // namespace femgpu::linalg::cuda

#endif
