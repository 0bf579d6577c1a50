#ifndef femgpu_linalg_execution_cuda_on_chip_fabric_cuh
#define femgpu_linalg_execution_cuda_on_chip_fabric_cuh

#include "linalg/execution/cuda/executor.h"
#include "linalg/execution/cuda/reduce.cuh"
#include "linalg/steps/arrival_count.h"

#include <climits>
#include <cstdint>

/**
 * @file
 * What the threads of one resident kernel have in common: how they meet, how a vector that a matrix
 * multiplies is published to all of them, and how sums come together. A fabric is one block, one
 * cluster of blocks with distributed shared memory, or all blocks of the device.
 *
 * Every sum has a fixed order. A fabric's exchange vector is published by the threads that own its
 * rows, then awaited by all, then values are fetched by the addresses that address() has given for
 * columns. Sums are combined after the fetches, and no vector is published before all blocks have
 * come that far.
 */
namespace femgpu::linalg::cuda
{
constexpr int most_warps_of_block = 32;
constexpr int most_blocks_of_cluster = 16;

__device__ __forceinline__ unsigned int shared_address(const void *pointer)
{
  return static_cast<unsigned int>(__cvta_generic_to_shared(pointer));
}

/// All rows of the exchange vector are here.
class WithoutGhosts
{
public:
  static constexpr bool has_ghosts = false;
  __device__ static void bring_ghosts(double * /* vector */)
  {}
};

/// Blocks that have the whole exchange vector in their shared memory.
class SharedExchange : public WithoutGhosts
{
public:
  static constexpr bool publishes_in_shared_memory = true;
  static constexpr bool all_warps_combine = true;

  __device__ explicit SharedExchange(double *exchange) : exchange(exchange)
  {}
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

protected:
  double *exchange;
};

/// Blocks that need not know who reads what.
class Unintroduced
{
public:
  /// To be called once by all threads with the rows of the block and the columns of its entries.
  __device__ static void introduce(const int /* first_row */, const int /* end_row */,
                                   const int /* first_column */, const int /* last_column */)
  {}
  /// Which blocks publish() has to give row i, as it wants to know it.
  __device__ static unsigned int readers(const int /* i */, const int /* lane */,
                                         const int /* lanes */)
  {
    return 0;
  }
};

/// One block.
class BlockFabric : public SharedExchange, public Unintroduced
{
public:
  __device__ BlockFabric(double *exchange, const GridMemory & /* grid */) : SharedExchange(exchange)
  {}
  __device__ static int rank()
  {
    return 0;
  }
  /// By all lanes of a row; the first of them has @p owns.
  __device__ void publish(const bool owns, const int i, const unsigned int /* readers */,
                          const double value, double * /* vector */) const
  {
    if (owns)
      exchange[i] = value;
  }
  /// What all have published is there.
  __device__ static void await_published()
  {
    __syncthreads();
  }
  /// The same, while the second warp does something: what it writes is there for the block too.
  template <class Function>
  __device__ static void await_published(const Function &meanwhile)
  {
    __syncthreads();
    if (threadIdx.x / warp_size == 1)
      meanwhile();
    __syncthreads();
  }
  __device__ static void meet()
  {
    __syncthreads();
  }
  /// By whole warps: from the sums of @p n_warps warps, P each, lane l's sum over everything,
  /// number l mod P.
  template <int P, int most_warps>
  __device__ static double combine(const double *of_warps, const int n_warps)
  {
    return short_column_sums<P, most_warps>(n_warps, of_warps);
  }
  /// Before a block ends.
  __device__ static void leave()
  {}
};

/**
 * A cluster. A value of the exchange vector is sent, as soon as it is known, to the blocks whose
 * rows have a column there. Blocks wait for bytes that arrive, not for each other: what is sent
 * crosses the network once, and a barrier of the cluster would cross it twice.
 */
class ClusterFabric : public SharedExchange
{
public:
  __device__ ClusterFabric(double *exchange, const GridMemory & /* grid */)
      : SharedExchange(exchange)
  {
    Shared &mine = shared();
    if (threadIdx.x != 0)
      return;
    mine.first_column = INT_MAX;
    mine.last_column = -1;
    for (int k = 0; k < n_arrivals; ++k)
      initialise(mine.arrivals + k);
  }
  __device__ static int rank()
  {
    return static_cast<int>(blockIdx.x);
  }
  __device__ void introduce(const int first_row, const int end_row, const int first_column,
                            const int last_column)
  {
    __syncthreads();
    Shared &mine = shared();
    const int first = __reduce_min_sync(~0U, first_column);
    const int last = __reduce_max_sync(~0U, last_column);
    if (threadIdx.x % warp_size == 0 && last >= first) {
      atomicMin(&mine.first_column, first);
      atomicMax(&mine.last_column, last);
    }
    meet();
    const int n_columns = max(0, mine.last_column - mine.first_column + 1);
    const int own = max(0, min(end_row, mine.last_column + 1) - max(first_row, mine.first_column));
    incoming_bytes = static_cast<unsigned int>(n_columns - own) * sizeof(double);
  }
  /// A set of blocks, one bit each; the @p lanes of a row share it.
  __device__ unsigned int readers(const int i, const int lane, const int lanes) const
  {
    unsigned int set = 0;
    for (int block = lane; block < static_cast<int>(gridDim.x); block += lanes)
      if (block != rank() &&
          i >= fetch_int(remote(shared_address(&shared().first_column), block)) &&
          i <= fetch_int(remote(shared_address(&shared().last_column), block)))
        set |= 1U << block;
    return set;
  }
  __device__ void publish(const bool owns, const int i, const unsigned int readers,
                          const double value, double * /* vector */) const
  {
    if (owns)
      exchange[i] = value;
    const unsigned int place = shared_address(exchange + i);
    const unsigned int arrival = shared_address(shared().arrivals);
    for (unsigned int left = readers; left != 0; left &= left - 1) {
      const int block = __ffs(static_cast<int>(left)) - 1;
      send(remote(place, block), value, remote(arrival, block));
    }
  }
  __device__ void await_published()
  {
    __syncthreads();
    await(shared().arrivals, incoming_bytes, n_published & 1U);
    ++n_published;
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
  template <int P, int most_warps>
  __device__ double combine(const double *of_warps, const int n_warps)
  {
    const int n_blocks = static_cast<int>(gridDim.x);
    // Two turns: a block may send the next sums while another still waits for these.
    const unsigned int turn = n_combined & 1U;
    double *const sums = shared().sums[turn];
    std::uint64_t *const arrival = shared().arrivals + 1 + turn;
    if (threadIdx.x < warp_size) {
      const double of_block = short_column_sums<P, most_warps>(n_warps, of_warps);
      const int lane = threadIdx.x;
      const unsigned int place = shared_address(sums + rank() * P + lane % P);
      for (int block = lane / P; block < n_blocks; block += warp_size / P)
        send(remote(place, block), of_block, remote(shared_address(arrival), block));
    }
    await(arrival, static_cast<unsigned int>(n_blocks * P * sizeof(double)),
          (n_combined >> 1U) & 1U);
    ++n_combined;
    return short_column_sums<P, most_blocks_of_cluster>(n_blocks, sums);
  }
  /// No block may end while others send to its memory.
  __device__ static void leave()
  {
    meet();
  }

private:
  static constexpr int n_arrivals = 3; // of the exchange vector, and of sums in two turns

  struct Shared
  {
    double sums[2][most_blocks_of_cluster * most_sums];
    std::uint64_t arrivals[n_arrivals]; // mbarriers; a phase ends when all bytes have come
    int first_column, last_column;      // of the block's entries
  };
  __device__ static Shared &shared()
  {
    __shared__ Shared memory;
    return memory;
  }

  __device__ static unsigned int remote(const unsigned int address, const int block)
  {
    unsigned int mapped = address;
#if __CUDA_ARCH__ >= 900
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(block));
#endif
    return mapped;
  }
  __device__ static int fetch_int(const unsigned int address)
  {
    int value = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
#endif
    return value;
  }
  __device__ static void initialise(std::uint64_t *arrival)
  {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\t"
                 "fence.mbarrier_init.release.cluster;" ::"r"(shared_address(arrival))
                 : "memory");
#endif
  }
  /// Writes @p value at @p place of a block, and counts its bytes at @p arrival there.
  __device__ static void send(const unsigned int place, const double value,
                              const unsigned int arrival)
  {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(place),
        "d"(value), "r"(arrival)
        : "memory");
#endif
  }
  /// Waits until @p bytes have come in the phase of that parity.
  __device__ static void await(std::uint64_t *arrival, const unsigned int bytes,
                               const unsigned int parity)
  {
#if __CUDA_ARCH__ >= 900
    const unsigned int address = shared_address(arrival);
    if (threadIdx.x == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address),
                   "r"(bytes)
                   : "memory");
    unsigned int is_over = 0;
    while (is_over == 0)
      asm volatile("{\n\t.reg .pred over;\n\t"
                   "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 over, [%1], %2;\n\t"
                   "selp.u32 %0, 1, 0, over;\n\t}"
                   : "=r"(is_over)
                   : "r"(address), "r"(parity)
                   : "memory");
