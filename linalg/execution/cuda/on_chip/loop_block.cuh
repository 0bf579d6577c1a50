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

  /// The numbers that epilogues keep, then the history, as many as there is memory for.
  FEMGPU_HD
  double *numbers()
  {
    return reinterpret_cast<double *>(this + 1);
  }
};

/**
 * The state, sums and epilogues of a block that runs a loop together with other blocks. If
 * @p each_has_state, every thread keeps the state in registers and runs the epilogues itself, so
 * that no thread waits for another one; otherwise thread 0 runs them, with the state in shared
 * memory. A block has up to @p most_threads threads. If @p looks, the work that epilogues ask for
 * is done (LoopState::n_kept); a loop of many blocks, or of threads with a state, only keeps the
 * numbers.
 */
template <class Fabric, class State, class Sums, int most_threads, bool each_has_state, bool looks>
class LoopBlock
{
  static_assert(!each_has_state || (Fabric::all_warps_combine && !looks));

public:
  /// All threads of the block have to synchronise before the first epilogue.
  /// @param start initial state of the loop
  /// @param in_memory device memory in which show() stores the state
  __device__ LoopBlock(const Fabric &fabric, const State &start, State *in_memory)
      : fabric(fabric), state(place_of_state()), in_memory(in_memory)
  {
    if (!each_has_state && threadIdx.x != 0)
      return;
    state = start;
    if (!is_first_thread())
      state.history_size = -1; // only one thread writes the history
    if constexpr (looks)
      state.history = kept() + State::n_kept;
    else if constexpr (State::n_kept > 0)
      state.keep_only();
  }

  __device__ bool is_running() const
  {
    return state.running;
  }

  /// Stores the state in device memory every passes_between_shows passes, for a watch.
  __device__ void show()
  {
    if (--passes_to_show > 0)
      return;
    passes_to_show = passes_between_shows;
    leave_state(in_memory);
  }

protected:
  __device__ bool is_first_thread() const
  {
    return fabric.rank() == 0 && threadIdx.x == 0;
  }

  __device__ void leave_state(State *where) const
  {
    if (!is_first_thread())
      return;
    *where = state;
    where->asks = false;
  }

  /// Stores the result for the host, by one block. @param most_numbers capacity of @p result
  __device__ void leave_result(LoopResult<State> *result, const int most_numbers) const
  {
    if (fabric.rank() != 0)
      return;
    leave_state(&result->state);
    const double *const numbers = state.history - State::n_kept;
    const int count = min(State::n_kept + state.iteration + 1, most_numbers);
    for (int k = threadIdx.x; k < count; k += blockDim.x)
      result->numbers()[k] = numbers[k];
  }

  /// Runs the epilogue of a step, if it has one, when all threads have got here.
  template <class Formulas>
  __device__ void complete(const Formulas &formulas)
  {
    if constexpr (HasEpilogue<Formulas>::value) {
      const Sums total = combined(CompletedSums<Formulas>{});
      if (each_has_state || threadIdx.x == 0) {
        if constexpr (looks)
          finish_step(formulas, state, total);
        else
          formulas.finish(state, total);
      }
      if constexpr (!each_has_state)
        __syncthreads();
    }
  }

  /// Returns sums over all threads; only valid in the threads that run the epilogue.
  template <auto... members>
  __device__ Sums combined(SumList<members...> /* list */)
  {
    constexpr int P = padded(sizeof...(members));
    static_assert(P <= most_sums);
    double *const of_warps = places_of_warps();
    double values[P] = {sums.*members...};
    leave_warp_sums(values, of_warps);
    Sums total{};
    if (!each_has_state && threadIdx.x >= warp_size)
      return total;
    const int n_warps = blockDim.x / warp_size;
    const double of_all = fabric.template combine<P, most_warps>(of_warps, n_warps);
    int number = 0;
    ((total.*members = __shfl_sync(~0U, of_all, number++)), ...);
    return total;
  }

  Fabric fabric;
  std::conditional_t<each_has_state, State, State &> state;
  Sums sums{};

private:
  static constexpr int most_warps = most_threads / warp_size;
  static constexpr int passes_between_shows = 64;

  __device__ static decltype(auto) place_of_state()
  {
    if constexpr (each_has_state)
      return State();
    else {
      __shared__ unsigned char memory[sizeof(State)] __attribute__((aligned(alignof(State))));
      return *reinterpret_cast<State *>(memory);
    }
  }
  /// Memory of a block for the numbers that epilogues keep, if it does not store a history.
  __device__ static double *kept()
  {
    __shared__ double numbers[State::n_kept + 1]; // n_kept may be 0
    return numbers;
  }
  /// Alternates two buffers: a warp may store the next sums while another one still reads these.
  __device__ double *places_of_warps()
  {
    __shared__ double places[2][most_warps * most_sums];
    turn ^= 1U;
    return places[turn];
  }

  State *in_memory;
  int passes_to_show = is_first_thread() ? passes_between_shows : INT_MAX;
  unsigned int turn = 0;
};
} // namespace femgpu::linalg::cuda

#endif
