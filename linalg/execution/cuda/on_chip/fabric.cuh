#ifndef femgpu_linalg_execution_cuda_on_chip_fabric_cuh
#define femgpu_linalg_execution_cuda_on_chip_fabric_cuh

#include "linalg/execution/cuda/executor.h"
#include "linalg/execution/cuda/reduce.cuh"
#include "linalg/steps/arrival_count.h"

#include <climits>
#include <cstdint>

/**
 * @file
 * A fabric defines how the threads of a resident kernel (a whole loop in one kernel) cooperate: how
 * they synchronise, how they publish the exchange vector (the vector that the matrix multiplies) to
 * all threads, and how they combine sums. A fabric connects the threads of one block, of one
 * cluster of blocks (by distributed shared memory), or of all blocks of the device.
 *
 * Every sum has a fixed order. The threads that own the rows of the exchange vector publish their
 * values. All threads await the values, then fetch them by the addresses that address() has
 * returned for columns. Sums are combined after the fetches, and no vector is published before all
 * blocks have combined the sums.
 */
namespace femgpu::linalg::cuda
{
constexpr int max_warps_per_block = 32;
constexpr int max_blocks_per_cluster = 16;

__device__ __forceinline__ unsigned int shared_address(const void *pointer)
{
  return static_cast<unsigned int>(__cvta_generic_to_shared(pointer));
}

/// A base class of fabrics in which all rows of the exchange vector are on this device.
class WithoutGhosts
{
public:
  static constexpr bool has_ghosts = false;
  __device__ static void update_ghost_values(double * /* vector */)
  {}
};

/// A base class of fabrics whose blocks hold the whole exchange vector in shared memory.
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

/// A base class of fabrics whose blocks need not determine which blocks read which rows.
class WithoutColumnRanges
{
public:
  /// Called once by all threads, with the range of the block's rows and of its entries' columns.
  __device__ static void exchange_column_ranges(const int /* first_row */, const int /* end_row */,
                                                const int /* first_column */,
                                                const int /* last_column */)
  {}
  /// Returns the blocks to which publish() sends row i, in the form that publish() expects.
  __device__ static unsigned int readers(const int /* i */, const int /* lane */,
                                         const int /* lanes */)
  {
    return 0;
  }
};

/// A fabric of one block.
class BlockFabric : public SharedExchange, public WithoutColumnRanges
{
public:
  __device__ BlockFabric(double *exchange, const GridMemory & /* grid */) : SharedExchange(exchange)
  {}
  __device__ static int rank()
  {
    return 0;
  }
  /// Publishes row i. Called by all lanes of the row; @p owns is true in the first lane.
  __device__ void publish(const bool owns, const int i, const unsigned int /* readers */,
                          const double value, double * /* vector */) const
  {
    if (owns)
      exchange[i] = value;
  }
  /// Waits until all published values are available.
  __device__ static void await_published()
  {
    __syncthreads();
  }
  /// Waits until all published values are available, while the second warp runs @p overlapped_work.
  /// The results of this work are then available to the block, too.
  template <class Function>
  __device__ static void await_published(const Function &overlapped_work)
  {
    __syncthreads();
    if (threadIdx.x / warp_size == 1)
      overlapped_work();
    __syncthreads();
  }
  __device__ static void barrier()
  {
    __syncthreads();
  }
  /// Adds up each of P sums over @p n_warps warps, whose sums are in @p warp_sums. Called by whole
  /// warps; lane l gets sum number l mod P over all threads.
  template <int P, int max_warps>
  __device__ static double combine(const double *warp_sums, const int n_warps)
  {
    return short_column_sums<P, max_warps>(n_warps, warp_sums);
  }
  /// Called before a block ends. Does nothing, because there are no other blocks.
  __device__ static void finalize()
  {}
};

/**
 * A fabric of one cluster. As soon as a value of the exchange vector is known, it is sent to the
 * blocks whose range of columns includes its row. Blocks wait for arriving bytes, not for each
 * other: data cross the network once, while a cluster barrier would cross it twice.
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
  __device__ void exchange_column_ranges(const int first_row, const int end_row,
                                         const int first_column, const int last_column)
  {
    __syncthreads();
    Shared &mine = shared();
    const int first = __reduce_min_sync(~0U, first_column);
    const int last = __reduce_max_sync(~0U, last_column);
    if (threadIdx.x % warp_size == 0 && last >= first) {
      atomicMin(&mine.first_column, first);
      atomicMax(&mine.last_column, last);
    }
    barrier();
    const int n_columns = max(0, mine.last_column - mine.first_column + 1);
    const int own = max(0, min(end_row, mine.last_column + 1) - max(first_row, mine.first_column));
    incoming_bytes = static_cast<unsigned int>(n_columns - own) * sizeof(double);
  }
  /// Returns the blocks to which this lane sends row i, one bit for each block. The lanes of a row
  /// divide the blocks among themselves.
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
    const unsigned int target = shared_address(exchange + i);
    const unsigned int arrival = shared_address(shared().arrivals);
    for (unsigned int left = readers; left != 0; left &= left - 1) {
      const int block = __ffs(static_cast<int>(left)) - 1;
      send(remote(target, block), value, remote(arrival, block));
    }
  }
  __device__ void await_published()
  {
    __syncthreads();
    await(shared().arrivals, incoming_bytes, n_published & 1U);
    ++n_published;
  }
  __device__ static void barrier()
  {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\n\t"
                 "barrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
#endif
  }
  /// Combines sums: every block sends its sums to all blocks.
  template <int P, int max_warps>
  __device__ double combine(const double *warp_sums, const int n_warps)
  {
    const int n_blocks = static_cast<int>(gridDim.x);
    // Two buffers: a block may send the next sums while another block still waits for these sums.
    const unsigned int buffer = n_combined & 1U;
    double *const sums = shared().sums[buffer];
    std::uint64_t *const arrival = shared().arrivals + 1 + buffer;
    if (threadIdx.x < warp_size) {
      const double block_total = short_column_sums<P, max_warps>(n_warps, warp_sums);
      const int lane = threadIdx.x;
      const unsigned int target = shared_address(sums + rank() * P + lane % P);
      for (int block = lane / P; block < n_blocks; block += warp_size / P)
        send(remote(target, block), block_total, remote(shared_address(arrival), block));
    }
    await(arrival, static_cast<unsigned int>(n_blocks * P * sizeof(double)),
          (n_combined >> 1U) & 1U);
    ++n_combined;
    return short_column_sums<P, max_blocks_per_cluster>(n_blocks, sums);
  }
  /// Waits for all blocks: none may end while others write to its shared memory.
  __device__ static void finalize()
  {
    barrier();
  }

private:
  static constexpr int n_arrivals = 3; // one for the exchange vector, and one per buffer of sums

  struct Shared
  {
    double sums[2][max_blocks_per_cluster * max_sums];
    std::uint64_t arrivals[n_arrivals]; // mbarriers; a phase ends when all bytes have arrived
    int first_column, last_column;      // range of the columns of the block's entries
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
  /// Writes @p value to the address @p target in the shared memory of a block, and counts its bytes
  /// at the mbarrier @p arrival of the same block.
  __device__ static void send(const unsigned int target, const double value,
                              const unsigned int arrival)
  {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(target),
        "d"(value), "r"(arrival)
        : "memory");
#endif
  }
  /// Waits until @p bytes bytes have arrived at the mbarrier @p arrival in the phase with the given
  /// @p parity.
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

  unsigned int incoming_bytes = 0; // bytes of an exchange vector that other blocks send
  unsigned int n_published = 0, n_combined = 0;
};

/// A fabric of all blocks of the device, which must be resident at the same time. The exchange
/// vector is the vector itself, in device memory.
class GridFabric : public WithoutColumnRanges, public WithoutGhosts
{
public:
  static constexpr bool publishes_in_shared_memory = false;
  static constexpr bool all_warps_combine = false; // so that the sums of many blocks are read once

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
    // Through L1: values that the multiprocessor has read since the last barrier need not be
    // fetched again.
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
    barrier();
  }
  template <class Function>
  __device__ void await_published(const Function &overlapped_work)
  {
    __syncthreads();
    if (threadIdx.x == 0) {
      arrive(memory.arrivals);
      await_all();
    }
    else if (threadIdx.x / warp_size == 1)
      overlapped_work();
    __syncthreads();
  }
  __device__ void barrier()
  {
    await_published([] {});
  }
  /// Combines the sums of all blocks; called by warp 0.
  template <int P, int /* max_warps */>
  __device__ double combine(const double *warp_sums, const int n_warps)
  {
    const double block_total = column_sums<P>(n_warps, [&](const int k) { return warp_sums[k]; });
    const int lane = threadIdx.x % warp_size;
    buffer ^= 1; // a block may store the next sums while another block still reads these sums
    double *const sums = memory.sums + buffer * static_cast<int>(gridDim.x) * max_sums;
    if (lane < P)
      __stcg(sums + rank() * P + lane, block_total);
    __syncwarp();
    if (lane == 0) {
      arrive(memory.arrivals);
      await_all();
    }
    __syncwarp();
    return column_sums<P>(static_cast<int>(gridDim.x),
                          [&](const int k) { return __ldcg(sums + k); });
  }
  /// Returns a sum of a SumExchange over the devices: @p sum itself, because there is one device.
  __device__ static double sum_over_devices(const int /* number */, const double sum,
                                            const unsigned int /* round */)
  {
    return sum;
  }
  /// Resets the counters if this block is the last one to end: all blocks have then passed their
  /// last barrier.
  __device__ void finalize()
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
  /// Waits until all blocks have arrived as often as this one; called by one thread of a block.
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
  unsigned int expected = first_arrival; // number of arrivals that thread 0 expects
  int buffer = 0;
};
} // namespace femgpu::linalg::cuda

#endif
