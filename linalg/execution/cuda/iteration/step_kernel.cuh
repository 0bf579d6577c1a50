#ifndef femgpu_linalg_execution_cuda_step_kernel_cuh
#define femgpu_linalg_execution_cuda_step_kernel_cuh

#include "linalg/execution/cuda/peer_sums.cuh"
#include "linalg/execution/cuda/plain_step.cuh"

#include <algorithm>

/**
 * @file
 * The kernel of one step (steps/steps.h) with state and sums.
 */
namespace femgpu::linalg::cuda
{
/// Returns how many doubles of shared memory block_sums() needs for the listed members.
template <auto... members>
constexpr int workspace_for(SumList<members...> /* list */)
{
  return warps_per_block * padded(sizeof...(members));
}

/// Replaces each listed member of @p sums by its sum over the block. All threads must synchronise
/// before @p workspace is reused.
template <class Sums, auto... members>
__device__ void block_sums(Sums &sums, SumList<members...> /* list */, double *workspace)
{
  if constexpr (sizeof...(members) > 0) {
    constexpr int P = padded(sizeof...(members));
    double values[P] = {sums.*members...};
    store_warp_sums(values, workspace);
    const double lane_total = short_column_sums<P, warps_per_block>(warps_per_block, workspace);
    int number = 0;
    ((sums.*members = __shfl_sync(~0U, lane_total, number++)), ...);
  }
}

template <class Body, class State, class Sums>
__device__ void run_rows(const RowStep<Body> &step, const State &state, Sums &sums)
{
  for_strided(blockIdx.x * blockDim.x + threadIdx.x, step.n, gridDim.x * blockDim.x,
              [&](const int i) { run_body(step.body, state, i, sums); });
}

template <class View, class Body, class State, class Sums>
__device__ void run_rows(const ViewProduct<View, Body> &step, const State &state, Sums &sums)
{
  for_each_product(step.A, step.v, [&](const int i, const double Av_i) {
    run_body(step.body, state, i, sums, Av_i);
  });
}

/// Which loop of a graph the epilogue of a step continues or ends.
enum class DecidedLoop
{
  nothing,
  loop,
  inner_loop
};

/// Whether the epilogue of a step can decide whether a loop continues. The epilogues of Gram, team
/// and counted steps cannot.
template <class Step>
constexpr bool can_decide = false;
template <class Body>
constexpr bool can_decide<RowStep<Body>> = true;
template <class Operator, class Body>
constexpr bool can_decide<ProductStep<Operator, Body>> = true;

/// A loop of a graph, and which member of LoopState determines whether the loop continues.
struct Decision
{
  cudaGraphConditionalHandle loop = 0;
  DecidedLoop what = DecidedLoop::nothing;

