#ifndef femgpu_linalg_execution_cuda_reduce_cuh
#define femgpu_linalg_execution_cuda_reduce_cuh

#include <cuda_runtime.h>

/**
 * @file
 * All reductions over threads: over neighbouring lanes, a warp or a block, each in a fixed order.
 * Also detects the last block of a kernel to arrive, which adds up the results of the other blocks.
 */
namespace femgpu::linalg::cuda
{
constexpr int warp_size = 32;
/// The default number of threads per block.
constexpr int threads_per_block = 256;
constexpr int warps_per_block = threads_per_block / warp_size;

/// Returns the sum of @p value over the caller's group of @p width neighbouring lanes, a power of
/// two.
__device__ __forceinline__ double lane_sum(double value, const int width)
{
  for (int offset = width / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(~0U, value, offset);
  return value;
}

/// Returns the sum of @p value over the caller's group of @p width neighbouring lanes, a power of
/// two known at compile time.
/// @param lanes mask of the lanes that take part
template <int width>
__device__ __forceinline__ double lane_sum(double value, const unsigned int lanes = ~0U)
{
#pragma unroll
  for (int offset = width / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(lanes, value, offset);
  return value;
}

/// Returns to every thread of the block the sum of @p value over all of them, added in a fixed
/// order.
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

/// Folds 2·half values over the lanes of a warp: afterwards values[0] of lane l is a partial sum of
/// value number l mod 2·half. Recursive, because the compiler does not unroll a loop over halves if
/// there are many values.
template <int half, int P>
__device__ __forceinline__ void fold_values(double (&values)[P])
{
  if constexpr (half > 0) {
    const bool is_upper = (threadIdx.x & half) != 0;
#pragma unroll
    for (int j = 0; j < half; ++j) {
      const double sent = is_upper ? values[j] : values[j + half];
      const double retained = is_upper ? values[j + half] : values[j];
      values[j] = retained + __shfl_xor_sync(~0U, sent, half);
    }
    fold_values<half / 2>(values);
  }
}

/// Adds each of P values over the lanes of a warp; lane l gets the sum of value number l mod P.
template <int P>
__device__ __forceinline__ double spread_sums(double (&values)[P])
{
  fold_values<P / 2>(values);
#pragma unroll
  for (int offset = P; offset < warp_size; offset *= 2)
    values[0] += __shfl_xor_sync(~0U, values[0], offset);
  return values[0];
}

/// Returns @p count rounded up to a power of two, the number of values that reductions take.
constexpr int padded(const int count)
{
  int P = 1;
  while (P < count)
    P *= 2;
  return P;
}

/// Stores the P sums of each warp of a block in the warp's row of @p warp_sums.
template <int P>
__device__ __forceinline__ void store_warp_sums(double (&values)[P], double *warp_sums)
{
  const double warp_sum = spread_sums(values);
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  if (lane < P)
    warp_sums[warp * P + lane] = warp_sum;
  __syncthreads();
}

/// Adds up each column of an array with @p count rows and P columns; called by one warp. Lane l
/// gets the sum of column l mod P.
/// @param load load(k) returns value number k, counted row by row
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

/// Adds up each column of an array with @p count rows and P columns in shared memory. Lane l gets
/// the sum of column l mod P. For a few rows, at most @p max_rows, adding a whole column in each
/// lane is faster than exchanging partial sums between lanes.
template <int P, int max_rows>
__device__ __forceinline__ double short_column_sums(const int count, const double *values)
{
  const double *const column = values + threadIdx.x % P;
  double sums[4] = {0., 0., 0., 0.}; // independent chains of additions
#pragma unroll
  for (int row = 0; row < max_rows; ++row)
    if (row < count)
      sums[row % 4] += column[row * P];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Returns whether this block is the last to arrive. The last block can then read what the other
/// blocks wrote before they arrived.
/// @param arrived counter shared by all blocks; reset to 0 by the last block
__device__ inline bool is_last_block(unsigned int *arrived)
{
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence(); // this block's results are visible before its arrival,
    is_last = atomicAdd(arrived, 1U) == gridDim.x - 1;
    if (is_last)
      *arrived = 0;
    __threadfence(); // and other blocks' results are read after it
  }
  __syncthreads();
  return is_last;
}
} // namespace femgpu::linalg::cuda

#endif
