#ifndef femgpu_linalg_execution_cuda_on_chip_resident_launch_cuh
#define femgpu_linalg_execution_cuda_on_chip_resident_launch_cuh

#include "linalg/execution/cuda/executor.h"
#include "linalg/execution/cuda/on_chip/resident.cuh"
#include "linalg/execution/cuda/on_chip/streaming.cuh"
#include "linalg/execution/shapes/resident_shape.h"
#include "linalg/operators/csr_matrix.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

namespace femgpu::linalg::cuda
{
/// The tag and the parts of a vector step.
template <class Step>
struct VectorStepParts;
template <int n, class Body>
struct VectorStepParts<RowStep<InMemory<n, Body>>>
{
  using Tag = RowsTag<Body>;
  static constexpr int n_vectors = n;
  static const Matrix *factor(const RowStep<InMemory<n, Body>> & /* step */)
  {
    return nullptr;
  }
};
template <int n, class Body>
struct VectorStepParts<ProductStep<Matrix, InMemory<n, Body>>>
{
  using Tag = ProductTag<Body>;
  static constexpr int n_vectors = n;
  static const Matrix *factor(const ProductStep<Matrix, InMemory<n, Body>> &step)
  {
    return step.A;
  }
};

/// The one matrix that all products of a loop are with; nullptr if there are several, or none.
template <class... Steps>
const Matrix *matrix_of(const Steps &...steps)
{
  const Matrix *found = nullptr;
  for (const Matrix *const factor : {VectorStepParts<Steps>::factor(steps)...}) {
    if (found != nullptr && factor != nullptr && factor != found)
      return nullptr;
    found = factor != nullptr ? factor : found;
  }
  return found;
}

/// The current device.
inline int current_device()
{
  int device = 0;
  FEMGPU_CUDA(cudaGetDevice(&device));
  return device;
}

/// Lets @p kernel have all the shared memory there is, and returns how much that is. What a kernel
/// needs is asked once for each device: the answer takes longer than a small solve.
template <auto kernel>
std::size_t shared_memory_of(const ResidentLimits &limits)
{
  static thread_local std::map<int, std::size_t> known;
  const auto [entry, is_new] = known.try_emplace(current_device(), 0);
  if (is_new) {
    cudaFuncAttributes attributes{};
    FEMGPU_CUDA(cudaFuncGetAttributes(&attributes, kernel));
    entry->second = limits.shared_bytes - attributes.sharedSizeBytes;
    FEMGPU_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(entry->second)));
  }
  return entry->second;
}

/// Clusters of more than 8 blocks are not on every device. @param config with the cluster
template <auto kernel>
bool has_place_for_cluster(cudaLaunchConfig_t config, const std::size_t shared_bytes)
{
  static thread_local std::map<int, bool> known;
  const auto [entry, is_new] = known.try_emplace(current_device(), false);
  if (is_new) {
    FEMGPU_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    config.dynamicSmemBytes = shared_bytes;
    int clusters = 0;
    const cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
    if (error != cudaSuccess)
      cudaGetLastError(); // of no further interest
    entry->second = error == cudaSuccess && clusters > 0;
  }
  return entry->second;
}

/// How blocks are launched that must be there at the same time.
struct TogetherLaunch
{
  cudaLaunchConfig_t config{};
  cudaLaunchAttribute together{};

  TogetherLaunch(const cudaStream_t stream, const int blocks, const int threads,
                 const std::size_t shared_bytes, const bool is_cluster)
  {
    config.gridDim = dim3(static_cast<unsigned int>(blocks));
    config.blockDim = dim3(static_cast<unsigned int>(threads));
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &together;
    config.numAttrs = blocks > 1 ? 1 : 0;
    if (is_cluster) {
      together.id = cudaLaunchAttributeClusterDimension;
      together.val.clusterDim.x = config.gridDim.x;
      together.val.clusterDim.y = together.val.clusterDim.z = 1;
    }
    else {
      together.id = cudaLaunchAttributeCooperative;
      together.val.cooperative = 1;
    }
  }
  TogetherLaunch(const TogetherLaunch &) = delete;
  TogetherLaunch &operator=(const TogetherLaunch &) = delete;
};

/// Launches the loop of @p Tags as one kernel.
template <class Sums, class Loop, class... Tags>
class LoopLauncher
{
  using State = typename Loop::State;
  static constexpr int n_vectors = Loop::size;

public:
  LoopLauncher(const cudaStream_t stream, const ResidentLimits &limits)
      : stream(stream), limits(limits)
  {}

