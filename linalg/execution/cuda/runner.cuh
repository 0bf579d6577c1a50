#ifndef femgpu_linalg_execution_cuda_runner_cuh
#define femgpu_linalg_execution_cuda_runner_cuh

#include "linalg/base/indices.h"
#include "linalg/execution/cuda/executor.h"
#include "linalg/execution/cuda/gram.cuh"
#include "linalg/execution/cuda/on_chip/fabric.cuh"
#include "linalg/execution/steps/steps.h"
#include "linalg/operators/linear_operator.h"

#include <cuda_runtime.h>

#include <algorithm>

namespace femgpu::linalg
{
/// Steps run on a CUDA device: one kernel each; a loop is one graph with a conditional WHILE node.
struct CudaBackend
{
  static constexpr BackendKind kind = BackendKind::cuda;
};

namespace cuda
{
constexpr int threads_per_block = 256;
constexpr int warp_size = 32;
constexpr int warps_per_block = threads_per_block / warp_size;

/// Adds @p value over @p width neighbouring lanes of a warp, a power of two; every lane has the
/// sum.
__device__ __forceinline__ double lane_sum(double value, const int width)
{
  for (int offset = width / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(~0U, value, offset);
  return value;
}

/// The same for a width that the compiler knows.
template <int width>
__device__ __forceinline__ double lane_sum(double value)
{
#pragma unroll
  for (int offset = width / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(~0U, value, offset);
  return value;
}

/// The one reduction: adds @p value over the block in a fixed order; every thread has the sum.
template <int warps = warps_per_block>
__device__ __forceinline__ double block_sum(double value, double *scratch)
{
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  value = lane_sum<warp_size>(value);
  if (lane == 0)
    scratch[warp] = value;
  __syncthreads();
  value = scratch[lane % warps];
  __syncthreads();
  return lane_sum<warps>(value);
}

/// A ProductStep as a kernel gets it.
template <class View, class Body>
struct ViewProduct
{
  View A;
  const double *v;
  Body body;
};

/// @param v what prepare() has returned
template <class Operator, class Body, class Function>
void visit_product(const ProductStep<Operator, Body> &step, const double *v, const Function &f)
{
  visit_view(*step.A, [&](const auto &view) {
    f(ViewProduct<std::decay_t<decltype(view)>, Body>{view, v, step.body});
  });
}

/// Calls f(i, (A v)_i) for the rows that this thread finishes; `lanes` neighbours share a row.
template <class View, class Function>
__device__ __forceinline__ void for_products(const View &A, const double *v, const Function &f)
{
  const int lanes = A.lanes;
  const unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = static_cast<int>(thread) & (lanes - 1);
  const unsigned int n = A.n, stride = gridDim.x * (blockDim.x / lanes);
  const unsigned int in_warp = threadIdx.x % warp_size / lanes;
  // All lanes of a warp stay in the loop together, because they meet in lane_sum(). Unsigned, as in
  // for_strided().
  for (unsigned int i = thread / lanes; i - in_warp < n; i += stride) {
    const double partial = i < n ? A.row_product(static_cast<int>(i), lane, lanes, v) : 0.;
    const double Av_i = lane_sum(partial, lanes);
    if (lane == 0 && i < n)
      f(A.row(static_cast<int>(i)), Av_i);
  }
}

/// A warp or a block; see TeamStep.
template <int size_>
class Team
{
  static_assert(size_ == warp_size || size_ == 128 || size_ == threads_per_block || size_ == 512 ||
                size_ == 1024);

public:
  __device__ Team(double *shared, double *for_sums) : shared(shared), for_sums(for_sums)
  {}
  __device__ static int rank()
  {
    return threadIdx.x % size_;
  }
  __device__ static constexpr int size()
  {
    return size_;
  }
  __device__ static void sync()
  {
    if constexpr (size_ == warp_size)
      __syncwarp();
    else
      __syncthreads();
  }
  __device__ double sum(const double value) const
  {
    if constexpr (size_ == warp_size)
      return lane_sum<warp_size>(value);
    else
      return block_sum<size_ / warp_size>(value, for_sums);
  }
  /// Over @p lanes neighbouring threads, a power of two up to a warp; all threads must be there.
  __device__ static double sum(const double value, const int lanes)
  {
    return lane_sum(value, lanes);
  }
  /// Doubles of scratch that sums() of P values needs.
  static constexpr int room_for_sums(const int P)
  {
    return size_ > warp_size ? 2 * (size_ / warp_size) * P : 0;
  }
  /// Replaces each of P values by its sum over the team, in a fixed order; P is a power of two up
  /// to a warp, @p room a part of the scratch that only such sums use.
  template <int P>
  __device__ static void sums(double (&values)[P], double *room)
  {
    if constexpr (size_ == warp_size)
      sum_over_lanes(values);
    else {
      const double of_warp = spread_sums(values);
      sync(); // the sums before these have been read
      if (lane() < P)
        room[warp() * P + lane()] = of_warp;
      sync();
      double *const own = room + (n_warps() + warp()) * P;
      if (lane() < P) {
        double sum = 0.;
#pragma unroll
        for (int w = 0; w < n_warps(); ++w)
          sum += room[w * P + lane()];
        own[lane()] = sum;
      }
      __syncwarp();
#pragma unroll
      for (int j = 0; j < P; ++j)
        values[j] = own[j];
    }
  }
  __device__ double *scratch() const
  {
    return shared;
  }

  __device__ static constexpr int n_warps()
  {
    return size_ / warp_size;
  }
  __device__ static int warp()
  {
    return rank() / warp_size;
  }
  __device__ static constexpr int n_lanes()
  {
    return warp_size;
  }
  __device__ static int lane()
  {
    return threadIdx.x % warp_size;
  }
  /// Replaces each of P values by its sum over the lanes of the warp, in a fixed order.
  template <int P>
  __device__ static void sum_over_lanes(double (&values)[P])
  {
    const double sum = spread_sums(values);
#pragma unroll
    for (int j = 0; j < P; ++j)
      values[j] = __shfl_sync(~0U, sum, j);
  }

  /// What is there now, though others may be changing it.
  __device__ static int glance(const int *from)
  {
    return *const_cast<const volatile int *>(from);
  }
  /// Puts @p value at @p to if @p expected is there; gives what was there.
  __device__ static int compare_and_swap(int *to, const int expected, const int value)
  {
    return atomicCAS(to, expected, value);
  }
  /// Adds 1; gives what was there.
  __device__ static int count_up(int *counter)
  {
    return atomicAdd(counter, 1);
  }
  /// The n different numbers of @p from, ascending, to other memory.
  __device__ static void sort(const int *from, const int n, int *to)
  {
    for (int k = rank(); k < n; k += size()) {
      const int number = from[k];
      int smaller = 0;
      for (int l = 0; l < n; ++l)
        smaller += from[l] < number ? 1 : 0;
      to[smaller] = number;
    }
  }

private:
  double *shared, *for_sums;
};

/// A warp that may wait for others; see ChainStep.
class ChainTeam : public Team<warp_size>
{
public:
  __device__ ChainTeam(unsigned int *done, const unsigned int run)
      : Team<warp_size>(nullptr, nullptr), done(done), run(run)
  {}
  __device__ void wait_for(const int place) const
  {
    // Those that wait must leave the memory to those that work.
    const volatile unsigned int *const flag = done + place;
    for (unsigned int nanoseconds = 32; *flag != run; nanoseconds = min(2 * nanoseconds, 512U))
      __nanosleep(nanoseconds);
  }
  __device__ static void catch_up()
  {
    __threadfence();
    __syncwarp();
  }
  __device__ void announce(const int place) const
  {
    __threadfence();
    *const_cast<volatile unsigned int *>(done + place) = run;
  }
  /// From the level of the memory that all multiprocessors share.
  template <class T>
  __device__ static T fresh(const T *from)
  {
    return __ldcg(from);
  }

private:
  unsigned int *done;
  unsigned int run;
};

/// Threads of a block that runs a step: a team of 128 has a block of its own.
template <class Step>
constexpr int threads_of_block = threads_per_block;
template <class Body>
constexpr int threads_of_block<TeamStep<Body>> =
    Body::team_size > warp_size ? Body::team_size : threads_per_block;

template <class Body>
__device__ void run_plain(const RowStep<Body> &step)
{
  for_strided(blockIdx.x * blockDim.x + threadIdx.x, step.n, gridDim.x * blockDim.x, step.body);
}

template <class View, class Body>
__device__ void run_plain(const ViewProduct<View, Body> &step)
{
  for_products(step.A, step.v, step.body);
}

template <class Body>
__device__ void run_plain(const TeamStep<Body> &step)
{
  constexpr int size = Body::team_size, teams = threads_of_block<TeamStep<Body>> / size;
  __shared__ double scratch[teams * (Body::scratch > 0 ? Body::scratch : 1)];
  extern __shared__ double scratch_of_run[];
  constexpr int most_warps = size > threads_per_block ? size / warp_size : warps_per_block;
  __shared__ double for_sums[most_warps];
  const int team = threadIdx.x / size;
  const Team<size> self(Body::scratch > 0 ? scratch + team * Body::scratch
                                          : scratch_of_run + team * step.scratch,
                        for_sums);
  for_strided(blockIdx.x * teams + team, step.n, gridDim.x * teams, [&](const int i) {
    step.body(self, i);
    self.sync(); // the scratch is free again
  });
}

/// Every warp takes the next ticket when it has done an item: so an item waits only for items that
/// a warp has already begun. The last ticket of all, which is no item, is taken when all are done.
template <class Body>
__device__ void run_plain(const ChainStep<Body> &step)
{
  static_assert(Body::team_size == warp_size && Body::scratch == 0);
  const unsigned int run = *const_cast<volatile unsigned int *>(step.progress.run) + 1;
  __threadfence(); // read before this warp has a ticket, because the last one changes it
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
    const int place = static_cast<int>(ticket / n_chains), begin = step.starts[chain];
    if (place < step.starts[chain + 1] - begin)
      step.body(team, begin + place);
    team.sync();
  }
}

/// Runs one step unless the loop it belongs to has ended.
template <class Step>
__global__ void __launch_bounds__(threads_of_block<Step>)
    run_plain_step(const Step step, const LoopState *loop)
{
  if (loop == nullptr || loop->running)
    run_plain(step);
}
} // namespace cuda

template <>
class Runner<CudaBackend> final : public StepRunner
{
public:
  explicit Runner(const Executor &executor) : Runner(executor, nullptr, nullptr)
  {}

