#ifndef femgpu_linalg_execution_cuda_peers_peer_loop_cuh
#define femgpu_linalg_execution_cuda_peers_peer_loop_cuh

#include "linalg/execution/cuda/peer_sums.cuh"

#include <cstddef>

namespace femgpu::linalg::cuda
{
/// One way of an exchange, as a kernel sees it. Two neighbours send each other one packet at least,
/// so that none is more than a round ahead: two places for each packet are enough.
struct PeerChannel
{
  int n_sent, n_entries;
  const int *sources;     ///< of what is sent: places in the vector, or -1
  Packet *const *targets; ///< where it goes to in even rounds, then in odd ones
  const int *rows;        ///< that entries go to: places in the vector, or -1
  const int *begins;      ///< of the packets of each entry in `order`
  const int *order;       ///< of the packets; nullptr: entry k is packet k
  const Packet *received; ///< in even rounds
  std::size_t stride;     ///< to those of odd ones
  unsigned int *rounds;   ///< the last one of each block
  int n_blocks;
  PeerCounts *counts;
};

/**
 * What the resident loops of several devices tell each other: sums, and ghosts by the packets of
 * one channel. Between two products all parts add up a sum; so no packet comes before the one in
 * its place has been read.
 */
struct PeerLoop
{
  static constexpr unsigned int most_packets = 1U << 25U; ///< that a part sends
  static constexpr int most_parts = 128;

  PeerSums sums;
  PeerChannel forth;
  int n_border;           ///< entries of these:
  const int *border_rows; ///< own rows that others have as ghosts, or -1; they ascend
  const int *begins;      ///< of the packets of each of them in `targets`
  Packet *const *targets; ///< those of `forth`, in this order: of even rounds, then of odd ones
};
} // namespace femgpu::linalg::cuda

#endif
