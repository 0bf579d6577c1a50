#ifndef femgpu_linalg_execution_cuda_on_chip_resident_launch_cuh
#define femgpu_linalg_execution_cuda_on_chip_resident_launch_cuh

#include "linalg/execution/cuda/launch.cuh"
#include "linalg/execution/cuda/on_chip/resident.cuh"
#include "linalg/execution/shapes/resident_shape.h"
#include "linalg/operators/csr_matrix.h"

#include <algorithm>
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
  using Tag = RowsTag<typename Body::OnChip>;
  static constexpr int n_vectors = Body::OnChip::n_stored;
  static const Matrix *factor(const RowStep<InMemory<n, Body>> & /* step */)
  {
    return nullptr;
  }
};
template <int n, class Body>
struct VectorStepParts<ProductStep<Matrix, InMemory<n, Body>>>
{
  using Tag = ProductTag<typename Body::OnChip>;
  static constexpr int n_vectors = Body::OnChip::n_stored;
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

/// Launches the loop of @p Tags as one kernel.
template <class Sums, class Loop, class... Tags>
class LoopLauncher
{
  using State = typename Loop::State;
  static constexpr int n_vectors = Loop::size;

public:
  explicit LoopLauncher(const CudaExecutor &executor) : executor(executor)
  {}

  /// As a resident kernel. @return whether the device could hold it
  bool start(Loop &loop, const ResidentShape &shape) const
  {
    loop.layout.n = loop.A.n;
    loop.layout.slice = (loop.A.n + shape.blocks - 1) / shape.blocks;
    loop.layout.lanes = shape.lanes;
    using Kernel = ResidentKernel;
    switch (shape.kernel) {
    case Kernel::block_registers_1:
      return start_kernel<BlockFabric, RegisterEntries<1, entries_in_registers>, 1>(
          loop, shape, most<Kernel::block_registers_1>{});
    case Kernel::block_registers_4:
      return start_kernel<BlockFabric, RegisterEntries<4, entries_in_registers>, 4>(
          loop, shape, most<Kernel::block_registers_4>{});
    case Kernel::cluster_registers_2:
      return start_kernel<ClusterFabric, RegisterEntries<2, entries_in_registers>, 2>(
          loop, shape, most<Kernel::cluster_registers_2>{});
    case Kernel::cluster_registers_4:
      return start_kernel<ClusterFabric, RegisterEntries<4, entries_in_registers>, 4>(
          loop, shape, most<Kernel::cluster_registers_4>{});
    case Kernel::cluster_shared_1:
      return start_kernel<ClusterFabric, SharedEntries<1, AddressCode>, 1>(
          loop, shape, most<Kernel::cluster_shared_1>{});
    case Kernel::grid_registers_1:
      return start_kernel<GridFabric, RegisterEntries<1, entries_in_registers>, 1>(
          loop, shape, most<Kernel::grid_registers_1>{});
    case Kernel::grid_shared_1:
      return start_kernel<GridFabric, SharedEntries<1, DistanceCode>, 1>(
          loop, shape, most<Kernel::grid_shared_1>{});
    case Kernel::grid_shared_4:
      return start_kernel<GridFabric, SharedEntries<4, DistanceCode>, 4>(
          loop, shape, most<Kernel::grid_shared_4>{});
    case Kernel::grid_shared_8:
      if constexpr (n_vectors <= most_vectors_of_8_rows)
        return start_kernel<GridFabric, SharedEntries<8, DistanceCode>, 8>(
            loop, shape, most<Kernel::grid_shared_8>{});
    }
    return false;
  }

private:
  template <ResidentKernel kernel>
  using most = std::integral_constant<int, most_threads(kernel)>;

  template <class Fabric, class Entries, int R, class MostThreads>
  bool start_kernel(Loop &loop, const ResidentShape &shape, MostThreads /* most */) const
  {
    constexpr auto kernel =
        run_resident<Fabric, Entries, MostThreads::value, R, Sums, Loop, Tags...>;
    constexpr bool is_cluster = std::is_same_v<Fabric, ClusterFabric>;
    const std::size_t most_bytes = executor.kernels().shared_bytes(address_of(kernel));
    const std::size_t exchange = exchange_bytes<Fabric>(loop.A.n);
    if (exchange > most_bytes)
      return false;
    const std::size_t bytes = Entries::in_shared_memory ? most_bytes : exchange;
    loop.layout.shared_bytes = static_cast<unsigned int>(bytes - exchange);
    const Grid grid{static_cast<unsigned int>(shape.blocks),
                    static_cast<unsigned int>(shape.threads), bytes,
                    is_cluster ? Together::cluster : Together::all};
    if (is_cluster && !has_cluster(address_of(kernel), grid))
      return false;
    launch(executor, executor.stream(), grid, kernel, loop);
    return true;
  }

  bool has_cluster(const void *const kernel, const Grid &grid) const
  {
    return executor.kernels().holds_cluster(kernel, LaunchConfig(executor.stream(), grid).config);
  }

  template <class Fabric>
  static std::size_t exchange_bytes(const int n)
  {
    return Fabric::publishes_in_shared_memory ? sizeof(double) * static_cast<std::size_t>(n) : 0;
  }

  const CudaExecutor &executor;
};
} // namespace femgpu::linalg::cuda

#endif
