#ifndef femgpu_linalg_execution_cuda_fabric_cuh
#define femgpu_linalg_execution_cuda_fabric_cuh

#include <cuda_runtime.h>

/**
 * @file
 * What the threads of one resident kernel have in common: how they meet, how a vector that a matrix
 * multiplies is published to all of them, and how sums come together. A fabric is one block, one
 * cluster of blocks with distributed shared memory, or all blocks of the device.
 *
 * Every sum has a fixed order. A fabric's exchange vector is published, then all meet, then values
 * are fetched by the addresses that address() has given for columns. Sums are combined after the
 * fetches, and no vector is published before all blocks have come that far.
 */
namespace femgpu::linalg::cuda
{
constexpr int lanes_per_warp = 32;
constexpr int most_sums = 8; ///< that an epilogue reads
constexpr int most_warps = 32;
constexpr int most_blocks_of_cluster = 16;

/// Adds each of the P values of all lanes of a warp; lane l gets the sum of number l mod P.
template <int P>
__device__ __forceinline__ double spread_sums(double (&values)[P])
{
  const int lane = threadIdx.x % lanes_per_warp;
#pragma unroll
  for (int half = P / 2; half > 0; half /= 2) {
    const bool is_upper = (lane & half) != 0;
#pragma unroll
    for (int j = 0; j < half; ++j) {
      const double given = is_upper ? values[j] : values[j + half];
      const double kept = is_upper ? values[j + half] : values[j];
      values[j] = kept + __shfl_xor_sync(~0U, given, half);
    }
  }
#pragma unroll
  for (int offset = P; offset < lanes_per_warp; offset *= 2)
    values[0] += __shfl_xor_sync(~0U, values[0], offset);
  return values[0];
}

/// Adds the columns of @p count rows of P values, by one warp; lane l gets column l mod P.
/// @param load reads one value
template <int P, class Load>
__device__ __forceinline__ double column_sums(const int count, const Load &load)
{
  const int lane = threadIdx.x % lanes_per_warp;
  double sum = 0.;
#pragma unroll 4
  for (int row = lane / P; row < count; row += lanes_per_warp / P)
    sum += load(row * P + lane % P);
#pragma unroll
  for (int offset = P; offset < lanes_per_warp; offset *= 2)
    sum += __shfl_xor_sync(~0U, sum, offset);
  return sum;
}

/// Memory of the device for GridFabric; zero at first, and again when a kernel has ended.
struct GridMemory
{
  unsigned int *arrivals; ///< 2: of blocks that have come to a meeting, and that have left
  double *sums;           ///< twice most_sums of each block
};

__device__ __forceinline__ unsigned int shared_address(const void *pointer)
{
  return static_cast<unsigned int>(__cvta_generic_to_shared(pointer));
}

/// One block. The exchange vector is in its shared memory.
class BlockFabric
{
public:
  static constexpr bool publishes_in_shared_memory = true;

  __device__ BlockFabric(double *exchange, const int /* slice */, const GridMemory & /* grid */)
      : exchange(exchange)
  {}
  __device__ static int rank()
  {
    return 0;
  }
  __device__ unsigned int address(const int column) const
  {
    return shared_address(exchange + column);
  }
  __device__ static double fetch(const unsigned int address, const double * /* vector */)
  {
    double value;
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"(address) : "memory");
    return value;
  }
  __device__ void publish(const int local, const int /* i */, const double value,
                          double * /* vector */) const
  {
    exchange[local] = value;
  }
  __device__ static void meet()
  {
    __syncthreads();
  }
  /// By warp 0: from lane l's sum over the block, number l mod P, the sum over all blocks.
  template <int P>
  __device__ static double combine(const double of_block)
  {
    return of_block;
  }
  /// What the other warps do meanwhile.
  __device__ static void await_combined()
  {}
  /// Before a block ends.
  __device__ static void leave()
  {}

private:
  double *exchange;
};

/// A cluster: every block has its slice of the exchange vector in its shared memory.
class ClusterFabric
{
public:
  static constexpr bool publishes_in_shared_memory = true;

