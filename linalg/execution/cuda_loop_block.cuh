#ifndef femgpu_linalg_execution_cuda_loop_block_cuh
#define femgpu_linalg_execution_cuda_loop_block_cuh

#include "linalg/execution/cuda_fabric.cuh"
#include "linalg/execution/steps.h"

namespace femgpu::linalg::cuda
{
/// The steps of a loop that is one kernel, as types.
template <class Formulas_>
struct RowsTag
{
  using Formulas = Formulas_;
};
template <class Formulas_>
struct ProductTag
{
  using Formulas = Formulas_;
};

/// What a block needs to run a loop together with others: state, sums and epilogues.
template <class Fabric, class State, class Sums>
class LoopBlock
{
public:
  /// @param own_state of the block, in shared memory
  __device__ LoopBlock(const Fabric &fabric, State *in_memory, State &own_state)
      : fabric(fabric), state(own_state), in_memory(in_memory)
  {
    if (threadIdx.x != 0)
      return;
    state = *in_memory;
    if (fabric.rank() != 0)
      state.history_size = 0; // one block writes it
  }

  __device__ bool is_running() const
  {
    return state.running;
  }

  /// Leaves the state now and then for those who watch.
  __device__ void show()
  {
    if ((++passes & 63U) == 0)
      leave_state();
  }

protected:
  __device__ void leave_state() const
  {
    if (fabric.rank() == 0 && threadIdx.x == 0)
      *in_memory = state;
  }

  /// Runs the epilogue of a step, if it has one, when all have come here.
  template <class Formulas>
  __device__ void complete()
  {
    if constexpr (HasEpilogue<Formulas>::value) {
      const Sums total = combined(typename Formulas::Completes{});
      if (threadIdx.x == 0)
        Formulas().finish(state, total);
      __syncthreads();
    }
  }

  /// Sums over all threads, in warp 0; elsewhere nothing of use.
  template <auto... members>
  __device__ Sums combined(SumList<members...> /* list */)
  {
    constexpr int count = sizeof...(members);
    constexpr int P = count > 4 ? 8 : count > 2 ? 4 : count;
    static_assert(count <= most_sums);
    __shared__ double of_warps[most_warps * P];
    const int warp = threadIdx.x / lanes_per_warp, lane = threadIdx.x % lanes_per_warp;
    double values[P] = {sums.*members...};
    const double of_warp = spread_sums<P>(values);
    if (lane < P)
      of_warps[warp * P + lane] = of_warp;
    __syncthreads();
    Sums total{};
    if (warp == 0) {
      const int n_warps = blockDim.x / lanes_per_warp;
      const double of_block = column_sums<P>(n_warps, [&](const int k) { return of_warps[k]; });
      const double of_all = fabric.template combine<P>(of_block);
      int number = 0;
      ((total.*members = __shfl_sync(~0U, of_all, number++)), ...);
    }
    else
      fabric.await_combined();
    return total;
  }

  Fabric fabric;
  State &state;
  Sums sums{};

private:
  State *in_memory;
  unsigned int passes = 0;
};
} // namespace femgpu::linalg::cuda

#endif
