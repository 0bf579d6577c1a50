#ifndef femgpu_linalg_execution_cuda_on_chip_peer_fabric_cuh
#define femgpu_linalg_execution_cuda_on_chip_peer_fabric_cuh

#include "linalg/execution/cuda/on_chip/fabric.cuh"
#include "linalg/execution/cuda/peers/peer_loop.cuh"

#include <cstddef>

namespace femgpu::linalg::cuda
{
/// A fabric of all blocks of several devices, each of which owns the rows of one rank. Values that
/// other devices need are sent as packets; the blocks of a device divide the waiting for packets
/// among them, then synchronise. One block sends the sum over the blocks of a device, and all
/// blocks wait for the sums of the other devices.
class PeerFabric : public GridFabric
{
public:
  static constexpr bool has_ghosts = true;

  __device__ PeerFabric(double *exchange, const GridMemory &grid)
      : GridFabric(exchange, grid), parts(*grid.peers), first_round(*parts.forth.rounds),
        first_sum(*parts.sums.last_round)
  {}
  /// Returns the packets that row i is sent as: the first one plus most_packets times their number.
  __device__ unsigned int readers(const int i, const int /* lane */, const int /* lanes */) const
  {
    int begin = 0, end = parts.n_border;
    while (begin < end) {
      const int middle = (begin + end) / 2;
      if (parts.border_rows[middle] < i)
        begin = middle + 1;
      else
        end = middle;
    }
    if (begin == parts.n_border || parts.border_rows[begin] != i)
      return 0;
    const auto first = static_cast<unsigned int>(parts.begins[begin]),
               next = static_cast<unsigned int>(parts.begins[begin + 1]);
    return (next - first) * PeerLoop::most_packets + first;
  }
  /// @param vector nullptr: it already contains the value
  __device__ void publish(const bool owns, const int i, const unsigned int readers,
                          const double value, double *vector) const
  {
    if (!owns)
      return;
    if (vector != nullptr)
      vector[i] = value;
    if (readers == 0)
      return;
    const unsigned int round = first_round + n_brought + 1;
    const Packet packet = pack(value, round);
    Packet *const *const targets = parts.targets + round % 2 * parts.forth.n_sent;
    const unsigned int first = readers % PeerLoop::most_packets;
    for (unsigned int l = 0; l < readers / PeerLoop::most_packets; ++l)
      send<Among::devices>(targets[first + l], packet);
  }
  /// Waits for this block's share of the ghosts; all ghosts are available after a barrier.
  /// Neighbours that need none of each other's rows exchange no packets here; sums keep them
  /// synchronised.
  __device__ void bring_ghosts(double *vector)
  {
    const unsigned int round = first_round + ++n_brought;
    const Packet *const received = parts.forth.received + round % 2 * parts.forth.stride;
    const int step = static_cast<int>(gridDim.x * blockDim.x);
    for (int k = static_cast<int>(threadIdx.x * gridDim.x + blockIdx.x); k < parts.forth.n_entries;
         k += step) {
      if (const int ghost = parts.forth.rows[k]; ghost >= 0)
        vector[ghost] = await<Among::devices>(received + k, round);
    }
  }
  /// Combines sums; called by warp 0.
  template <int P, int most_warps>
  __device__ double combine(const double *of_warps, const int n_warps)
  {
    double sum = GridFabric::combine<P, most_warps>(of_warps, n_warps);
    const long long begin = clock64();
    ++n_combined;
    const int lane = threadIdx.x % warp_size;
    if (lane < P)
      sum = exchanged(lane, sum, first_sum + n_combined, rank() == 0);
    __syncwarp();
    ticks += clock64() - begin;
    return __shfl_sync(~0U, sum, lane % P);
  }
  /// Returns one of the sums of a SumExchange over the devices; called by one thread. Its rounds
  /// have buffers of their own.
  __device__ double over_devices(const int number, const double mine,
                                 const unsigned int round) const
  {
    return exchanged(most_sums + number, mine, first_sum + round);
  }
  /**
   * Ends the rounds, whose numbers all other devices have read. The next round must not use the
   * buffer of the last round of combine(), which others may still read; the numbers of the
   * SumExchange have been read before.
   * @param n_exchanged rounds of a SumExchange
   */
  __device__ void leave(const unsigned int n_exchanged = 0)
  {
    if (rank() == 0 && threadIdx.x == 0) {
      for (int block = 0; block < parts.forth.n_blocks; ++block)
        parts.forth.rounds[block] += n_brought;
      const unsigned int most = max(n_combined, n_exchanged);
      *parts.sums.last_round += most + (most - n_combined) % 2;
      PeerCounts &counts = *parts.sums.counts;
      counts.sums += n_combined + n_exchanged;
      counts.sum_ticks += static_cast<unsigned long long>(ticks);
      counts.exchanges += n_brought;
      counts.exchanged_bytes +=
          static_cast<unsigned long long>(n_brought) * parts.forth.n_sent * sizeof(Packet);
    }
    GridFabric::leave();
  }

private:
  /// Returns the sum of number @p number over the devices. @param sends whether this block sends
  /// this device's number
  __device__ double exchanged(const int number, const double mine, const unsigned int round,
                              const bool sends = true) const
  {
    const PeerSums &sums = parts.sums;
    const std::size_t of_round =
        static_cast<std::size_t>(round % 2) * sums.n_parts * PeerSums::most;
    for (int part = 0; sends && part < sums.n_parts; ++part)
      if (part != sums.part)
        send<Among::devices>(sums.places[part] + of_round + number, pack(mine, round));
    return sums.received_sum(of_round, number, mine, round);
  }

  const PeerLoop &parts; // in device memory
  unsigned int first_round, first_sum;
  unsigned int n_brought = 0;
  unsigned int n_combined = 0; // of warp 0
  long long ticks = 0;
};
} // namespace femgpu::linalg::cuda

#endif
