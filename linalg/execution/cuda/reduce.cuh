#ifndef femgpu_linalg_execution_cuda_reduce_cuh
#define femgpu_linalg_execution_cuda_reduce_cuh

#include <cuda_runtime.h>

/**
 * @file
 * All sums over threads: of neighbouring lanes, of a warp, of a block; each in a fixed order. And
 * how the last block of a kernel is told, which adds up what the others have left.
 */
namespace femgpu::linalg::cuda
{
constexpr int warp_size = 32;
/// Of a block, where a step says nothing else.
constexpr int threads_per_block = 256;
constexpr int warps_per_block = threads_per_block / warp_size;

/// Adds @p value over @p width neighbouring lanes of a warp, a power of two; every lane has the
/// sum.
__device__ __forceinline__ double lane_sum(double value, const int width)
{
  for (int offset = width / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(~0U, value, offset);
  return value;
}

/// The same for a width that the compiler knows. @param lanes of the warp that are here
template <int width>
__device__ __forceinline__ double lane_sum(double value, const unsigned int lanes = ~0U)
{
#pragma unroll
  for (int offset = width / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(lanes, value, offset);
  return value;
}

/// Adds @p value over the block in a fixed order; every thread has the sum.
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

/// Leaves to lane l of a warp, of 2 half values, those whose number is l mod 2 half, in parts; a
/// recursion, because a loop over halves is not unrolled where there are many values.
template <int half, int P>
__device__ __forceinline__ void fold_values(double (&values)[P])
{
  if constexpr (half > 0) {
    const bool is_upper = (threadIdx.x & half) != 0;
#pragma unroll
    for (int j = 0; j < half; ++j) {
      const double given = is_upper ? values[j] : values[j + half];
      const double kept = is_upper ? values[j + half] : values[j];
      values[j] = kept + __shfl_xor_sync(~0U, given, half);
    }
    fold_values<half / 2>(values);
  }
}

/// Adds each of the P values of all lanes of a warp; lane l gets the sum of number l mod P.
template <int P>
__device__ __forceinline__ double spread_sums(double (&values)[P])
{
  fold_values<P / 2>(values);
#pragma unroll
  for (int offset = P; offset < warp_size; offset *= 2)
    values[0] += __shfl_xor_sync(~0U, values[0], offset);
  return values[0];
}

/// Values that are added at one time where there are @p count.
constexpr int padded(const int count)
{
  int P = 1;
  while (P < count)
    P *= 2;
  return P;
}

/// Leaves the sums of each warp of a block in its row of @p of_warps, P numbers.
template <int P>
__device__ __forceinline__ void leave_warp_sums(double (&values)[P], double *of_warps)
{
  const double of_warp = spread_sums(values);
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  if (lane < P)
    of_warps[warp * P + lane] = of_warp;
  __syncthreads();
}

/// Adds the columns of @p count rows of P values, by one warp; lane l gets column l mod P.
/// @param load reads one value
template <int P, class Load>
__device__ __forceinline__ double column_sums(const int count, const Load &load)
{
  const int lane = threadIdx.x % warp_size;
  double sum = 0.;
#pragma unroll 4
  for (int row = lane / P; row < count; row += warp_size / P)
    sum += load(row * P + lane % P);
#pragma unroll
  for (int offset = P; offset < warp_size; offset *= 2)
    sum += __shfl_xor_sync(~0U, sum, offset);
  return sum;
}

/// The same for at most @p most rows, not many, in memory that is near: each lane adds its whole
/// column, which takes less time than lanes take to exchange anything.
template <int P, int most>
__device__ __forceinline__ double short_column_sums(const int count, const double *values)
{
  const double *const column = values + threadIdx.x % P;
  double sums[4] = {0., 0., 0., 0.}; // that do not wait for each other
#pragma unroll
  for (int row = 0; row < most; ++row)
    if (row < count)
      sums[row % 4] += column[row * P];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Is the block the last to come here? What the others have written before can be read.
/// @param arrived of all blocks; 0 again when the last has come
__device__ inline bool is_last_block(unsigned int *arrived)
{
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence(); // what is left for the last block is written before the arrival is seen,
    is_last = atomicAdd(arrived, 1U) == gridDim.x - 1;
    if (is_last)
      *arrived = 0;
    __threadfence(); // and that of the other blocks is read after it
  }
  __syncthreads();
  return is_last;
}
} // namespace femgpu::linalg::cuda

#endif
