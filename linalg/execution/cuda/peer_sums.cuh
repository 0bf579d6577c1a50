#ifndef femgpu_linalg_execution_cuda_peer_sums_cuh
#define femgpu_linalg_execution_cuda_peer_sums_cuh

#include "linalg/execution/cuda/packet.cuh"
#include "linalg/steps/steps.h"

#include <cstddef>

namespace femgpu::linalg::cuda
{
struct NoPause
{
  __device__ void operator()() const
  {}
};

/// How much a device has sent to its peers, and how long it waited for them, in ticks of its clock.
struct PeerCounts
{
  unsigned long long sums, sum_ticks, exchanges, exchanged_bytes, exchange_ticks;
};

/**
 * Sums over ranks whose devices are on one host. Every rank sends its numbers to all others, and
 * adds up the received numbers in the order of the ranks, so that all ranks get bitwise identical
 * sums. A rank sends the numbers of round k+2 only after it has received the numbers of round k+1
 * from all ranks. By then, all ranks have finished round k. So two buffers for each number suffice,
 * and the counter of rounds may wrap around at 2^32.
 */
struct PeerSums
{
  static constexpr int max_count = 512; ///< maximum number of sums in a round

  int n_ranks = 0; ///< 0: no peers
  int rank;
  Packet *const *targets; ///< where this rank writes its numbers, on the device of each rank
  const Packet *own;      ///< packets from the ranks: two buffers of n_ranks x max_count
  unsigned int *last_round;
  PeerCounts *counts;

  __device__ explicit operator bool() const
  {
    return n_ranks > 0;
  }

  /// Returns the sum of value @p number over all ranks; @p mine is the value of this rank. Any
  /// threads of one block may call it, each with a different @p number below `max_count`; the block
  /// must synchronise before end_round().
  /// @param pause called before and after this rank sends its value
  template <class Pause = NoPause>
  __device__ double sum(const int number, const double mine, const Pause &pause = {}) const
  {
    const unsigned int round = *last_round + 1;
    const std::size_t round_offset = static_cast<std::size_t>(round % 2) * n_ranks * max_count;
    const Packet packet = pack(mine, round);
    pause();
    for (int p = 0; p < n_ranks; ++p)
      if (p != rank)
        send<SyncScope::devices>(targets[p] + round_offset + number, packet);
    pause();
    return received_sum(round_offset, number, mine, round);
  }
  /// Returns the sum of @p mine and the numbers received from the other ranks.
  /// @param round_offset offset of the buffer of @p round
  __device__ double received_sum(const std::size_t round_offset, const int number,
                                 const double mine, const unsigned int round) const
  {
    const Packet *const received = own + round_offset + number;
    return await_sum<SyncScope::devices, 4>(
        0, n_ranks, 1,
        [&](const int p) { return p == rank ? nullptr : received + std::size_t{max_count} * p; },
        mine, round);
  }
  /// Ends the round; called by one thread. @param begin clock64() before the round
  __device__ void end_round(const long long begin) const
  {
    ++*last_round;
    ++counts->sums;
    counts->sum_ticks += static_cast<unsigned long long>(clock64() - begin);
  }
};

/// Replaces each listed member of @p sums by its sum over the ranks; called by the first warp of a
/// block.
template <class Sums, auto... members>
__device__ void sum_over_peers(const PeerSums &peers, Sums &sums, SumList<members...> /* list */)
{
  static_assert(sizeof...(members) <= 32, "each lane has at most one member");
  const long long begin = clock64();
  const int lane = static_cast<int>(threadIdx.x);
  double mine = 0.;
  int number = 0;
  ((mine = lane == number++ ? sums.*members : mine), ...);
  const double lane_total = lane < number ? peers.sum(lane, mine) : 0.;
  __syncwarp();
  if (lane == 0)
    peers.end_round(begin);
  number = 0;
  ((sums.*members = __shfl_sync(~0U, lane_total, number++)), ...);
}
} // namespace femgpu::linalg::cuda

#endif
