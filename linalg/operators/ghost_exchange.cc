#include "linalg/operators/ghost_exchange.h"

#include "linalg/steps/steps.h"

#include <utility>
#include <vector>

namespace femgpu::linalg
{
PackedExchange::PackedExchange(const Communicator &comm, ExecutorPtr executor, const int n,
                               const GhostPlan &plan, const int width)
    : comm(comm), owner(std::move(executor)), n_own(static_cast<std::size_t>(n)), width(width),
      counts(plan.counts())
{
  const std::vector<int> rows = plan.sent_rows();
  sent_rows = Buffer<int>(owner, rows.data(), rows.size());
  packed = Buffer<double>(owner, rows.size() * static_cast<std::size_t>(width));
}

void PackedExchange::update_ghost_values(StepRunner &runner, double *const v)
{
  runner.gather(v, sent_rows.data(), static_cast<int>(sent_rows.size()), packed.data(), width);
  comm.exchange_on(owner, counts, width * sizeof(double), packed.data(), v + n_own * width);
}

void PackedExchange::compress(StepRunner &runner, double *const v)
{
  comm.exchange_on(owner, reversed(counts), width * sizeof(double), v + n_own * width,
                   packed.data());
  std::size_t begin = 0;
  for (const NeighbourCounts &neighbour : counts) { // one by one: several may have the same row
    const std::size_t end = begin + neighbour.n_sent;
    runner.add_to_rows(packed.data() + begin * width, sent_rows.data() + begin,
                       static_cast<int>(end - begin), v, width);
    begin = end;
  }
}
} // namespace femgpu::linalg
