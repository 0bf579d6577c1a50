#ifndef femgpu_linalg_execution_cuda_step_kernel_cuh
#define femgpu_linalg_execution_cuda_step_kernel_cuh

#include "linalg/execution/cuda/peer_sums.cuh"
#include "linalg/execution/cuda/plain_step.cuh"

#include <algorithm>

/**
 * @file
 * The kernel of one step with state and sums.
 */
namespace femgpu::linalg::cuda
{
/// The number of doubles of block memory that the sums of these members need.
template <auto... members>
constexpr int room_for(SumList<members...> /* list */)
{
  return warps_per_block * padded(sizeof...(members));
}

/// Replaces sums by their sums over the block. All threads must synchronise before @p room is
/// reused.
template <class Sums, auto... members>
__device__ void block_sums(Sums &sums, SumList<members...> /* list */, double *room)
{
  if constexpr (sizeof...(members) > 0) {
    constexpr int P = padded(sizeof...(members));
    double values[P] = {sums.*members...};
    leave_warp_sums(values, room);
    const double of_all = short_column_sums<P, warps_per_block>(warps_per_block, room);
    int number = 0;
    ((sums.*members = __shfl_sync(~0U, of_all, number++)), ...);
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
  for_products(step.A, step.v,
               [&](const int i, const double Av_i) { run_body(step.body, state, i, sums, Av_i); });
}

/// Which loop of a graph the epilogue of a step decides on.
enum class Decides
{
  nothing,
  loop,
  inner_loop
};

/// Whether a step can decide. Gram, team and counted steps cannot.
template <class Step>
constexpr bool can_decide = false;
template <class Body>
constexpr bool can_decide<RowStep<Body>> = true;
template <class Operator, class Body>
constexpr bool can_decide<ProductStep<Operator, Body>> = true;

/// A loop of a graph, and which part of the state says whether it continues.
struct Decision
{
  cudaGraphConditionalHandle loop = 0;
  Decides what = Decides::nothing;

  __device__ void take(const LoopState &state) const
  {
    if (what != Decides::nothing)
      cudaGraphSetConditional(loop,
                              state.running && (what == Decides::loop || state.inner) ? 1 : 0);
  }
};

/// Which part of a step a kernel runs.
enum class StepPart
{
  all,
  rows,    ///< only the rows; the sums are left for the exchange between ranks
  epilogue ///< only the epilogue, by one block, with the sums of all ranks
};

/// The data that the blocks of a kernel need besides the step itself.
template <class State, class Sums>
struct Workspace
{
  State *state;
  Sums *partials;        ///< sums of each block
  unsigned int n_places; ///< length of partials, the same for all steps that share sums; no step
                         ///< has more blocks
  unsigned int *arrived; ///< number of blocks that have stored their sums
  Decision decision;
  StepPart part = StepPart::all;
  Sums *of_parts = nullptr; ///< sums over the rows of this rank; for the epilogue, of each rank
  int n_parts = 0;          ///< how many ranks of_parts holds; used by the epilogue
  PeerSums peers{};         ///< other ranks, if kernels add up their sums
};

/// Stores a block's sums in its place of partials, and zero in the places that no block has.
template <class Body, class State, class Sums>
__device__ void leave_sums(const Workspace<State, Sums> &work, const Sums &sums)
{
  set_sums(work.partials[blockIdx.x], sums, AddedSums<Body>{});
  for (unsigned int place = blockIdx.x + gridDim.x; place < work.n_places; place += gridDim.x)
    set_sums(work.partials[place], Sums{}, AddedSums<Body>{});
}

/// Copies a state; each thread of the block copies some words of it.
template <class State>
__device__ void copy_together(const State &from, State &to)
{
  static_assert(std::is_trivially_copyable_v<State> && sizeof(State) % sizeof(int) == 0);
  for (unsigned int word = threadIdx.x; word < sizeof(State) / sizeof(int);
       word += threads_per_block)
    reinterpret_cast<int *>(&to)[word] = reinterpret_cast<const int *>(&from)[word];
}

/**
 * Runs one step. Every block stores its sums in its own place. With an epilogue, the last block to
 * arrive adds them in the order of the places and runs the epilogue. In a loop, the last step of
 * the graph's body tells the WHILE node whether to continue, and so does the step before an inner
 * loop. If the rows are distributed over ranks, the kernel also adds the sums of the ranks; if they
 * are exchanged outside of the kernel, it is launched twice.
 */
template <class Step, class State, class Sums>
__global__ void __launch_bounds__(threads_per_block, blocks_together<Step>)
    run_step(const Step step, const Workspace<State, Sums> work)
{
  using Body = decltype(step.body);
  __shared__ double room[std::max(room_for(AddedSums<Body>{}), room_for(CompletedSums<Body>{}))];
  const State state = *work.state;
  if (!state.running && !RunsAlways<Body>::value) {
    if (blockIdx.x == 0 && threadIdx.x == 0)
      work.decision.take(state);
    return;
  }
  if (work.part != StepPart::epilogue) {
    Sums sums{};
    run_rows(step, state, sums);
    if constexpr (!AddedSums<Body>::empty) {
      block_sums(sums, AddedSums<Body>{}, room);
      if (threadIdx.x == 0)
        leave_sums<Body>(work, sums);
    }
  }
  if constexpr (HasEpilogue<Body>::value) {
    if (!is_last_block(work.arrived)) // last, so all threads have read the state that it will
                                      // replace
      return;
    // In shared memory, not in registers, of which the rows would then have fewer.
    __shared__ alignas(State) unsigned char memory[sizeof(State)];
    State &next = *reinterpret_cast<State *>(memory);
    copy_together(*work.state, next);
    Sums total{};
    if (work.part == StepPart::epilogue) {
      for (int p = 0; threadIdx.x == 0 && p < work.n_parts; ++p)
        add_sums(total, work.of_parts[p], CompletedSums<Body>{});
    }
    else
      for (unsigned int place = threadIdx.x; place < work.n_places; place += threads_per_block)
        add_sums(total, work.partials[place], CompletedSums<Body>{});
    if (CompletedSums<Body>::empty || work.part == StepPart::epilogue)
      __syncthreads(); // otherwise block_sums() synchronises
    else
      block_sums(total, CompletedSums<Body>{}, room);
    if (work.part == StepPart::rows) {
      if (threadIdx.x == 0)
        *work.of_parts = total;
      return;
    }
    if constexpr (!CompletedSums<Body>::empty)
      if (work.peers && threadIdx.x < warp_size)
        sum_over_peers(work.peers, total, CompletedSums<Body>{});
    if (threadIdx.x == 0) {
      finish_step(step.body, next, total);
      work.decision.take(next);
    }
    __syncthreads();
    copy_together(next, *work.state);
  }
}
} // namespace femgpu::linalg::cuda

#endif
