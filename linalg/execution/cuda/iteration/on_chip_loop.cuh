#ifndef femgpu_linalg_execution_cuda_iteration_on_chip_loop_cuh
#define femgpu_linalg_execution_cuda_iteration_on_chip_loop_cuh

#include "linalg/base/indices.h"
#include "linalg/execution/cuda/iteration/device_state.cuh"
#include "linalg/execution/cuda/on_chip/basis.cuh"
#include "linalg/execution/cuda/on_chip/resident_launch.cuh"
#include "linalg/operators/communicator.h"

#include <string>
#include <type_traits>
#include <variant>

namespace femgpu::linalg::cuda
{
/// Launches loops as one kernel each, if the steps allow it and the system is small enough. Each
/// launch function launches the loop and returns a description of how the loop runs, or does
/// nothing and returns an empty string.
template <class State, class Sums>
class OnChipLoop
{
public:
  /// @param communicator communicator of the ranks that own the rows; nullptr: there is one rank
  /// @param is_requested whether to launch a loop even if a graph is faster
  OnChipLoop(const CudaExecutor &executor, DeviceState<State> &state,
             const Communicator *const communicator, const bool is_requested)
      : executor(executor), state(state), communicator(communicator), is_requested(is_requested)
  {}

  /// Launches a loop with all vectors in registers.
  template <class Begin, class End, class... Steps>
  std::string launch_resident(const ProductStep<ExactProduct, Begin> &begin,
                              const ProductStep<ExactProduct, End> &end, const bool has_begun,
                              const Steps &...steps)
  {
    if constexpr ((IsVectorStep<Steps>::value && ...)) {
      const Matrix *const A = matrix_of(steps...);
      if (A == nullptr || A->find_csr() == nullptr || begin.A->csr() != A->find_csr() ||
          end.A != begin.A || end.v != begin.v)
        return "";
      return start_resident<Begin, End, OnChip<Steps>...>(
          *A, vectors_of(steps...), first_of(steps...).body.m, begin, end.body, has_begun);
    }
    return "";
  }

  /// Launches a loop with the basis of @p method in shared memory.
  /// @param packets memory for the loop's sums, which this function allocates
  template <class Method>
  std::string launch_basis(const Matrix &A, const Method &method, Buffer<Packet> &packets)
  {
    if (A.find_csr() == nullptr || A.value_precision() != A.csr().value_precision())
      return "";
    BasisLoop<Method, State> loop{{},
                                  method,
                                  A.csr().csr_view(),
                                  grid_for(A),
                                  nullptr,
                                  state.start(),
                                  state.data(),
                                  state.result_slot(),
                                  state.max_numbers()};
    const auto shape = shape_for_basis(
        executor, loop, {A.n(), A.n_nonzeros(), A.csr().longest_row(), method.V.count});
    if (communicator != nullptr &&
        !holds_on_all_ranks(shape && loop.grid.peers != nullptr &&
                            start_basis_of<Sums>(executor, LaunchMode::query, loop, *shape)))
      return "";
    if (!shape || !cuda::launch_basis<Sums>(executor, loop, *shape, packets))
      return "";
    state.expect_result();
    return shape->description();
  }

private:
  template <class First, class... Rest>
  static const First &first_of(const First &first, const Rest &.../* rest */)
  {
    return first;
  }

  /// Returns the vectors of the first step, which all steps share.
  template <class First, class... Rest>
  static auto vectors_of(const First &first, const Rest &.../* rest */)
  {
    return first.body.vectors.template first<OnChip<First>::n_stored>();
  }

  template <class Begin, class End, class... Formulas, int n_vectors>
  std::string start_resident(const Matrix &A, const VectorSet<n_vectors> &vectors,
                             const DiagonalView &m, const ProductStep<ExactProduct, Begin> &begin,
                             const End &end, const bool has_begun)
  {
    const auto shape = shape_for(A, n_vectors);
    if (!shape && communicator == nullptr)
      return "";
    using Loop = ResidentLoop<n_vectors, State, Begin, End>;
    Loop loop{{},
              vectors,
              m,
              A.csr().csr_view(),
              grid_for(A),
              begin.v,
              begin.body,
              end,
              has_begun,
              state.start(),
              state.data(),
              state.result_slot(),
              state.max_numbers()};
    const LoopLauncher<Sums, Loop, Formulas...> launcher(executor);
    if (communicator != nullptr && !holds_on_all_ranks(shape && loop.grid.peers != nullptr &&
                                                       launcher.can_start(loop, *shape)))
      return "";
    if (has_begun)
      state.send();
    if (!launcher.start(loop, *shape))
      return "";
    state.expect_result();
    return shape->description();
  }

  /// Returns the memory by which the blocks of a loop communicate with each other and, if there are
  /// several devices, with the devices that exchange ghosts of A's vectors.
  GridMemory grid_for(const Matrix &A) const
  {
    GridMemory grid = executor.grid_memory();
    grid.peers = A.domain()->peer_loop();
    return grid;
  }

  std::optional<ResidentShape> shape_for(const Matrix &A, const int n_vectors) const
  {
    ResidentLimits limits = executor.resident_limits();
    if (A.value_precision() != A.csr().value_precision() || !may_be_resident(A.n(), limits))
      return {};
    if (communicator != nullptr)
      limits.cluster_blocks = 0; // all blocks of a device communicate with other devices
    const ResidentSystem system{A.n(), A.n_nonzeros(), A.csr().longest_row(), n_vectors};
    const auto shape = choose_resident_shape(system, limits);
    return shape && !is_requested && has_too_long_rows(system, *shape) ? std::nullopt : shape;
  }

  /// Returns whether @p holds is true on all ranks. Collective.
  bool holds_on_all_ranks(const bool holds) const
  {
    return communicator->max(holds ? 0. : 1.) == 0.;
  }

  const CudaExecutor &executor;
  DeviceState<State> &state;
  const Communicator *communicator;
  bool is_requested;
};
} // namespace femgpu::linalg::cuda

#endif
