#include "linalg/operators/row_space.h"

#include "linalg/base/error.h"

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

RowSpace::RowSpace(ExecutorPtr executor, const int n_rows,
                   std::shared_ptr<const Communicator> communicator)
    : owner(std::move(executor)), n_own(n_rows), parts(std::move(communicator))
{
  if (owner->backend() != BackendKind::host)
    throw DeviceError("Vectors on " + owner->name() +
                      " cannot be parts of distributed ones; use the host backend.");
  double n = n_rows;
  parts->sum(&n, 1);
  n_total = static_cast<long long>(n);
}

RowSpace::RowSpace(const RowSpace &rows, GhostPlan plan) : RowSpace(rows)
{
  ghosts = std::move(plan);
}
} // namespace femgpu::linalg