  /// Steps on @p on, which may be capturing; they do nothing where @p loop, on the device, has
  /// ended.
  Runner(const Executor &executor, const cudaStream_t on, const LoopState *loop)
      : cuda_executor(static_cast<const CudaExecutor &>(executor)),
        on(on == nullptr ? cuda_executor.stream() : on), loop(loop)
  {}

  template <class Body>
  void run(const RowStep<Body> &step)
  {
    launch(step, step.n);
  }

  template <class Operator, class Body>
  void run(const ProductStep<Operator, Body> &step)
  {
    const double *const v = prepare_product(*step.A, *this, step.v);
    cuda::visit_product(step, v, [&](const auto &kernel_step) {
      launch(kernel_step, static_cast<long long>(kernel_step.A.n) * kernel_step.A.lanes);
    });
  }

  template <class Body>
  void run(const TeamStep<Body> &step)
  {
    constexpr int teams = cuda::threads_of_block<TeamStep<Body>> / Body::team_size;
    const std::size_t bytes = teams * sizeof(double) * static_cast<std::size_t>(step.scratch);
    if (bytes > default_shared_bytes - shared_of_steps)
      FEMGPU_CUDA(cudaFuncSetAttribute(cuda::run_plain_step<TeamStep<Body>>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(bytes)));
    launch(step, static_cast<long long>(step.n) * Body::team_size, bytes);
  }

