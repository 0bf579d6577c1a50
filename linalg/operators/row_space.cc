#include "linalg/operators/row_space.h"

#include "linalg/execution/backends.h"
#include "linalg/sparse/gather_rows.h"

#include <numeric>
#include <utility>

namespace femgpu::linalg
{
int GhostPlan::n_ghosts() const
{
  int n = 0;
  for (const Neighbour &neighbour : neighbours)
    n += neighbour.n_received;
  return n;
}

RowSpace::RowSpace(ExecutorPtr executor, const int n_rows)
    : owner(std::move(executor)), n_own(n_rows), n_total(n_rows)
{}

RowSpace::RowSpace(ExecutorPtr executor, const int n_rows, CommunicatorPtr communicator)
    : owner(std::move(executor)), n_own(n_rows), parts(std::move(communicator))
{
  const auto own = static_cast<std::size_t>(parts->part());
  std::vector<double> sizes(static_cast<std::size_t>(parts->n_parts()));
  sizes[own] = n_rows;
  parts->sum(sizes.data(), parts->n_parts());
  n_before =
      static_cast<long long>(std::accumulate(sizes.begin(), sizes.begin() + parts->part(), 0.));
  n_total = static_cast<long long>(std::accumulate(sizes.begin(), sizes.end(), 0.));
}

RowSpace::RowSpace(const RowSpace &rows, GhostPlan plan) : RowSpace(rows)
{
  ghosts = std::move(plan);
  std::vector<int> sent_rows;
  for (const GhostPlan::Neighbour &neighbour : ghosts->neighbours)
    sent_rows.insert(sent_rows.end(), neighbour.sent_rows.begin(), neighbour.sent_rows.end());
  memory = std::make_shared<Exchange>();
  memory->sent_rows = Buffer<int>(owner, sent_rows.data(), sent_rows.size());
  memory->packed = Buffer<double>(owner, sent_rows.size());
  memory->sent.resize(sent_rows.size());
  memory->received.resize(static_cast<std::size_t>(ghosts->n_ghosts()));
}

void RowSpace::exchange_ghosts(double *const v) const
{
  Exchange &m = *memory;
  on_backend(owner->backend(), [&](const auto on) {
    gather_rows<typename decltype(on)::Backend>(*owner, v, m.sent_rows, m.packed);
  });
  m.packed.copy_to_host(m.sent.data());
  parts->exchange(*ghosts, m.sent.data(), m.received.data());
  if (!m.received.empty())
    owner->copy_from_host(v + n_own, m.received.data(), m.received.size() * sizeof(double));
}
} // namespace femgpu::linalg
