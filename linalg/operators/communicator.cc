#include "linalg/operators/communicator.h"

#include "linalg/operators/ghost_exchange.h"

#include <algorithm>

namespace femgpu::linalg
{
std::vector<int> GhostPlan::sent_rows() const
{
  std::vector<int> rows;
  for (const Neighbour &neighbour : neighbours)
    rows.insert(rows.end(), neighbour.sent_rows.begin(), neighbour.sent_rows.end());
  return rows;
}

GhostPlan reversed(const GhostPlan &plan)
{
  GhostPlan result;
  for (const GhostPlan::Neighbour &neighbour : plan.neighbours)
    result.neighbours.push_back({neighbour.part,
                                 std::vector<int>(static_cast<std::size_t>(neighbour.n_received)),
                                 static_cast<int>(neighbour.sent_rows.size())});
  return result;
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

std::unique_ptr<GhostExchange>
Communicator::ghost_exchange(const ExecutorPtr &executor, const int n, const GhostPlan &plan) const
{
  return std::make_unique<ExchangeThroughHost>(*this, executor, n, plan);
}

#ifndef FEMGPU_HAVE_CUDA
Peers with_peers(const CommunicatorPtr & /* parts */, const ExecutorPtr & /* executor */,
                 const bool /* may_share_a_device */)
{
  return {nullptr, "this femgpu was built without CUDA."};
}
#endif
} // namespace femgpu::linalg