  __device__ void apply(const LoopState &state) const
  {
    if (what != DecidedLoop::nothing)
      cudaGraphSetConditional(loop,
                              state.running && (what == DecidedLoop::loop || state.inner) ? 1 : 0);
  }
};

/// Which part of a step a kernel runs.
enum class StepPhase
{
  all,
  rows,    ///< only the rows; the sums are left for the exchange between ranks
  epilogue ///< only the epilogue, by one block, with the sums of all ranks
};

/// The data that the blocks of a kernel need besides the step itself.
template <class State, class Sums>
struct StepContext
{
  State *state;
  Sums *partials;        ///< sums of each block, in its slot
  unsigned int n_slots;  ///< length of partials, the same for all steps that share sums; no step
                         ///< has more blocks
  unsigned int *arrived; ///< number of blocks that have stored their sums
  Decision decision;
  StepPhase phase = StepPhase::all;
  Sums *rank_sums = nullptr; ///< sums over this rank's rows; in phase `epilogue`, sums of each rank
  int n_ranks = 0;           ///< number of ranks with sums in rank_sums in phase `epilogue`
  PeerSums peers{};          ///< other ranks, if the kernel adds up the ranks' sums
};

/// Stores the sums of the calling block in its slot of `partials`, and zeros in slots without a
/// block.
template <class Body, class State, class Sums>
__device__ void store_sums(const StepContext<State, Sums> &context, const Sums &sums)
{
  set_sums(context.partials[blockIdx.x], sums, AddedSums<Body>{});
  for (unsigned int slot = blockIdx.x + gridDim.x; slot < context.n_slots; slot += gridDim.x)
    set_sums(context.partials[slot], Sums{}, AddedSums<Body>{});
}

/// Copies a state; each thread of the block copies some words of it.
template <class State>
__device__ void copy_by_block(const State &from, State &to)
{
  static_assert(std::is_trivially_copyable_v<State> && sizeof(State) % sizeof(int) == 0);
  for (unsigned int word = threadIdx.x; word < sizeof(State) / sizeof(int);
       word += threads_per_block)
    reinterpret_cast<int *>(&to)[word] = reinterpret_cast<const int *>(&from)[word];
}

/**
 * Runs one step. Every block stores its sums in its own slot. If the step has an epilogue, the last
 * block to arrive adds the sums in the order of the slots and runs the epilogue. In a graph, the
 * last step of a loop's body decides whether the WHILE node continues, and the step before an inner
 * loop decides whether the inner loop runs. If the rows are distributed over ranks, the kernel also
 * adds up the sums of the ranks. If these are instead exchanged outside of the kernel, it is
 * launched twice: once for the rows and once for the epilogue (StepPhase).
 */
template <class Step, class State, class Sums>
__global__ void __launch_bounds__(threads_per_block, min_blocks_per_multiprocessor<Step>)
    run_step(const Step step, const StepContext<State, Sums> context)
{
  using Body = decltype(step.body);
  __shared__ double
      workspace[std::max(workspace_for(AddedSums<Body>{}), workspace_for(CompletedSums<Body>{}))];
  const State state = *context.state;
  if (!state.running && !RunsAlways<Body>::value) {
    if (blockIdx.x == 0 && threadIdx.x == 0)
      context.decision.apply(state);
    return;
  }
  if (context.phase != StepPhase::epilogue) {
    Sums sums{};
    run_rows(step, state, sums);
    if constexpr (!AddedSums<Body>::empty) {
      block_sums(sums, AddedSums<Body>{}, workspace);
      if (threadIdx.x == 0)
        store_sums<Body>(context, sums);
    }
  }
  if constexpr (HasEpilogue<Body>::value) {
    if (!is_last_block(context.arrived)) // when the last block replaces the state, all threads have
                                         // read the state
      return;
    // The new state is in shared memory: in registers, it would leave fewer registers for the rows.
    __shared__ alignas(State) unsigned char memory[sizeof(State)];
    State &next = *reinterpret_cast<State *>(memory);
    copy_by_block(*context.state, next);
    Sums total{};
    if (context.phase == StepPhase::epilogue) {
      for (int p = 0; threadIdx.x == 0 && p < context.n_ranks; ++p)
        add_sums(total, context.rank_sums[p], CompletedSums<Body>{});
    }
    else
      for (unsigned int slot = threadIdx.x; slot < context.n_slots; slot += threads_per_block)
        add_sums(total, context.partials[slot], CompletedSums<Body>{});
    if (CompletedSums<Body>::empty || context.phase == StepPhase::epilogue)
      __syncthreads(); // otherwise block_sums() synchronises
    else
      block_sums(total, CompletedSums<Body>{}, workspace);
    if (context.phase == StepPhase::rows) {
      if (threadIdx.x == 0)
        *context.rank_sums = total;
      return;
    }
    if constexpr (!CompletedSums<Body>::empty)
      if (context.peers && threadIdx.x < warp_size)
        sum_over_peers(context.peers, total, CompletedSums<Body>{});
    if (threadIdx.x == 0) {
      finish_step(step.body, next, total);
      context.decision.apply(next);
    }
    __syncthreads();
    copy_by_block(next, *context.state);
  }
}
} // namespace femgpu::linalg::cuda

#endif
