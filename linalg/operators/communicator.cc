#include "linalg/operators/communicator.h"

#include "linalg/operators/ghost_exchange.h"

#include <algorithm>
#include <utility>

namespace femgpu::linalg
{
std::vector<int> GhostPlan::sent_rows() const
{
  std::vector<int> rows;
  for (const Neighbour &neighbour : neighbours)
    rows.insert(rows.end(), neighbour.sent_rows.begin(), neighbour.sent_rows.end());
  return rows;
}

ExchangeCounts GhostPlan::counts() const
{
  ExchangeCounts result;
  for (const Neighbour &neighbour : neighbours)
    result.push_back({neighbour.part, neighbour.sent_rows.size(),
                      static_cast<std::size_t>(neighbour.n_received)});
  return result;
}

ExchangeCounts reversed(ExchangeCounts counts)
{
  for (NeighbourCounts &neighbour : counts)
    std::swap(neighbour.n_sent, neighbour.n_received);
  return counts;
}

void Communicator::sum(double *const values, const int n) const
{
  const auto count = static_cast<std::size_t>(n);
  std::vector<double> all(count * static_cast<std::size_t>(n_parts()));
  gather(values, count * sizeof(double), all.data());
  std::fill_n(values, count, 0.);
  for (std::size_t k = 0; k < all.size(); ++k)
    values[k % count] += all[k];
}

double Communicator::max(const double value) const
{
  std::vector<double> all(static_cast<std::size_t>(n_parts()));
  gather(&value, sizeof(double), all.data());
  return *std::max_element(all.begin(), all.end());
}

void Communicator::exchange_on(const ExecutorPtr &executor, const ExchangeCounts &counts,
                               const std::size_t bytes, const void *sent, void *received) const
{
  if (executor->backend() == BackendKind::host)
    return exchange(counts, bytes, sent, received);
  std::size_t n_sent = 0, n_received = 0;
  for (const NeighbourCounts &neighbour : counts) {
    n_sent += neighbour.n_sent;
    n_received += neighbour.n_received;
  }
  sent_on_host.resize(n_sent * bytes);
  received_on_host.resize(n_received * bytes);
  if (n_sent > 0)
    executor->copy_to_host(sent_on_host.data(), sent, sent_on_host.size());
  exchange(counts, bytes, sent_on_host.data(), received_on_host.data());
  if (n_received > 0)
    executor->copy_from_host(received, received_on_host.data(), received_on_host.size());
}

std::unique_ptr<GhostExchange>
Communicator::ghost_exchange(const ExecutorPtr &executor, const int n, const GhostPlan &plan) const
{
  return std::make_unique<PackedExchange>(*this, executor, n, plan);
}

#ifndef FEMGPU_HAVE_CUDA
DeviceParts with_peers(const CommunicatorPtr & /* parts */, const ExecutorPtr & /* executor */,
                       const bool /* may_share_a_device */)
{
  return {nullptr, "this femgpu was built without CUDA."};
}
#endif
#ifndef FEMGPU_HAVE_NCCL
DeviceParts with_nccl(const CommunicatorPtr & /* parts */, const ExecutorPtr & /* executor */)
{
  return {nullptr, "this femgpu was built without NCCL, whose nccl.h was not found."};
}
#endif
} // namespace femgpu::linalg
