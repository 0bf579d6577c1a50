#ifndef femgpu_linalg_execution_cuda_on_chip_peer_fabric_cuh
#define femgpu_linalg_execution_cuda_on_chip_peer_fabric_cuh

#include "linalg/execution/cuda/on_chip/fabric.cuh"
#include "linalg/execution/cuda/peers/peer_loop.cuh"

#include <cstddef>

namespace femgpu::linalg::cuda
{
/// A fabric of all blocks of several devices; each device owns the rows of one rank. Values that
/// other devices need are sent as packets. Each block of a device waits for a share of the packets
/// that the device receives, then the blocks synchronise. One block sends the sum over the blocks
/// of a device, and all blocks wait for the sums of the other devices.
class PeerFabric : public GridFabric
{
public:
  static constexpr bool has_ghosts = true;

  __device__ PeerFabric(double *exchange, const GridMemory &grid)
      : GridFabric(exchange, grid), peers(*grid.peers), first_round(*peers.forward.rounds),
        first_sum(*peers.sums.last_round)
  {}
  /// Returns the packets in which row i is sent, as one integer: the index of the first packet plus
  /// max_packets times the number of packets.
  __device__ unsigned int readers(const int i, const int /* lane */, const int /* lanes */) const
  {
    int begin = 0, end = peers.n_border;
    while (begin < end) {
      const int middle = (begin + end) / 2;
      if (peers.border_rows[middle] < i)
        begin = middle + 1;
      else
        end = middle;
    }
    if (begin == peers.n_border || peers.border_rows[begin] != i)
      return 0;
    const auto first = static_cast<unsigned int>(peers.offsets[begin]),
               next = static_cast<unsigned int>(peers.offsets[begin + 1]);
    return (next - first) * PeerLoop::max_packets + first;
  }
  /// Publishes row i, and sends it to the devices that need it.
  /// @param vector the exchange vector; nullptr: the vector already contains the value
  __device__ void publish(const bool owns, const int i, const unsigned int readers,
                          const double value, double *vector) const
  {
    if (!owns)
      return;
    if (vector != nullptr)
      vector[i] = value;
    if (readers == 0)
      return;
    const unsigned int round = first_round + n_ghost_rounds + 1;
    const Packet packet = pack(value, round);
    Packet *const *const targets = peers.targets + round % 2 * peers.forward.n_sent;
    const unsigned int first = readers % PeerLoop::max_packets;
    for (unsigned int l = 0; l < readers / PeerLoop::max_packets; ++l)
      send<SyncScope::devices>(targets[first + l], packet);
  }
  /// Waits for this block's share of the ghosts; all ghosts are available after a barrier.
  /// Neighbours that need none of each other's rows exchange no packets here; sums keep them
  /// synchronised.
  __device__ void update_ghost_values(double *vector)
  {
    const unsigned int round = first_round + ++n_ghost_rounds;
    const Packet *const received = peers.forward.received + round % 2 * peers.forward.stride;
    const int step = static_cast<int>(gridDim.x * blockDim.x);
    for (int k = static_cast<int>(threadIdx.x * gridDim.x + blockIdx.x);
         k < peers.forward.n_entries; k += step) {
      if (const int ghost = peers.forward.rows[k]; ghost >= 0)
        vector[ghost] = await<SyncScope::devices>(received + k, round);
    }
  }
  /// Combines the sums of all blocks of all devices; called by warp 0.
  template <int P, int max_warps>
  __device__ double combine(const double *warp_sums, const int n_warps)
  {
    double sum = GridFabric::combine<P, max_warps>(warp_sums, n_warps);
    const long long begin = clock64();
    ++n_combined;
    const int lane = threadIdx.x % warp_size;
    if (lane < P)
      sum = exchange_sum(lane, sum, first_sum + n_combined, rank() == 0);
    __syncwarp();
    ticks += clock64() - begin;
    return __shfl_sync(~0U, sum, lane % P);
  }
  /// Returns the sum of value @p number of a SumExchange over the devices; @p mine is the value of
  /// this device. Called by one thread. A SumExchange uses different packets from combine().
  __device__ double sum_over_devices(const int number, const double mine,
                                     const unsigned int round) const
  {
    return exchange_sum(max_sums + number, mine, first_sum + round);
  }
  /**
   * Adds the rounds of this kernel to the counters in device memory. The next round must not use
   * the buffer of the last round of combine(), which other devices may still read. All devices have
   * already read the values of the SumExchange.
   * @param n_exchanged number of rounds of the SumExchange
   */
  __device__ void finalize(const unsigned int n_exchanged = 0)
  {
    if (rank() == 0 && threadIdx.x == 0) {
      for (int block = 0; block < peers.forward.n_blocks; ++block)
        peers.forward.rounds[block] += n_ghost_rounds;
      const unsigned int max_count = max(n_combined, n_exchanged);
      *peers.sums.last_round += max_count + (max_count - n_combined) % 2;
      PeerCounts &counts = *peers.sums.counts;
      counts.sums += n_combined + n_exchanged;
      counts.sum_ticks += static_cast<unsigned long long>(ticks);
      counts.exchanges += n_ghost_rounds;
      counts.exchanged_bytes +=
          static_cast<unsigned long long>(n_ghost_rounds) * peers.forward.n_sent * sizeof(Packet);
    }
    GridFabric::finalize();
  }

private:
  /// Returns the sum of value @p number over the devices; @p mine is the value of this device.
  /// @param sends whether this block sends this device's value to the other devices
  __device__ double exchange_sum(const int number, const double mine, const unsigned int round,
                                 const bool sends = true) const
  {
    const PeerSums &sums = peers.sums;
    const std::size_t round_offset =
        static_cast<std::size_t>(round % 2) * sums.n_ranks * PeerSums::max_count;
    for (int rank = 0; sends && rank < sums.n_ranks; ++rank)
      if (rank != sums.rank)
        send<SyncScope::devices>(sums.targets[rank] + round_offset + number, pack(mine, round));
    return sums.received_sum(round_offset, number, mine, round);
  }

  const PeerLoop &peers; // in device memory
  unsigned int first_round, first_sum;
  unsigned int n_ghost_rounds = 0;
  unsigned int n_combined = 0; // number of calls of combine() by warp 0
  long long ticks = 0;
};
} // namespace femgpu::linalg::cuda

#endif
