#ifndef femgpu_linalg_execution_cuda_team_cuh
#define femgpu_linalg_execution_cuda_team_cuh

#include "linalg/execution/cuda/reduce.cuh"

/**
 * @file
 * The threads that process an item of a team step or of a chain step (steps/steps.h).
 */
namespace femgpu::linalg::cuda
{
/// A team of a TeamStep (steps/steps.h): a part of a warp, a warp or a block.
template <int size_>
class Team
{
  static_assert(size_ == 8 || size_ == warp_size || size_ == 128 || size_ == threads_per_block ||
                size_ == 512 || size_ == 1024);

public:
  __device__ Team(double *shared, double *block_scratch)
      : shared(shared), block_scratch(block_scratch)
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
    if constexpr (size_ <= warp_size)
      __syncwarp(lane_mask());
    else
      __syncthreads();
  }
  __device__ double sum(const double value) const
  {
    if constexpr (size_ <= warp_size)
      return lane_sum<size_>(value, lane_mask());
    else
      return block_sum<size_ / warp_size>(value, block_scratch);
  }
  /// Returns the sum of @p value over the caller's group of @p lanes neighbouring threads, a power
  /// of two up to a warp. All threads of the team must call this function.
  __device__ static double sum(const double value, const int lanes)
  {
    static_assert(size_ >= warp_size);
    return lane_sum(value, lanes);
  }
  /// Returns how many doubles of scratch sums() needs for P values.
  static constexpr int workspace_for_sums(const int P)
  {
    return size_ > warp_size ? 2 * (size_ / warp_size) * P : 0;
  }
  /// Replaces each of P values by its sum over the team, in a fixed order. P is a power of two up
  /// to 32; @p workspace is a part of the scratch that only such sums use.
  template <int P>
  __device__ static void sums(double (&values)[P], double *workspace)
  {
    static_assert(size_ >= warp_size);
    if constexpr (size_ == warp_size)
      sum_over_lanes(values);
    else {
      const double warp_sum = spread_sums(values);
      sync(); // all threads have read the preceding sums
      if (lane() < P)
        workspace[warp() * P + lane()] = warp_sum;
      sync();
      double *const own = workspace + (n_warps() + warp()) * P;
      if (lane() < P) {
        double sum = 0.;
#pragma unroll
        for (int w = 0; w < n_warps(); ++w)
          sum += workspace[w * P + lane()];
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
    static_assert(size_ >= warp_size);
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
    static_assert(size_ >= warp_size);
    const double sum = spread_sums(values);
#pragma unroll
    for (int j = 0; j < P; ++j)
      values[j] = __shfl_sync(~0U, sum, j);
  }

  /// Reads a value that other threads may be changing.
  __device__ static int load_volatile(const int *from)
  {
    return *const_cast<const volatile int *>(from);
  }
  /// Stores @p value in *to if *to is @p expected. @return the old value of *to
  __device__ static int compare_and_swap(int *to, const int expected, const int value)
  {
    return atomicCAS(to, expected, value);
  }
  /// Adds 1 to *counter. @return the old value of *counter
  __device__ static int fetch_increment(int *counter)
  {
    return atomicAdd(counter, 1);
  }
  /// Stores the n distinct numbers at @p from in ascending order at @p to. The arrays must not
  /// overlap.
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
  /// The mask of the lanes of the warp that form the team.
  __device__ static unsigned int lane_mask()
  {
    static_assert(size_ <= warp_size);
    return ~0U >> (warp_size - size_) << (lane() - rank());
  }

  double *shared, *block_scratch;
};

/// A team of a ChainStep (steps/steps.h): a warp that can wait for other warps.
class ChainTeam : public Team<warp_size>
{
public:
  __device__ ChainTeam(unsigned int *done, const unsigned int run)
      : Team<warp_size>(nullptr, nullptr), done(done), run(run)
  {}
  __device__ void wait_for(const int item) const
  {
    // Back off, so that waiting warps leave the memory bandwidth to working ones.
    const volatile unsigned int *const flag = done + item;
    for (unsigned int nanoseconds = 32; *flag != run; nanoseconds = min(2 * nanoseconds, 512U))
      __nanosleep(nanoseconds);
  }
  __device__ static void acquire_fence()
  {
    __threadfence();
    __syncwarp();
  }
  __device__ void publish(const int item) const
  {
    __threadfence();
    *const_cast<volatile unsigned int *>(done + item) = run;
  }
  /// Returns *from, read from the L2 cache, which all multiprocessors share.
  template <class T>
  __device__ static T load_published(const T *from)
  {
    return __ldcg(from);
  }

private:
  unsigned int *done;
  unsigned int run;
};
} // namespace femgpu::linalg::cuda

#endif
