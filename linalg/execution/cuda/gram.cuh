#ifndef femgpu_linalg_execution_cuda_gram_cuh
#define femgpu_linalg_execution_cuda_gram_cuh

#include "linalg/execution/cuda/launch.cuh"
#include "linalg/execution/cuda/peer_sums.cuh"
#include "linalg/execution/cuda/reduce.cuh"
#include "linalg/execution/cuda/step_gather.h"
#include "linalg/operators/row_space.h"
#include "linalg/steps/gram.h"
#include "linalg/steps/steps.h"

#include <algorithm>
#include <type_traits>

/**
 * @file
 * Products Xᵀ Y of tall, skinny matrices on tensor cores.
 *
 * A warp processes 16 rows at a time. Four rows of eight columns are an operand of one instruction,
 * which multiplies and accumulates 8 x 8 tiles. A tile is distributed over the lanes, so that a
 * warp holds the products of 32 columns of X and all of Y, and no sums over lanes remain at the
 * end. The columns of X are divided into groups of 32, each of which several warps of the block
 * process. The warps of a group take turns with the rows, and all groups reach a row at about the
 * same time, so that Y is read from the cache.
 */
namespace femgpu::linalg::cuda
{
constexpr int gram_threads = 512;
constexpr int gram_warps = gram_threads / warp_size;
static_assert(gram_threads <= PeerSums::max_count);
constexpr int tile_size = 8;
constexpr int tiles_per_group = 4;
constexpr int columns_per_group = tiles_per_group * tile_size;
constexpr int rows_per_turn = 16;
constexpr int max_columns_of_y = 3 * tile_size;

/// Computes D += A B. Lane l holds A(l/4, l%4), B(l%4, l/4), D(l/4, 2(l%4)) and D(l/4, 2(l%4)+1).
__device__ __forceinline__ void multiply_tiles(double (&d)[2], const double a, const double b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800 // no tensor cores for doubles
  const int lane = threadIdx.x % warp_size;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const double a_k = __shfl_sync(~0U, a, (lane & ~3) | k);
    d[0] += a_k * __shfl_sync(~0U, b, 8 * (lane & 3) + k);
    d[1] += a_k * __shfl_sync(~0U, b, 8 * (lane & 3) + 4 + k);
  }
#else
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(d[0]), "+d"(d[1])
      : "d"(a), "d"(b));
#endif
}

/// Loads four consecutive rows of a column; @p row is a multiple of four. Rows and columns out of
/// range are zero.
__device__ __forceinline__ void load_rows(const Columns &X, const int column, const int row,
                                          const int n, double (&values)[4])
{
  const bool is_valid = column < X.count;
  const double *const from = X.data + X.stride * static_cast<std::size_t>(is_valid ? column : 0);
  if (is_valid && row + 4 <= n) {
    const double2 first = *reinterpret_cast<const double2 *>(from + row);
    const double2 second = *reinterpret_cast<const double2 *>(from + row + 2);
    values[0] = first.x;
    values[1] = first.y;
    values[2] = second.x;
    values[3] = second.y;
    return;
  }
#pragma unroll
  for (int e = 0; e < 4; ++e)
    values[e] = is_valid && row + e < n ? from[row + e] : 0.;
}

/// How a block divides X: into `groups` groups of columns, which it processes at the same time.
/// Each group has `turns` warps, which take turns with the rows.
struct GramShape
{
  int groups, turns;
};

/// The sums that a warp accumulates: the products of its group of columns of X with up to 8 Y_tiles
/// columns of Y.
template <int Y_tiles>
struct GramTiles
{
  double sums[tiles_per_group][Y_tiles][2] = {};

  /// @param first first column of the group
  __device__ void add_rows(const Columns &X, const int first, const Columns &Y, const int row,
                           const int n)
  {
    const int lane = threadIdx.x % warp_size;
    const int of_tile = lane / 4, my_row = row + 4 * (lane % 4);
    double x[tiles_per_group][4], y[Y_tiles][4];
#pragma unroll
    for (int t = 0; t < Y_tiles; ++t)
      load_rows(Y, tile_size * t + of_tile, my_row, n, y[t]);
#pragma unroll
    for (int t = 0; t < tiles_per_group; ++t)
      if (first + tile_size * t < X.count)
        load_rows(X, first + tile_size * t + of_tile, my_row, n, x[t]);
#pragma unroll
    for (int t = 0; t < tiles_per_group; ++t)
      if (first + tile_size * t < X.count)
#pragma unroll
        for (int u = 0; u < Y_tiles; ++u)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            multiply_tiles(sums[t][u], x[t][e], y[u][e]);
  }

