#include "linalg/operators/ghost_exchange.h"

#include "linalg/execution/backends.h"
#include "linalg/sparse/gather_rows.h"

#include <utility>

namespace femgpu::linalg
{
ExchangeThroughHost::ExchangeThroughHost(const Communicator &parts, ExecutorPtr executor,
                                         const int n, const GhostPlan &plan)
    : parts(parts), owner(std::move(executor)), n_own(static_cast<std::size_t>(n)),
      counts(plan.counts())
{
  const std::vector<int> rows = plan.sent_rows();
  sent_rows = Buffer<int>(owner, rows.data(), rows.size());
  packed = Buffer<double>(owner, rows.size());
  sent.resize(rows.size());
  received.resize(static_cast<std::size_t>(plan.n_ghosts()));
}

void ExchangeThroughHost::bring(StepRunner &runner, double *const v)
{
  on_backend(owner->backend(), [&](const auto on) {
    gather_rows<typename decltype(on)::Backend>(runner, v, sent_rows, packed);
  });
  packed.copy_to_host(sent.data());
  parts.exchange(counts, sizeof(double), sent.data(), received.data());
  if (!received.empty())
    owner->copy_from_host(v + n_own, received.data(), received.size() * sizeof(double));
}

void ExchangeThroughHost::give_back(StepRunner &runner, double *const v)
{
  if (!received.empty())
    owner->copy_to_host(received.data(), v + n_own, received.size() * sizeof(double));
  parts.exchange(reversed(counts), sizeof(double), received.data(), sent.data());
  packed.copy_from_host(sent.data());
  std::size_t begin = 0;
  for (const NeighbourCounts &neighbour : counts) { // who may share rows
    const std::size_t end = begin + neighbour.n_sent;
    on_backend(owner->backend(), [&](const auto on) {
      add_to_rows<typename decltype(on)::Backend>(runner, packed.data() + begin,
                                                  sent_rows.data() + begin,
                                                  static_cast<int>(end - begin), v);
    });
    begin = end;
  }
}
} // namespace femgpu::linalg
