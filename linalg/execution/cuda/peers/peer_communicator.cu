#include "linalg/base/timing.h"
#include "linalg/execution/cuda/devices_of_parts.h"
#include "linalg/execution/cuda/peers/peer_ghosts.cuh"

#include <utility>

namespace femgpu::linalg
{
namespace cuda
{
namespace
{
/// Sums of steps and ghosts are exchanged by kernels, through memory that all devices can access.
class PeerCommunicator final : public DeviceCommunicator
{
public:
  /// @throws DeviceError, on all ranks, if one of them cannot access the memory of another one
  PeerCommunicator(CommunicatorPtr of_hosts, std::shared_ptr<const CudaExecutor> on)
      : DeviceCommunicator(std::move(of_hosts), std::move(on)), memory(executor, *host),
        packets(memory.allocate(2 * bytes_of_round())), places(executor, n_of_parts()),
        last_round(executor, 1), counts(executor, 1)
  {
    std::vector<Packet *> of_parts;
    for (int other = 0; other < n_parts(); ++other)
      of_parts.push_back(reinterpret_cast<Packet *>(packets.of_part(other)) +
                         std::size_t{PeerSums::most} * static_cast<std::size_t>(part()));
    places.copy_from_host(of_parts.data());
    last_round.fill_zero();
    counts.fill_zero();
    sums = {n_parts(),         part(),
            places.data(),     reinterpret_cast<const Packet *>(packets.own()),
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
  void do_exchange_on(const ExecutorPtr &of_items, const ExchangeCounts &neighbours,
                      const std::size_t bytes, const void *sent, void *received) const override
  {
    if (of_items != executor)
      host->exchange_on(of_items, neighbours, bytes, sent, received);
    else
      copy_to_peers(neighbours, bytes, sent, received);
  }
  std::unique_ptr<GhostExchange> ghost_exchange(const ExecutorPtr &of_vectors, const int n,
                                                const GhostPlan &plan) const override
  {
    if (of_vectors != executor)
      return host->ghost_exchange(of_vectors, n, plan);
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
    PeerCounts of_kernels{};
    FEMGPU_CUDA(cudaMemcpyAsync(&of_kernels, counts.data(), sizeof(of_kernels),
                                cudaMemcpyDeviceToHost, executor->stream()));
    executor->synchronize();
    result.sums += of_kernels.sums;
    result.sum_seconds += static_cast<double>(of_kernels.sum_ticks) / ticks_per_second;
    result.exchanges += of_kernels.exchanges;
    result.exchanged_bytes += of_kernels.exchanged_bytes;
    result.exchange_seconds += static_cast<double>(of_kernels.exchange_ticks) / ticks_per_second;
    return result;
  }

private:
  /// Copies rows directly: each rank allocates memory for the rows that it receives and publishes
  /// the offsets; the rows are complete when all ranks have copied.
  void copy_to_peers(const ExchangeCounts &neighbours, const std::size_t bytes, const void *sent,
                     void *received) const
  {
    const Stopwatch watch;
    std::vector<std::size_t> begins(n_of_parts());
    std::size_t n_bytes = 0;
    for (const NeighbourCounts &neighbour : neighbours) {
      begins[static_cast<std::size_t>(neighbour.part)] = n_bytes;
      n_bytes += neighbour.n_received * bytes;
    }
    const PeerMemory::Region room = memory.allocate(n_bytes);
    std::vector<std::size_t> all_begins(n_of_parts() * n_of_parts());
    gather(begins.data(), n_of_parts() * sizeof(std::size_t), all_begins.data());
    const auto *from = static_cast<const char *>(sent);
    for (const NeighbourCounts &neighbour : neighbours) {
      const std::size_t begin = all_begins[static_cast<std::size_t>(neighbour.part) * n_of_parts() +
                                           static_cast<std::size_t>(part())];
      executor->copy_inside(room.of_part(neighbour.part) + begin, from, neighbour.n_sent * bytes);
      from += neighbour.n_sent * bytes;
      rows_sent.exchanged_bytes += neighbour.n_sent * bytes;
    }
    executor->synchronize();
    max(0.); // a barrier: all have copied
    executor->copy_inside(received, room.own(), n_bytes);
    ++rows_sent.exchanges;
    rows_sent.exchange_seconds += watch.elapsed();
  }

  std::size_t n_of_parts() const
  {
    return static_cast<std::size_t>(n_parts());
  }
  std::size_t bytes_of_round() const
  {
    return PeerSums::most * n_of_parts() * sizeof(Packet);
  }

  mutable PeerMemory memory;
  PeerMemory::Region packets; // of sums
  Buffer<Packet *> places;
  Buffer<unsigned int> last_round;
  mutable Buffer<PeerCounts> counts;
  PeerSums sums;
  mutable Communication rows_sent;
  double ticks_per_second = 1.;
};
} // namespace
} // namespace cuda

DeviceParts with_peers(const CommunicatorPtr &parts, const ExecutorPtr &executor,
                       const bool may_share_a_device)
{
  const auto on = std::static_pointer_cast<const CudaExecutor>(executor);
  if (!may_share_a_device && cuda::share_a_device(*parts, *on))
    return {nullptr, "two solver groups share a GPU."};
  return cuda::on_all_or_none(*parts, [&]() -> CommunicatorPtr {
    return std::make_shared<cuda::PeerCommunicator>(parts, on);
  });
}
} // namespace femgpu::linalg