  /// Stores the sums in the block's memory if @p is_first is true, otherwise adds them to it.
  /// @param C first entry of the group; column y of the block's entries begins at C + y * length
  __device__ void store(double *C, const int length, const bool is_first) const
  {
    const int lane = threadIdx.x % warp_size;
#pragma unroll
    for (int t = 0; t < tiles_per_group; ++t)
#pragma unroll
      for (int u = 0; u < Y_tiles; ++u)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          double *const c =
              C + (tile_size * u + 2 * (lane % 4) + e) * length + tile_size * t + lane / 4;
          *c = is_first ? sums[t][u][e] : *c + sums[t][u][e];
        }
  }
};

template <int Y_tiles>
constexpr int max_groups = 5120 / (columns_per_group * tile_size * Y_tiles);

/// Writes the block's contribution to Xᵀ Y to @p slot.
template <int Y_tiles>
__device__ void add_gram(const int n, const Columns &X, const Columns &Y, const GramShape &shape,
                         double *slot)
{
  constexpr int Y_columns = tile_size * Y_tiles;
  __shared__ double C[max_groups<Y_tiles> * columns_per_group * Y_columns];
  const int warp = threadIdx.x / warp_size;
  const int group = warp % shape.groups, turn = warp / shape.groups;
  const int columns_at_once = columns_per_group * shape.groups;
  const int areas = max(min(shape.turns, 5120 / (columns_at_once * Y_columns)), 1);
  for (int first = 0; first < X.count; first += columns_at_once) {
    GramTiles<Y_tiles> tiles;
    const int my_first = first + columns_per_group * group;
    if (turn < shape.turns && my_first < X.count)
      for (int t = blockIdx.x * shape.turns + turn; t < (n - 1) / rows_per_turn + 1;
           t += gridDim.x * shape.turns)
        tiles.add_rows(X, my_first, Y, rows_per_turn * t, n);
    for (int round = 0; round * areas < shape.turns; ++round) {
      if (turn / areas == round && turn < shape.turns)
        tiles.store(C + (turn % areas) * columns_at_once * Y_columns + columns_per_group * group,
                    columns_at_once, round == 0);
      __syncthreads();
    }
    const int n_columns = min(columns_at_once, X.count - first);
    for (int k = threadIdx.x; k < n_columns * Y.count; k += gram_threads) {
      const int x = k % n_columns, y = k / n_columns;
      double sum = 0.;
      for (int area = 0; area < areas; ++area)
        sum += C[(area * Y_columns + y) * columns_at_once + x];
      slot[y * X.count + first + x] = sum;
    }
    __syncthreads();
  }
}

/// Adds up the contributions of all blocks to the entries first <= k < first + max_count of Xᵀ Y,
/// or to fewer at the end, and passes the sums to the body; called by a whole block.
/// @param peers other ranks, whose sums are added; allowed only if one block processes all entries
template <class Body>
__device__ void complete_gram(const GramStep<Body> &step, const int n_slots, const int first,
                              const int max_count, const PeerSums &peers = {})
{
  __shared__ double parts[gram_threads];
  const int n_entries = step.X.count * step.Y.count;
  const int mine = min(n_entries - first, max_count);
  const int shares = gram_threads / mine;
  const int entry = threadIdx.x % mine, share = threadIdx.x / mine;
  double sum = 0.;
  if (share < shares)
#pragma unroll 4
    for (int slot = share; slot < n_slots; slot += shares)
      sum += __ldcg(step.memory.sums + static_cast<std::size_t>(slot) * n_entries + first + entry);
  parts[threadIdx.x] = sum;
  __syncthreads();
  const bool is_mine = threadIdx.x < mine;
  if (is_mine)
    for (int other = 1; other < shares; ++other)
      sum += parts[other * mine + threadIdx.x];
  if (peers) {
    const long long begin = clock64();
    if (is_mine)
      sum = peers.sum(entry, sum);
    __syncthreads();
    if (threadIdx.x == 0)
      peers.end_round(begin);
  }
  if (is_mine)
    step.body.entry((first + entry) % step.X.count, (first + entry) / step.X.count, sum);
}

