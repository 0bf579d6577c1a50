#ifndef femgpu_linalg_execution_cuda_on_chip_resident_launch_cuh
#define femgpu_linalg_execution_cuda_on_chip_resident_launch_cuh

#include "linalg/execution/cuda/launch.cuh"
#include "linalg/execution/cuda/on_chip/peer_fabric.cuh"
#include "linalg/execution/cuda/on_chip/resident.cuh"
#include "linalg/operators/csr_matrix.h"
#include "linalg/steps/resident_shape.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

namespace femgpu::linalg::cuda
{
/// The formulas of a vector step, for vectors on the chip.
template <class Step>
using OnChip = typename Step::Body::Formulas::OnChip;

/// Returns the matrix of a vector step that is a product; nullptr if the step is not a product.
template <class Body>
const Matrix *matrix_of_step(const RowStep<Body> & /* step */)
{
  return nullptr;
}
template <class Body>
const Matrix *matrix_of_step(const ProductStep<Matrix, Body> &step)
{
  return step.A;
}

/// Returns the matrix of all products of a loop; nullptr if there is no matrix or more than one.
template <class... Steps>
const Matrix *matrix_of(const Steps &...steps)
{
  const Matrix *found = nullptr;
  for (const Matrix *const factor : {matrix_of_step(steps)...}) {
    if (found != nullptr && factor != nullptr && factor != found)
      return nullptr;
    found = factor != nullptr ? factor : found;
  }
  return found;
}

template <Extent extent>
using FabricOf =
    std::conditional_t<extent == Extent::block, BlockFabric,
                       std::conditional_t<extent == Extent::cluster, ClusterFabric, GridFabric>>;

/// How a kernel with the given fabric stores the matrix entries of @p R rows per thread.
template <class Fabric, bool in_registers, int R>
using EntriesOf = std::conditional_t<
    in_registers, RegisterEntries<R, entries_in_registers>,
    SharedEntries<R, std::conditional_t<Fabric::publishes_in_shared_memory || Fabric::has_ghosts,
                                        AddressCode, DistanceCode>>>;

/// Whether to launch a kernel, or only to check whether the device could hold it.
enum class LaunchMode
{
  query,
  launch
};

/// Launches the loop of @p Formulas as one kernel.
template <class Sums, class Loop, class... Formulas>
class LoopLauncher
{
  using State = typename Loop::State;
  static constexpr int n_vectors = Loop::size;

public:
  explicit LoopLauncher(const CudaExecutor &executor) : executor(executor)
  {}

  /// Launches the loop as a resident kernel if the device can hold it. @return whether it can
  bool start(Loop &loop, const ResidentShape &shape) const
  {
    return visit(LaunchMode::launch, loop, shape);
  }
  /// Returns whether start() would succeed.
  bool can_start(Loop &loop, const ResidentShape &shape) const
  {
    return visit(LaunchMode::query, loop, shape);
  }

private:
  bool visit(const LaunchMode what, Loop &loop, const ResidentShape &shape) const
  {
    loop.layout.n = loop.A.n;
    loop.layout.slice = (loop.A.n + shape.blocks - 1) / shape.blocks;
    loop.layout.lanes = shape.lanes;
    return start_one_of(what, loop, shape, std::make_index_sequence<std::size(resident_kernels)>());
  }

  template <std::size_t... numbers>
  bool start_one_of(const LaunchMode what, Loop &loop, const ResidentShape &shape,
                    std::index_sequence<numbers...> /* of kernels */) const
  {
    const auto number = static_cast<std::size_t>(shape.kernel);
    return ((number == numbers && start_kernel<numbers>(what, loop, shape)) || ...);
  }

  template <std::size_t number>
  bool start_kernel(const LaunchMode what, Loop &loop, const ResidentShape &shape) const
  {
    constexpr ChipKernel chip_kernel = resident_kernels[number];
    if (loop.grid.peers == nullptr)
      return start_with<FabricOf<chip_kernel.extent>, number>(what, loop, shape);
    if constexpr (chip_kernel.extent == Extent::grid)
      return start_with<PeerFabric, number>(what, loop, shape);
    return false;
  }

  template <class Fabric, std::size_t number>
  bool start_with([[maybe_unused]] const LaunchMode what, [[maybe_unused]] Loop &loop,
                  [[maybe_unused]] const ResidentShape &shape) const
  {
    constexpr ChipKernel chip_kernel = resident_kernels[number];
    if constexpr (chip_kernel.rows < 8 || n_vectors <= max_vectors_for_8_rows) {
      using Entries = EntriesOf<Fabric, chip_kernel.is_matrix_in_registers, chip_kernel.rows>;
      constexpr auto kernel = run_resident<Fabric, Entries, chip_kernel.max_threads,
                                           chip_kernel.rows, Sums, Loop, Formulas...>;
      constexpr bool is_cluster = chip_kernel.extent == Extent::cluster;
      const std::size_t max_bytes = executor.kernels().shared_bytes(address_of(kernel));
      const std::size_t exchange = exchange_bytes<Fabric>(loop.A.n);
      if (exchange > max_bytes)
        return false;
      const std::size_t bytes = Entries::in_shared_memory ? max_bytes : exchange;
      loop.layout.shared_bytes = static_cast<unsigned int>(bytes - exchange);
      const Grid grid{static_cast<unsigned int>(shape.blocks),
                      static_cast<unsigned int>(shape.threads), bytes,
                      is_cluster ? Residency::cluster : Residency::all};
      if (is_cluster && !can_run_cluster(address_of(kernel), grid))
        return false;
      if (what == LaunchMode::launch)
        launch(executor, executor.stream(), grid, kernel, loop);
      return true;
    }
    return false;
  }

  bool can_run_cluster(const void *const kernel, const Grid &grid) const
  {
    return executor.kernels().supports_cluster(kernel,
                                               LaunchConfig(executor.stream(), grid).config);
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
