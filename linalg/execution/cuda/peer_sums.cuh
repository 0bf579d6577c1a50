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

/// What a device has told its peers, and what it waited for them; ticks are those of its clock.
struct PeerCounts
{
  unsigned long long sums, sum_ticks, exchanges, exchanged_bytes, exchange_ticks;
};

/**
 * Sums over parts of the rows that are on devices of one host. Every part sends its numbers to all
 * others, and adds up what has come in the parts' order, so all get the same bits. A part sends the
 * numbers of the round after the next only when it has those of the next from all, who have then
 * ended this one; so two places for each number are enough, and rounds may count beyond 2^32.
 */
struct PeerSums
{
  static constexpr int most = 512; ///< numbers of one round

  int n_parts = 0; ///< 0: no peers
  int part;
  Packet *const *places; ///< of the numbers of this part, on the device of each
  const Packet *own;     ///< that come from the parts, n_parts x most for each of two rounds
  unsigned int *last_round;
  PeerCounts *counts;

  __device__ explicit operator bool() const
  {
    return n_parts > 0;
  }

  /// Gives the sum of number @p number, which each part has of its own. By any threads, each with
  /// another number below `most`, of one block; it has to meet before end_round().
  /// @param pause as exchange_round() takes it
  template <class Pause = NoPause>
  __device__ double sum(const int number, const double mine, const Pause &pause = {}) const
  {
    const unsigned int round = *last_round + 1;
    const std::size_t of_round = static_cast<std::size_t>(round % 2) * n_parts * most;
    const Packet packet = pack(mine, round);
    pause();
    for (int p = 0; p < n_parts; ++p)
      if (p != part)
        send<Among::devices>(places[p] + of_round + number, packet);
    pause();
    return received_sum(of_round, number, mine, round);
  }
  /// The numbers that have come from the parts, and @p mine.
  /// @param of_round where those of @p round begin
  __device__ double received_sum(const std::size_t of_round, const int number, const double mine,
                                 const unsigned int round) const
  {
    const Packet *const received = own + of_round + number;
    return await_sum<Among::devices, 4>(
        0, n_parts, 1,
        [&](const int p) { return p == part ? nullptr : received + std::size_t{most} * p; }, mine,
        round);
  }
  /// By one thread. @param begin clock64() before the round
  __device__ void end_round(const long long begin) const
  {
    ++*last_round;
    ++counts->sums;
    counts->sum_ticks += static_cast<unsigned long long>(clock64() - begin);
  }
};

/// Replaces these members by their sums over the parts, by the first warp of a block.
template <class Sums, auto... members>
__device__ void sum_over_peers(const PeerSums &peers, Sums &sums, SumList<members...> /* list */)
{
  static_assert(sizeof...(members) <= 32, "a lane has one");
  const long long begin = clock64();
  const int lane = static_cast<int>(threadIdx.x);
  double mine = 0.;
  int number = 0;
  ((mine = lane == number++ ? sums.*members : mine), ...);
  const double of_all = lane < number ? peers.sum(lane, mine) : 0.;
  __syncwarp();
  if (lane == 0)
    peers.end_round(begin);
  number = 0;
  ((sums.*members = __shfl_sync(~0U, of_all, number++)), ...);
}
} // namespace femgpu::linalg::cuda

#endif