/// Runs a Gram step with up to gram_threads entries. If the step has more entries, only stores the
/// sums of each block. @param state state of the loop; nullptr: the step is not part of a loop
template <int Y_tiles, class Body, class State>
__global__ void __launch_bounds__(gram_threads)
    run_gram_step(const GramStep<Body> step, const GramShape shape, State *state,
                  const PeerSums peers)
{
  if constexpr (!std::is_same_v<State, const LoopState>) {
    if (!state->running)
      return;
  }
  else if (state != nullptr && !state->running)
    return;
  const int n_entries = step.X.count * step.Y.count;
  add_gram<Y_tiles>(step.n, step.X, step.Y, shape,
                    step.memory.sums + static_cast<std::size_t>(blockIdx.x) * n_entries);
  if (n_entries > gram_threads || !is_last_block(step.memory.arrived))
    return;
  complete_gram(step, gridDim.x, 0, gram_threads, peers);
  if constexpr (!std::is_same_v<State, const LoopState>) {
    __syncthreads();
    if (threadIdx.x == 0)
      step.body.finish(*state);
  }
}

/// The number of entries that each block completes when several blocks complete a step.
constexpr int entries_per_block = gram_threads / 8;

/// Completes a step with more than gram_threads entries.
template <class Body>
__global__ void __launch_bounds__(gram_threads)
    complete_gram_step(const GramStep<Body> step, const int n_slots, const LoopState *state)
{
  if (state == nullptr || state->running)
    complete_gram(step, n_slots, blockIdx.x * entries_per_block, entries_per_block);
}

inline GramShape gram_shape(const int X_count, const int Y_tiles)
{
  const int max_count = Y_tiles == 1 ? max_groups<1> : Y_tiles == 2 ? max_groups<2> : max_groups<3>;
  const int groups =
      std::min({(X_count + columns_per_group - 1) / columns_per_group, max_count, gram_warps});
  return {groups, gram_warps / groups};
}

/// The body of a Gram step that stores C, column by column.
struct StoreEntries
{
  double *C;
  int length;

  FEMGPU_HD
  void entry(const int x, const int y, const double c_xy) const
  {
    C[y * length + x] = c_xy;
  }
  template <class State>
  FEMGPU_HD
  void finish(State & /* s */) const
  {}
};

/// Adds up entries over the ranks and passes the sums to @p body. The memory of @p from contains
/// the entries of all ranks, or only the entries of this rank if @p peers send the other entries.
template <class Body, class State>
__global__ void __launch_bounds__(gram_threads)
    reduce_entries(const Body body, const StoreEntries from, const int n_entries, const int n_ranks,
                   const PeerSums peers, State *state)
{
  if (state != nullptr && !state->running)
    return;
  for (int first = 0; first < n_entries; first += gram_threads) {
    const int k = first + static_cast<int>(threadIdx.x);
    const long long begin = clock64();
    double sum = 0.;
    for (int p = 0; p < n_ranks && k < n_entries; ++p)
      sum += from.C[static_cast<std::size_t>(p) * n_entries + k];
    if (peers && k < n_entries)
      sum = peers.sum(static_cast<int>(threadIdx.x), sum);
    if (k < n_entries)
      body.entry(k % from.length, k / from.length, sum);
    __syncthreads();
    if (peers && threadIdx.x == 0)
      peers.end_round(begin);
    __syncthreads(); // all threads see the new round
  }
  if constexpr (!std::is_same_v<State, const LoopState>)
    if (threadIdx.x == 0)
      body.finish(*state);
}

template <class Body, class State>
void launch_gram(const CudaExecutor &executor, cudaStream_t stream, const GramStep<Body> &step,
                 State *state);