  __device__ ClusterFabric(double *exchange, const int slice, const GridMemory & /* grid */)
      : exchange(exchange), slice(slice)
  {}
  __device__ static int rank()
  {
    return static_cast<int>(blockIdx.x);
  }
  __device__ unsigned int address(const int column) const
  {
    const int owner = column / slice;
    return remote(shared_address(exchange + (column - owner * slice)), owner);
  }
  __device__ static double fetch(const unsigned int address, const double * /* vector */)
  {
    double value = 0.;
#if __CUDA_ARCH__ >= 900
    asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(value) : "r"(address) : "memory");
#endif
    return value;
  }
  __device__ void publish(const int local, const int /* i */, const double value,
                          double * /* vector */) const
  {
    exchange[local] = value;
  }
  __device__ static void meet()
  {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\n\t"
                 "barrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
#endif
  }
  /// Every block gives its sums to every other.
  template <int P>
  __device__ double combine(const double of_block)
  {
    double *const places = received(); // of this turn
    const int lane = threadIdx.x % lanes_per_warp;
    const int n_blocks = static_cast<int>(gridDim.x);
    const unsigned int mine = shared_address(places + rank() * P + lane % P);
    for (int block = lane / P; block < n_blocks; block += lanes_per_warp / P)
      store(remote(mine, block), of_block);
    meet();
    return column_sums<P>(n_blocks, [&](const int k) { return places[k]; });
  }
  __device__ static void await_combined()
  {
    meet();
  }
  /// No block may end while others read its memory.
  __device__ static void leave()
  {
    meet();
  }

private:
  __device__ static unsigned int remote(const unsigned int address, const int block)
  {
    unsigned int mapped = address;
#if __CUDA_ARCH__ >= 900
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(block));
#endif
    return mapped;
  }
  __device__ static void store(const unsigned int address, const double value)
  {
#if __CUDA_ARCH__ >= 900
    asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(address), "d"(value) : "memory");
#endif
  }
  // Two turns: a block may send the next sums while another still reads these.
  __device__ double *received()
  {
    __shared__ double places[2][most_blocks_of_cluster * most_sums];
    turn ^= 1;
    return places[turn];
  }

  double *exchange;
  int slice;
  int turn = 0;
};

/// All blocks of the device, which must be there at the same time. The exchange vector is the
/// vector itself, in the memory of the device.
class GridFabric
{
public:
  static constexpr bool publishes_in_shared_memory = false;

  __device__ GridFabric(double * /* exchange */, const int /* slice */, const GridMemory &grid)
      : memory(grid)
  {}
  __device__ static int rank()
  {
    return static_cast<int>(blockIdx.x);
  }
  __device__ static unsigned int address(const int column)
  {
    return static_cast<unsigned int>(column);
  }
  __device__ static double fetch(const unsigned int address, const double *vector)
  {
    // Through L1: what the multiprocessor has read since the last meeting it need not fetch again.
    double value;
    asm volatile("ld.global.f64 %0, [%1];" : "=d"(value) : "l"(vector + address) : "memory");
    return value;
  }
  __device__ static void publish(const int /* local */, const int i, const double value,
                                 double *vector)
  {
    vector[i] = value;
  }
  __device__ void meet()
  {
    __syncthreads();
    if (threadIdx.x == 0) {
      arrive(memory.arrivals);
      await_all();
    }
    __syncthreads();
  }
  template <int P>
  __device__ double combine(const double of_block)
  {
    const int lane = threadIdx.x % lanes_per_warp;
    turn ^= 1; // a block may leave the next sums while another still reads these
    double *const sums = memory.sums + turn * static_cast<int>(gridDim.x) * most_sums;
    if (lane < P)
      __stcg(sums + rank() * P + lane, of_block);
    __syncwarp();
    if (lane == 0) {
      arrive(memory.arrivals);
      await_all();
    }
    __syncwarp();
    return column_sums<P>(static_cast<int>(gridDim.x),
                          [&](const int k) { return __ldcg(sums + k); });
  }
  __device__ static void await_combined()
  {}
  /// The last block leaves the counters as they were.
  __device__ void leave()
  {
    if (threadIdx.x != 0)
      return;
    if (atomicAdd(memory.arrivals + 1, 1U) == gridDim.x - 1) {
      memory.arrivals[0] = 0;
      memory.arrivals[1] = 0;
    }
  }

private:
  __device__ static void arrive(unsigned int *counter)
  {
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
  }
  /// By one thread of a block: waits until all blocks have come as often as this one.
  __device__ void await_all()
  {
    expected += gridDim.x;
    unsigned int arrived;
    do
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                   : "=r"(arrived)
                   : "l"(memory.arrivals)
                   : "memory");
    while (arrived < expected);
  }

  GridMemory memory;
  unsigned int expected = 0; // arrivals; of thread 0
  int turn = 0;
};
} // namespace femgpu::linalg::cuda

#endif
