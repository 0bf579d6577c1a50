#ifndef femgpu_linalg_execution_cuda_peers_peer_loop_cuh
#define femgpu_linalg_execution_cuda_peers_peer_loop_cuh

#include "linalg/execution/cuda/peer_sums.cuh"

#include <cstddef>

namespace femgpu::linalg::cuda
{
/// One direction of a ghost exchange, in the form that kernels take. Two neighbours send each other
/// at least one packet in each round, so that neither is more than one round ahead, and two buffers
/// for each packet suffice.
struct PeerChannel
{
  int n_sent, n_entries;
  const int *sources;     ///< row of the vector that each packet sends; -1: it only synchronises
  Packet *const *targets; ///< addresses to which packets are written: for even rounds, then for
                          ///< odd rounds
  const int *rows;        ///< row of the vector that receives each entry; -1: none
  const int *offsets;     ///< where the packets of each entry begin in `order`
  const int *order;       ///< packets sorted by entries; nullptr: entry k is packet k
  const Packet *received; ///< packets of even rounds
  std::size_t stride;     ///< distance between the packets of even and of odd rounds
  unsigned int *rounds;   ///< number of the last round of each block
  int n_blocks;
  PeerCounts *counts;
};

/**
 * The data by which resident loops (loops that are one kernel) of several devices exchange sums and
 * ghosts. Between two products all ranks compute a sum; so no packet arrives before the preceding
 * packet in the same buffer has been read.
 */
struct PeerLoop
{
  /// The maximum number of packets that a rank sends per round.
  static constexpr unsigned int max_packets = 1U << 25U;
  static constexpr int max_ranks = 128;

  PeerSums sums;
  PeerChannel forward;
  int n_border;           ///< number of border rows
  const int *border_rows; ///< owned rows that are ghosts of other ranks, in ascending order, or -1
  const int *offsets;     ///< where the packets of each border row begin in `targets`
  Packet *const *targets; ///< targets of `forward`, ordered by border rows: of even rounds, then of
                          ///< odd ones
};
} // namespace femgpu::linalg::cuda

#endif