/// Launches a Gram step of distributed rows as a Gram step of this rank's rows and a kernel that
/// adds up the entries over the ranks. Used if the Gram kernel cannot add up the sums of all ranks:
/// there are no peers, or the step is not part of a loop and may have many entries.
template <class Body, class State>
void launch_gram_of_rank(const CudaExecutor &executor, const cudaStream_t stream,
                         const GramStep<Body> &step, State *state)
{
  const Communicator &communicator = *step.memory.communicator;
  const PeerSums *const peers = communicator.peer_sums();
  StepGather *const step_gather = communicator.step_gather();
  const int n_entries = step.X.count * step.Y.count;
  const std::size_t bytes = static_cast<std::size_t>(n_entries) * sizeof(double);
  StoreEntries entries{peers != nullptr ? step.memory.sums // where the first block stores its sums
                       : step_gather != nullptr
                           ? reinterpret_cast<double *>(step_gather->buffer(bytes))
                           : static_cast<double *>(executor.result_slot()),
                       step.X.count};
  GramMemory::View memory = step.memory;
  memory.communicator = nullptr;
  launch_gram(executor, stream, GramStep<StoreEntries>{step.n, step.X, step.Y, entries, memory},
              state);
  if (step_gather != nullptr) {
    step_gather->gather(bytes);
    entries.C += n_entries; // the entries of all ranks follow this rank's
  }
  else if (peers == nullptr) {
    FEMGPU_CUDA(cudaStreamSynchronize(stream));
    communicator.sum(entries.C, n_entries);
  }
  launch(executor, stream, {1, gram_threads}, reduce_entries<Body, State>, step.body, entries,
         n_entries, step_gather == nullptr ? 1 : communicator.n_ranks(),
         peers == nullptr ? PeerSums{} : *peers, state);
}

/// Launches a Gram step. If State is const LoopState (outside of an Iteration), Y may have up to
/// max_columns_of_y columns, and Xᵀ Y more than gram_threads entries. Otherwise Y has one column.
template <class Body, class State>
void launch_gram(const CudaExecutor &executor, const cudaStream_t stream,
                 const GramStep<Body> &step, State *state)
{
  const int n_entries = step.X.count * step.Y.count;
  if (n_entries == 0)
    return;
  PeerSums peers{};
  if constexpr (!std::is_same_v<Body, StoreEntries>)
    if (const Communicator *const comm = step.memory.communicator; comm != nullptr) {
      if (std::is_same_v<State, const LoopState> || comm->peer_sums() == nullptr)
        return launch_gram_of_rank(executor, stream, step, state);
      peers = *comm->peer_sums();
    }
  const int tiles = (step.Y.count + tile_size - 1) / tile_size;
  const GramShape shape = gram_shape(step.X.count, tiles);
  const int turns = (step.n + rows_per_turn - 1) / rows_per_turn;
  const int blocks = std::clamp((turns + 2 * shape.turns - 1) / (2 * shape.turns), 1,
                                std::min(executor.n_multiprocessors(), GramMemory::max_slots));
  auto *kernel = run_gram_step<1, Body, State>;
  if constexpr (std::is_same_v<State, const LoopState>) {
    kernel = tiles == 1   ? kernel
             : tiles == 2 ? run_gram_step<2, Body, State>
                          : run_gram_step<3, Body, State>;
  }
  launch(executor, stream, {static_cast<unsigned int>(blocks), gram_threads}, kernel, step, shape,
         state, peers);
  if constexpr (std::is_same_v<State, const LoopState>)
    if (n_entries > gram_threads) {
      const int n_completing_blocks = (n_entries + entries_per_block - 1) / entries_per_block;
      launch(executor, stream, {static_cast<unsigned int>(n_completing_blocks), gram_threads},
             complete_gram_step<Body>, step, blocks, state);
    }
}

/// Passes the entries of a Gram step to @p body after adding `first` to their column numbers.
template <class Body>
struct ShiftedColumn
{
  Body body;
  int first;

  FEMGPU_HD
  void entry(const int x, const int y, const double c_xy) const
  {
    body.entry(x, first + y, c_xy);
  }
};

/// Launches a step with any number of columns of Y, max_columns_of_y at a time.
template <class Body>
void launch_gram_by_columns(const CudaExecutor &executor, const cudaStream_t stream,
                            const GramStep<Body> &step, const LoopState *state)
{
  for (int first = 0; first < step.Y.count; first += max_columns_of_y) {
    const Columns Y = step.Y.columns(first, std::min(step.Y.count - first, max_columns_of_y));
    launch_gram(executor, stream,
                GramStep<ShiftedColumn<Body>>{step.n, step.X, Y, {step.body, first}, step.memory},
                state);
  }
}
} // namespace femgpu::linalg::cuda

#endif
