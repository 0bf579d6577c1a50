#ifndef femgpu_linalg_execution_cuda_peers_peer_ghosts_cuh
#define femgpu_linalg_execution_cuda_peers_peer_ghosts_cuh

#include "linalg/execution/cuda/peers/peer_loop.cuh"
#include "linalg/execution/cuda/peers/peer_memory.h"
#include "linalg/operators/ghost_exchange.h"

#include <optional>
#include <vector>

namespace femgpu::linalg::cuda
{
/**
 * Sends the entries of @p v that neighbours need, and updates @p v with the entries that neighbours
 * have sent. Called by all threads of the channel's blocks, which must be resident at the same
 * time.
 * @tparam adds whether to add the received entries to the rows instead of replacing their values
 * @param pause called before each packet is sent or awaited; for tests
 */
template <bool adds, class Pause = NoPause>
__device__ void exchange_round(const PeerChannel &channel, double *const v, const Pause &pause = {})
{
  const long long begin = clock64();
  const unsigned int round = channel.rounds[blockIdx.x] + 1;
  Packet *const *const targets = channel.targets + round % 2 * channel.n_sent;
  const int first = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int step = static_cast<int>(gridDim.x * blockDim.x);
  for (int k = first; k < channel.n_sent; k += step) {
    const int from = channel.sources[k];
    pause();
    send<SyncScope::devices>(targets[k], pack(from < 0 ? 0. : v[from], round));
  }
  const Packet *const received = channel.received + round % 2 * channel.stride;
  for (int k = first; k < channel.n_entries; k += step) {
    const int row = channel.rows[k];
    pause();
    if constexpr (adds)
      for (int l = channel.offsets[k]; l < channel.offsets[k + 1]; ++l) {
        const double value = await<SyncScope::devices>(received + channel.order[l], round);
        if (row >= 0)
          v[row] += value;
      }
    else {
      const double value = await<SyncScope::devices>(received + k, round);
      if (row >= 0)
        v[row] = value;
    }
  }
  __syncthreads();
  if (threadIdx.x > 0)
    return;
  channel.rounds[blockIdx.x] = round;
  if (blockIdx.x == 0) {
    ++channel.counts->exchanges;
    channel.counts->exchanged_bytes += channel.n_sent * sizeof(Packet);
    channel.counts->exchange_ticks += static_cast<unsigned long long>(clock64() - begin);
  }
}

/// Exchanges the ghosts of vectors on the devices of one host. Kernels send ghosts and wait for
/// ghosts in the form of packets.
class PeerGhosts final : public GhostExchange
{
public:
  /// Allocates the packets and exchanges their addresses with the neighbours. Collective.
  /// @param n number of owned rows
  /// @param memory must outlive this object, as must the memory of @p sums
  PeerGhosts(std::shared_ptr<const CudaExecutor> executor, const Communicator &comm,
             PeerMemory &memory, const PeerSums &sums, int n, const GhostPlan &plan);

  void update_ghost_values(StepRunner &runner, double *v) override;
  void compress(StepRunner &runner, double *v) override;
  const PeerLoop *peer_loop() const override
  {
    return loop.data();
  }

  /// The channel that update_ghost_values() uses.
  const PeerChannel &channel() const
  {
    return forward.view;
  }

private:
  struct Direction;
  struct Entries;
  /// The memory of a channel.
  struct Channel
  {
    Buffer<int> sources, rows, offsets, order;
    Buffer<Packet *> targets;
    Buffer<unsigned int> rounds;
    int blocks = 0;
    PeerChannel view{};
  };

  Channel make_channel(const std::vector<int> &sources, const std::vector<Packet *> &targets,
                       const Entries &entries) const;
  void make_loop(const PeerSums &sums, const Entries &border, const std::vector<Packet *> &targets);
  void run(const Channel &channel, bool adds, StepRunner &runner, double *v) const;

  std::shared_ptr<const CudaExecutor> executor;
  std::optional<PeerMemory::Region> region;
  Channel forward, back;
  Buffer<Packet *> targets_by_rows;
  Buffer<PeerLoop> loop;
};
} // namespace femgpu::linalg::cuda

#endif
