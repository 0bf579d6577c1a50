#include "linalg/operators/ghost_exchange.h"

#include "linalg/steps/steps.h"

#include <utility>
#include <vector>

namespace femgpu::linalg
{
PackedExchange::PackedExchange(const Communicator &comm, ExecutorPtr executor, const int n,
                               const GhostPlan &plan)
    : comm(comm), owner(std::move(executor)), n_own(static_cast<std::size_t>(n)),
      counts(plan.counts())
{
  const std::vector<int> rows = plan.sent_rows();
  sent_rows = Buffer<int>(owner, rows.data(), rows.size());
  packed = Buffer<double>(owner, rows.size());
}

void PackedExchange::update_ghost_values(StepRunner &runner, double *const v)
{
  runner.gather(v, sent_rows.data(), static_cast<int>(sent_rows.size()), packed.data());
  comm.exchange_on(owner, counts, sizeof(double), packed.data(), v + n_own);
}

void PackedExchange::compress(StepRunner &runner, double *const v)
{
  comm.exchange_on(owner, reversed(counts), sizeof(double), v + n_own, packed.data());
  std::size_t begin = 0;
  for (const NeighbourCounts &neighbour : counts) { // one by one: several may have the same row
    const std::size_t end = begin + neighbour.n_sent;
    runner.add_to_rows(packed.data() + begin, sent_rows.data() + begin,
                       static_cast<int>(end - begin), v);
    begin = end;
  }
}
} // namespace femgpu::linalg
