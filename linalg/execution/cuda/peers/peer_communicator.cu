#include "linalg/base/timing.h"
#include "linalg/execution/cuda/device_communicator.h"
#include "linalg/execution/cuda/peers/peer_ghosts.cuh"

#include <utility>

namespace femgpu::linalg
{
namespace cuda
{
namespace
{
/// A communicator with which kernels exchange sums and ghosts through memory that all devices can
/// access.
class PeerCommunicator final : public DeviceCommunicator
{
public:
  /// @throws DeviceError, on all ranks, if a rank cannot access the memory of another one
  PeerCommunicator(CommunicatorPtr host_communicator, std::shared_ptr<const CudaExecutor> on)
      : DeviceCommunicator(std::move(host_communicator), std::move(on)), memory(executor, *host),
        packets(memory.allocate(2 * round_bytes())), targets(executor, rank_count()),
        last_round(executor, 1), counts(executor, 1)
  {
    std::vector<Packet *> of_ranks;
    for (int other = 0; other < n_ranks(); ++other)
      of_ranks.push_back(reinterpret_cast<Packet *>(packets.of_rank(other)) +
                         std::size_t{PeerSums::max_count} * static_cast<std::size_t>(rank()));
    targets.copy_from_host(of_ranks.data());
    last_round.fill_zero();
    counts.fill_zero();
    sums = {n_ranks(),         rank(),
            targets.data(),    reinterpret_cast<const Packet *>(packets.own()),
            last_round.data(), counts.data()};
    int kilohertz = 0;
    FEMGPU_CUDA(
        cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, executor->device_number()));
    ticks_per_second = 1e3 * kilohertz;
  }

  std::string name() const override
  {
    return "peers";
  }
  void do_exchange_on(const ExecutorPtr &item_executor, const ExchangeCounts &neighbours,
                      const std::size_t bytes, const void *sent, void *received) const override
  {
    if (item_executor != executor)
      host->exchange_on(item_executor, neighbours, bytes, sent, received);
    else
      copy_to_peers(neighbours, bytes, sent, received);
  }
  std::unique_ptr<GhostExchange> ghost_exchange(const ExecutorPtr &vector_executor, const int n,
                                                const GhostPlan &plan) const override
  {
    if (vector_executor != executor)
      return host->ghost_exchange(vector_executor, n, plan);
    return std::make_unique<PeerGhosts>(executor, *host, memory, sums, n, plan);
  }
  const PeerSums *peer_sums() const override
  {
    return &sums;
  }

  Communication communication() const override
  {
    Communication result = host->communication();
    result.exchanges += rows_sent.exchanges;
    result.exchanged_bytes += rows_sent.exchanged_bytes;
    result.exchange_seconds += rows_sent.exchange_seconds;
    PeerCounts kernel_counts{};
    FEMGPU_CUDA(cudaMemcpyAsync(&kernel_counts, counts.data(), sizeof(kernel_counts),
                                cudaMemcpyDeviceToHost, executor->stream()));
    executor->synchronize();
    result.sums += kernel_counts.sums;
    result.sum_seconds += static_cast<double>(kernel_counts.sum_ticks) / ticks_per_second;
    result.exchanges += kernel_counts.exchanges;
    result.exchanged_bytes += kernel_counts.exchanged_bytes;
    result.exchange_seconds += static_cast<double>(kernel_counts.exchange_ticks) / ticks_per_second;
    return result;
  }

private:
  /// Copies items to the memory of the receiving ranks. Each rank allocates memory for the items
  /// that it receives and publishes their offsets; the items are complete when all ranks have
  /// copied.
  void copy_to_peers(const ExchangeCounts &neighbours, const std::size_t bytes, const void *sent,
                     void *received) const
  {
    const Stopwatch watch;
    std::vector<std::size_t> offsets(rank_count());
    std::size_t n_bytes = 0;
    for (const NeighbourCounts &neighbour : neighbours) {
      offsets[static_cast<std::size_t>(neighbour.rank)] = n_bytes;
      n_bytes += neighbour.n_received * bytes;
    }
    const PeerMemory::Region region = memory.allocate(n_bytes);
    std::vector<std::size_t> all_offsets(rank_count() * rank_count());
    gather(offsets.data(), rank_count() * sizeof(std::size_t), all_offsets.data());
    const auto *from = static_cast<const char *>(sent);
    for (const NeighbourCounts &neighbour : neighbours) {
      const std::size_t begin =
          all_offsets[static_cast<std::size_t>(neighbour.rank) * rank_count() +
                      static_cast<std::size_t>(rank())];
      executor->copy_within(region.of_rank(neighbour.rank) + begin, from, neighbour.n_sent * bytes);
      from += neighbour.n_sent * bytes;
      rows_sent.exchanged_bytes += neighbour.n_sent * bytes;
    }
    executor->synchronize();
    max(0.); // a barrier: all ranks have copied
    executor->copy_within(received, region.own(), n_bytes);
    ++rows_sent.exchanges;
    rows_sent.exchange_seconds += watch.elapsed();
  }

  std::size_t rank_count() const
  {
    return static_cast<std::size_t>(n_ranks());
  }
  std::size_t round_bytes() const
  {
    return PeerSums::max_count * rank_count() * sizeof(Packet);
  }

  mutable PeerMemory memory;
  PeerMemory::Region packets; // packets with which PeerSums sends numbers
  Buffer<Packet *> targets;
  Buffer<unsigned int> last_round;
  mutable Buffer<PeerCounts> counts;
  PeerSums sums;
  mutable Communication rows_sent;
  double ticks_per_second = 1.;
};
} // namespace
} // namespace cuda

DeviceConnection make_peer_communicator(const CommunicatorPtr &comm, const ExecutorPtr &executor,
                                        const bool allow_shared_device)
{
  const auto on = std::static_pointer_cast<const CudaExecutor>(executor);
  if (!allow_shared_device && cuda::ranks_share_device(*comm, *on))
    return {nullptr, "two solver groups share a GPU."};
  return cuda::on_all_or_none(*comm, [&]() -> CommunicatorPtr {
    return std::make_shared<cuda::PeerCommunicator>(comm, on);
  });
}
} // namespace femgpu::linalg
