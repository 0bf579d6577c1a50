#include "linalg/operators/row_space.h"

#include "linalg/base/error.h"

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
  if (owner->backend() != BackendKind::host)
    throw DeviceError("Vectors on " + owner->name() +
                      " cannot be parts of distributed ones; use the host backend.");
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
}
} // namespace femgpu::linalg
