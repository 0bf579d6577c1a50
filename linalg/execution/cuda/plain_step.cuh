#ifndef femgpu_linalg_execution_cuda_plain_step_cuh
#define femgpu_linalg_execution_cuda_plain_step_cuh

#include "linalg/base/indices.h"
#include "linalg/execution/cuda/team.cuh"
#include "linalg/operators/linear_operator.h"
#include "linalg/steps/views.h"

#include <type_traits>

/**
 * @file
 * The kernel of one step (steps/steps.h) without state and sums, and the product loop that all
 * kernels share.
 */
namespace femgpu::linalg::cuda
{
/// A ProductStep in the form that kernels take: with a view of the operator.
template <class View, class Body>
struct ViewProduct
{
  View A;
  const double *v;
  Body body;
};

/// Calls @p f with the step in the form that kernels take.
/// @param v the vector that prepare_product() has returned
template <class Operator, class Body, class Function>
void visit_product(const ProductStep<Operator, Body> &step, const double *v, const Function &f)
{
  visit_view(*step.A, [&](const auto &view) {
    f(ViewProduct<std::decay_t<decltype(view)>, Body>{view, v, step.body});
  });
}

/// Calls f(i, (A v)_i) for the rows that this thread completes; `lanes` neighbouring threads share
/// a row.
template <class View, class Function>
__device__ __forceinline__ void for_each_product(const View &A, const double *v, const Function &f)
{
  const int lanes = A.lanes;
  const unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = static_cast<int>(thread) & (lanes - 1);
  const unsigned int n = A.n, stride = gridDim.x * (blockDim.x / lanes);
  const unsigned int in_warp = threadIdx.x % warp_size / lanes;
  // All lanes of a warp stay in the loop together, because lane_sum() needs all lanes. The
  // arithmetic is unsigned, as in for_strided().
  for (unsigned int i = thread / lanes; i - in_warp < n; i += stride) {
    const double partial = i < n ? A.row_product(static_cast<int>(i), lane, lanes, v) : 0.;
    const double Av_i = lane_sum(partial, lanes);
    if (lane == 0 && i < n)
      f(A.row(static_cast<int>(i)), Av_i);
  }
}

/// The number of threads per block of a step. A team of more than a warp is a whole block.
template <class Step>
constexpr int block_size_of = threads_per_block;
template <class Body>
constexpr int block_size_of<TeamStep<Body>> =
    Body::team_size > warp_size ? Body::team_size : threads_per_block;

/// The minimum number of resident blocks per multiprocessor (for __launch_bounds__); 0: the
/// compiler chooses. For products, the compiler would otherwise use so few registers that the loads
/// of a batch wait for each other, or so many (for the epilogue, which only one block runs) that
/// too few blocks are resident. Batches of floats need fewer registers.
template <class Step>
constexpr int min_blocks_per_multiprocessor = 0;
template <class View, class Body>
constexpr int min_blocks_per_multiprocessor<ViewProduct<View, Body>> = 4;
template <class Body>
constexpr int min_blocks_per_multiprocessor<ViewProduct<SellView<float>, Body>> = 6;
template <class Body, class = void>
constexpr int min_blocks_of = 0;
template <class Body>
constexpr int min_blocks_of<Body, std::void_t<decltype(Body::min_blocks)>> = Body::min_blocks;
template <class Body>
constexpr int min_blocks_per_multiprocessor<RowStep<Body>> = min_blocks_of<Body>;

template <class Body>
__device__ void run_plain(const RowStep<Body> &step)
{
  for_strided(blockIdx.x * blockDim.x + threadIdx.x, step.n, gridDim.x * blockDim.x, step.body);
}

template <class View, class Body>
__device__ void run_plain(const ViewProduct<View, Body> &step)
{
  for_each_product(step.A, step.v, step.body);
}

template <class Body>
__device__ void run_plain(const TeamStep<Body> &step)
{
  constexpr int size = Body::team_size, teams = block_size_of<TeamStep<Body>> / size;
  __shared__ double scratch[teams * (Body::scratch > 0 ? Body::scratch : 1)];
  extern __shared__ double dynamic_scratch[];
  constexpr int max_warps = size > threads_per_block ? size / warp_size : warps_per_block;
  __shared__ double block_scratch[max_warps];
  const int team = threadIdx.x / size;
  const Team<size> self(Body::scratch > 0 ? scratch + team * Body::scratch
                                          : dynamic_scratch + team * step.scratch,
                        block_scratch);
  for_strided(blockIdx.x * teams + team, step.n, gridDim.x * teams, [&](const int i) {
    step.body(self, i);
    self.sync(); // before the scratch is reused
  });
}

/// Runs a chain step. When a warp has finished an item, it takes the next ticket, a number that
/// determines its next item. So an item waits only for items that other warps have already begun.
/// The very last ticket, which belongs to no item, is taken when all items are done.
template <class Body>
__device__ void run_plain(const ChainStep<Body> &step)
{
  static_assert(Body::team_size == warp_size && Body::scratch == 0);
  const unsigned int run = *const_cast<volatile unsigned int *>(step.progress.run) + 1;
  __threadfence(); // the run is read before this warp takes a ticket, because the last ticket
                   // changes the run
  const ChainTeam team(step.progress.done, run);
  const auto n_chains = static_cast<unsigned int>(step.n_chains);
  const unsigned int n_items = n_chains * static_cast<unsigned int>(step.longest);
  const unsigned int last = n_items + gridDim.x * warps_per_block - 1;
  for (;;) {
    unsigned int ticket = 0;
    if (team.rank() == 0)
      ticket = atomicAdd(step.progress.tickets, 1U);
    ticket = __shfl_sync(~0U, ticket, 0);
    if (ticket >= n_items) {
      if (ticket == last && team.rank() == 0) {
        *step.progress.tickets = 0;
        *step.progress.run = run;
      }
      return;
    }
    const unsigned int chain = ticket % n_chains;
    const int position = static_cast<int>(ticket / n_chains), begin = step.starts[chain];
    if (position < step.starts[chain + 1] - begin)
      step.body(team, begin + position);
    team.sync();
  }
}

/// Runs one step unless its loop has ended.
template <class Step>
__global__ void __launch_bounds__(block_size_of<Step>, min_blocks_per_multiprocessor<Step>)
    run_plain_step(const Step step, const LoopState *loop)
{
  if (loop == nullptr || loop->running)
    run_plain(step);
}
} // namespace femgpu::linalg::cuda

#endif