  /// Doubles of scratch that a team which is a block can have at most.
  int most_scratch() const
  {
    const std::size_t bytes = cuda_executor.resident_limits().shared_bytes - shared_of_steps;
    return static_cast<int>(bytes / sizeof(double));
  }

  template <class Body>
  void run(const ChainStep<Body> &step)
  {
    const long long items = static_cast<long long>(step.n_chains) * step.longest;
    const long long teams = std::clamp<long long>(step.n_teams, 1, items);
    const long long resident = 2048LL * cuda_executor.n_multiprocessors();
    launch(step, std::min(teams * cuda::warp_size, resident));
  }

  template <class Body>
  void run(const GramStep<Body> &step)
  {
    cuda::launch_gram_by_parts(step, cuda_executor.n_multiprocessors(), on, loop);
  }

  cudaStream_t stream() const
  {
    return on;
  }
  const CudaExecutor &executor() const
  {
    return cuda_executor;
  }

private:
  static constexpr std::size_t default_shared_bytes = 48 << 10;
  static constexpr std::size_t shared_of_steps = 1 << 10; ///< at most, besides scratch of the run

  template <class Step>
  void launch(const Step &step, const long long threads, const std::size_t shared_bytes = 0)
  {
    if (threads == 0)
      return;
    constexpr int block = cuda::threads_of_block<Step>;
    const long long blocks = (threads + block - 1) / block;
    const long long most = 1LL << 22; // so that a thread has a number
    cuda::run_plain_step<<<static_cast<unsigned int>(std::min(blocks, most)), block, shared_bytes,
                           on>>>(step, loop);
    FEMGPU_CUDA(cudaGetLastError());
  }

  const CudaExecutor &cuda_executor;
  cudaStream_t on;
  const LoopState *loop;
};
} // namespace femgpu::linalg

#endif