  /// As a resident kernel. @return whether the device could hold it
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
    case Kernel::block_registers_4:
      return start<BlockFabric, RegisterEntries<4, entries_in_registers>, 4>(
          loop, shape, most<Kernel::block_registers_4>{});
    case Kernel::cluster_registers_2:
      return start<ClusterFabric, RegisterEntries<2, entries_in_registers>, 2>(
          loop, shape, most<Kernel::cluster_registers_2>{});
    case Kernel::cluster_registers_4:
      return start<ClusterFabric, RegisterEntries<4, entries_in_registers>, 4>(
          loop, shape, most<Kernel::cluster_registers_4>{});
    case Kernel::cluster_shared_1:
      return start<ClusterFabric, SharedEntries<1, AddressCode>, 1>(
          loop, shape, most<Kernel::cluster_shared_1>{});
    case Kernel::grid_registers_1:
      return start<GridFabric, RegisterEntries<1, entries_in_registers>, 1>(
          loop, shape, most<Kernel::grid_registers_1>{});
    case Kernel::grid_shared_1:
      return start<GridFabric, SharedEntries<1, DistanceCode>, 1>(loop, shape,
                                                                  most<Kernel::grid_shared_1>{});
    case Kernel::grid_shared_4:
      return start<GridFabric, SharedEntries<4, DistanceCode>, 4>(loop, shape,
                                                                  most<Kernel::grid_shared_4>{});
    case Kernel::grid_shared_8:
      if constexpr (n_vectors <= most_vectors_of_8_rows)
        return start<GridFabric, SharedEntries<8, DistanceCode>, 8>(loop, shape,
                                                                    most<Kernel::grid_shared_8>{});
    }
    return false;
  }

private:
  template <ResidentKernel kernel>
  using most = std::integral_constant<int, most_threads(kernel)>;

  template <class Fabric, class Entries, int R, class MostThreads>
  bool start(Loop &loop, const ResidentShape &shape, MostThreads /* most */) const
  {
    constexpr auto kernel =
        run_resident<Fabric, Entries, MostThreads::value, R, Sums, Loop, Tags...>;
    constexpr bool is_cluster = std::is_same_v<Fabric, ClusterFabric>;
    const std::size_t most_bytes = shared_memory_of<kernel>(limits);
    const std::size_t exchange = exchange_bytes<Fabric>(loop.A.n);
    if (exchange > most_bytes)
      return false;
    const std::size_t bytes = Entries::in_shared_memory ? most_bytes : exchange;
    loop.layout.shared_bytes = static_cast<unsigned int>(bytes - exchange);
    const TogetherLaunch how(stream, shape.blocks, shape.threads, bytes, is_cluster);
    if (is_cluster && !has_place_for_cluster<kernel>(how.config, most_bytes))
      return false;
    FEMGPU_CUDA(cudaLaunchKernelEx(&how.config, kernel, std::as_const(loop)));
    return true;
  }

  template <class Fabric>
  static std::size_t exchange_bytes(const int n)
  {
    return Fabric::publishes_in_shared_memory ? sizeof(double) * static_cast<std::size_t>(n) : 0;
  }

  cudaStream_t stream;
  ResidentLimits limits;
};

/// Launches the loop of @p Tags as a streaming kernel. @p rows_together rows of @p A have positions
/// of their own, side by side; @p lanes threads share a row
template <class Sums, class... Tags, class View, int n_vectors, class State>
void launch_streaming(const cudaStream_t stream, const ResidentLimits &limits, const View &A,
                      const int rows_together, const int lanes, const VectorSet<n_vectors> &vectors,
                      const DiagonalView &m, State *state, const GridMemory &grid)
{
  constexpr auto kernel = run_streaming<Sums, View, n_vectors, State, Tags...>;
  using Streams = Streaming<View, n_vectors, State, Sums>;
  const std::size_t most_bytes = shared_memory_of<kernel>(limits);
  const int blocks = limits.multiprocessors;
  const int rows = (A.n + blocks - 1) / blocks;
  const int slice = (rows + rows_together - 1) / rows_together * rows_together;
  const std::size_t bytes_per_row =
      sizeof(double) * static_cast<std::size_t>(Streams::doubles_per_row(m));
  const std::size_t kept = std::min(static_cast<std::size_t>(slice), most_bytes / bytes_per_row);
  const StreamingLoop<View, n_vectors, State> loop{
      A, slice, static_cast<int>(kept), lanes, vectors, m, state, grid};
  const TogetherLaunch how(stream, blocks, streaming_threads, kept * bytes_per_row, false);
  FEMGPU_CUDA(cudaLaunchKernelEx(&how.config, kernel, loop));
}
} // namespace femgpu::linalg::cuda

#endif
