#ifndef femgpu_linalg_execution_cuda_on_chip_streaming_cuh
#define femgpu_linalg_execution_cuda_on_chip_streaming_cuh

#include "linalg/execution/cuda/on_chip/loop_block.cuh"
#include "linalg/execution/steps/diagonal_view.h"
#include "linalg/execution/steps/vector_steps.h"

/**
 * @file
 * A whole loop in one kernel where the matrix is too large for the chip: it is read in every
 * product, in whatever format it has, while the vectors of the first rows of each block stay in its
 * shared memory. The part of the vectors that has no place is read and written as it would be
 * otherwise.
 */
namespace femgpu::linalg::cuda
{
constexpr int streaming_threads = 1024;

/// What a streaming kernel gets. Block b has the rows b slice <= i < (b+1) slice.
template <class View, int n_vectors, class State>
struct StreamingLoop
{
  View A;
  int slice; ///< rows that A has at positions of the same block
  int kept;  ///< rows of a block whose vectors are in shared memory
  int lanes; ///< neighbouring threads that share a row, a power of two
  VectorSet<n_vectors> vectors;
  DiagonalView m;
  State *state;
  GridMemory grid;
};

/// What runs the steps inside the kernel.
template <class View, int n_vectors, class State, class Sums>
class Streaming : public LoopBlock<GridFabric, State, Sums, streaming_threads, false>
{
  using Base = LoopBlock<GridFabric, State, Sums, streaming_threads, false>;
  using Base::fabric;
  using Base::state;
  using Base::sums;

public:
  /// Doubles of shared memory for each row that is kept: its vectors and m_i.
  static int doubles_per_row(const DiagonalView &m)
  {
    return n_vectors + (m.is_uniform() ? 0 : 1);
  }

  __device__ Streaming(const StreamingLoop<View, n_vectors, State> &loop, double *shared)
      : Base(GridFabric(nullptr, loop.grid), *loop.state, true, loop.state), loop(loop),
        shared(shared), first(fabric.rank() * loop.slice),
        n_rows(max(0, min(loop.slice, loop.A.n - first))), kept(min(loop.kept, n_rows))
  {
    for (int local = threadIdx.x; local < kept; local += blockDim.x) {
#pragma unroll
      for (int vector = 0; vector < n_vectors; ++vector)
        place_of(vector, local) = loop.vectors.data[vector][first + local];
      if (!loop.m.is_uniform())
        place_of(n_vectors, local) = loop.m(first + local);
    }
    fabric.meet();
  }

  template <class Formulas>
  __device__ void run(RowsTag<Formulas> /* step */)
  {
    if (!state.running)
      return;
    set_sums(sums, Sums{}, typename Formulas::Contributes{});
    for (int local = threadIdx.x; local < n_rows; local += blockDim.x)
      on_row<Formulas>(local, [&](Row<n_vectors> &row, const double m_i, Sums &of_row) {
        Formulas()(state, row, m_i, of_row);
      });
    this->complete(Formulas());
  }

  template <class Formulas>
  __device__ void run(ProductTag<Formulas> /* step */)
  {
    static_assert(HasEpilogue<Formulas>::value, "all must meet before the next product");
    if (!state.running)
      return;
    double *const factor = loop.vectors.data[Formulas::factor];
    for (int local = threadIdx.x; local < kept; local += blockDim.x)
      factor[first + local] = place_of(Formulas::factor, local);
    fabric.meet();
    set_sums(sums, Sums{}, typename Formulas::Contributes{});
    const int lanes = loop.lanes, lane = threadIdx.x & (lanes - 1);
    const int in_warp = threadIdx.x % warp_size / lanes;
    const int stride = blockDim.x / lanes;
    // All lanes of a warp stay in the loop together, because they meet in lane_sum().
    for (int at = threadIdx.x / lanes; at - in_warp < n_rows; at += stride) {
      const bool is_there = at < n_rows;
      double Av_i = is_there ? loop.A.row_product(first + at, lane, lanes, factor) : 0.;
      if (lanes > 1)
        Av_i = lane_sum(Av_i, lanes);
      if (is_there && lane == 0)
        on_row<Formulas>(loop.A.row(first + at) - first,
                         [&](Row<n_vectors> &row, const double m_i, Sums &of_row) {
                           Formulas()(state, row, Av_i, m_i, of_row);
                         });
    }
    this->complete(Formulas());
  }

  __device__ void end()
  {
    this->leave_state(loop.state);
    this->leave_kept();
    for (int local = threadIdx.x; local < kept; local += blockDim.x)
#pragma unroll
      for (int vector = 0; vector < n_vectors; ++vector)
        loop.vectors.data[vector][first + local] = place_of(vector, local);
    fabric.leave();
  }

private:
  __device__ double &place_of(const int vector, const int local) const
  {
    return shared[vector * loop.kept + local];
  }

  /// Loads a row, calls @p formulas(row, m_i, sums), and stores what they have written.
  template <class Formulas, class Function>
  __device__ void on_row(const int local, const Function &formulas)
  {
    Row<n_vectors> row{first + local, {}};
    const bool is_kept = local < kept;
    if (is_kept)
      load(local, row, typename Formulas::Reads{});
    else
      loop.vectors.load(first + local, row, typename Formulas::Reads{});
    const double m_i =
        is_kept && !loop.m.is_uniform() ? place_of(n_vectors, local) : loop.m(first + local);
    formulas(row, m_i, sums);
    if (is_kept)
      store(local, row, typename Formulas::Writes{});
    else
      loop.vectors.store(first + local, row, typename Formulas::Writes{});
  }

  template <int... numbers>
  __device__ void load(const int local, Row<n_vectors> &row,
                       VectorList<numbers...> /* which */) const
  {
    ((row[numbers] = place_of(numbers, local)), ...);
  }
  template <int... numbers>
  __device__ void store(const int local, Row<n_vectors> &row,
                        VectorList<numbers...> /* which */) const
  {
    ((place_of(numbers, local) = row[numbers]), ...);
  }

  const StreamingLoop<View, n_vectors, State> &loop;
  double *shared;
  int first, n_rows, kept;
};

template <class Sums, class View, int n_vectors, class State, class... Steps>
__global__ void __launch_bounds__(streaming_threads, 1)
    run_streaming(const StreamingLoop<View, n_vectors, State> loop)
{
  extern __shared__ double shared[];
  Streaming<View, n_vectors, State, Sums> streaming(loop, shared);
  while (streaming.is_running()) {
    (streaming.run(Steps{}), ...);
    streaming.show();
  }
  streaming.end();
}
} // namespace femgpu::linalg::cuda

#endif