#endif
  }

  unsigned int incoming_bytes = 0; // of an exchange vector
  unsigned int n_published = 0, n_combined = 0;
};

/// All blocks of the device, which must be there at the same time. The exchange vector is the
/// vector itself, in the memory of the device.
class GridFabric : public Unintroduced, public WithoutGhosts
{
public:
  static constexpr bool publishes_in_shared_memory = false;
  static constexpr bool all_warps_combine = false; // the sums of so many blocks are read once

  __device__ GridFabric(double * /* exchange */, const GridMemory &grid) : memory(grid)
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
  __device__ static void publish(const bool owns, const int i, const unsigned int /* readers */,
                                 const double value, double *vector)
  {
    if (owns)
      vector[i] = value;
  }
  __device__ void await_published()
  {
    meet();
  }
  template <class Function>
  __device__ void await_published(const Function &meanwhile)
  {
    __syncthreads();
    if (threadIdx.x == 0) {
      arrive(memory.arrivals);
      await_all();
    }
    else if (threadIdx.x / warp_size == 1)
      meanwhile();
    __syncthreads();
  }
  __device__ void meet()
  {
    await_published([] {});
  }
  /// By warp 0.
  template <int P, int /* most_warps */>
  __device__ double combine(const double *of_warps, const int n_warps)
  {
    const double of_block = column_sums<P>(n_warps, [&](const int k) { return of_warps[k]; });
    const int lane = threadIdx.x % warp_size;
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
  /// One of the numbers of a SumExchange, on this device.
  __device__ static double over_devices(const int /* number */, const double sum,
                                        const unsigned int /* round */)
  {
    return sum;
  }
  /// The last block leaves the counters as they were: all have passed their last meeting.
  __device__ void leave()
  {
    if (threadIdx.x != 0)
      return;
    if (atomicAdd(memory.arrivals + 1, 1U) == gridDim.x - 1) {
      memory.arrivals[0] = first_arrival;
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
    while (!have_arrived(arrived, expected));
  }

  GridMemory memory;
  unsigned int expected = first_arrival; // of thread 0
  int turn = 0;
};
} // namespace femgpu::linalg::cuda

#endif
