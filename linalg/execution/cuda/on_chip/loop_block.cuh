#ifndef femgpu_linalg_execution_cuda_on_chip_loop_block_cuh
#define femgpu_linalg_execution_cuda_on_chip_loop_block_cuh

#include "linalg/execution/cuda/on_chip/fabric.cuh"
#include "linalg/steps/steps.h"

#include <climits>
#include <type_traits>

namespace femgpu::linalg::cuda
{
/// The result of a resident loop, in memory that both the kernel and the host access.
template <class State>
struct LoopResult
{
  State state;

  /// Returns the numbers that epilogues keep, followed by as much of the history as fits.
  FEMGPU_HD
  double *numbers()
  {
    return reinterpret_cast<double *>(this + 1);
  }
};

/**
 * The state, sums and epilogues of a block that runs a loop together with other blocks. If
 * @p state_per_thread is true, every thread keeps the state in registers and runs the epilogues
 * itself, so that no thread waits for another one; otherwise thread 0 runs the epilogues, with the
 * state in shared memory. A block has up to @p max_threads threads. If @p runs_deferred is true,
 * the block also does the work that epilogues defer (LoopState::n_epilogue_values). Loops of
 * several blocks, and loops with a state per thread, do no deferred work: their epilogues only
 * store numbers.
 */
template <class Fabric, class State, class Sums, int max_threads, bool state_per_thread,
          bool runs_deferred>
class LoopBlock
{
  static_assert(!state_per_thread || (Fabric::all_warps_combine && !runs_deferred));

public:
  /// All threads of the block must synchronise between the construction and the first epilogue.
  /// @param start initial state of the loop
  /// @param in_memory device memory in which store_for_watch() stores the state
  __device__ LoopBlock(const Fabric &fabric, const State &start, State *in_memory)
      : fabric(fabric), state(state_storage()), in_memory(in_memory)
  {
    if (!state_per_thread && threadIdx.x != 0)
      return;
    state = start;
    if (!is_first_thread())
      state.history_size = -1; // only one thread writes the history
    if constexpr (runs_deferred)
      state.history = epilogue_values() + State::n_epilogue_values;
    else if constexpr (State::n_epilogue_values > 0)
      state.disable_deferred();
  }

  __device__ bool is_running() const
  {
    return state.running;
  }

  /// Stores the state in device memory every passes_between_stores passes, for a Watch (steps.h).
  __device__ void store_for_watch()
  {
    if (--passes_until_store > 0)
      return;
    passes_until_store = passes_between_stores;
    store_state(in_memory);
  }

protected:
  __device__ bool is_first_thread() const
  {
    return fabric.rank() == 0 && threadIdx.x == 0;
  }

  __device__ void store_state(State *where) const
  {
    if (!is_first_thread())
      return;
    *where = state;
    where->wants_deferred = false;
  }

  /// Stores the result for the host if this is the first block.
  /// @param max_numbers maximum number of doubles that fit in @p result
  __device__ void store_result(LoopResult<State> *result, const int max_numbers) const
  {
    if (fabric.rank() != 0)
      return;
    store_state(&result->state);
    const double *const numbers = state.history - State::n_epilogue_values;
    const int count = min(State::n_epilogue_values + state.iteration + 1, max_numbers);
    for (int k = threadIdx.x; k < count; k += blockDim.x)
      result->numbers()[k] = numbers[k];
  }

  /// Runs the epilogue of a step, if it has one, after all threads have called this function.
  template <class Formulas>
  __device__ void complete(const Formulas &formulas)
  {
    if constexpr (HasEpilogue<Formulas>::value) {
      const Sums total = combined(CompletedSums<Formulas>{});
      if (state_per_thread || threadIdx.x == 0) {
        if constexpr (runs_deferred)
          finish_step(formulas, state, total);
        else
          formulas.finish(state, total);
      }
      if constexpr (!state_per_thread)
        __syncthreads();
    }
  }

  /// Returns the sums of the listed members over all threads. The result is valid only in the
  /// threads that run the epilogue.
  template <auto... members>
  __device__ Sums combined(SumList<members...> /* list */)
  {
    constexpr int P = padded(sizeof...(members));
    static_assert(P <= max_sums);
    double *const warp_sums = warp_sum_buffer();
    double values[P] = {sums.*members...};
    store_warp_sums(values, warp_sums);
    Sums total{};
    if (!state_per_thread && threadIdx.x >= warp_size)
      return total;
    const int n_warps = blockDim.x / warp_size;
    const double lane_total = fabric.template combine<P, max_warps>(warp_sums, n_warps);
    int number = 0;
    ((total.*members = __shfl_sync(~0U, lane_total, number++)), ...);
    return total;
  }

  Fabric fabric;
  std::conditional_t<state_per_thread, State, State &> state;
  Sums sums{};

private:
  static constexpr int max_warps = max_threads / warp_size;
  static constexpr int passes_between_stores = 64;

  __device__ static decltype(auto) state_storage()
  {
    if constexpr (state_per_thread)
      return State();
    else {
      __shared__ unsigned char memory[sizeof(State)] __attribute__((aligned(alignof(State))));
      return *reinterpret_cast<State *>(memory);
    }
  }
  /// Returns the block's memory for the numbers that epilogues keep; no history follows them.
  __device__ static double *epilogue_values()
  {
    __shared__ double numbers[State::n_epilogue_values + 1]; // n_epilogue_values may be 0
    return numbers;
  }
  /// Returns one of two buffers in turn: a warp may store the next sums while another warp still
  /// reads the preceding ones.
  __device__ double *warp_sum_buffer()
  {
    __shared__ double buffers[2][max_warps * max_sums];
    buffer ^= 1U;
    return buffers[buffer];
  }

  State *in_memory;
  int passes_until_store = is_first_thread() ? passes_between_stores : INT_MAX;
  unsigned int buffer = 0;
};
} // namespace femgpu::linalg::cuda

#endif
