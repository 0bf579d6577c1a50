#include "linalg/operators/row_space.h"

#include <algorithm>
#include <utility>

namespace femgpu::linalg
{
int ghost_number(const long long row, const int n, const std::vector<long long> &ghosts)
{
  const auto found = std::lower_bound(ghosts.begin(), ghosts.end(), row);
  return found == ghosts.end() || *found != row ? -1 : n + static_cast<int>(found - ghosts.begin());
}

RowSpace::RowSpace(ExecutorPtr executor, const int n_rows)
    : owner(std::move(executor)), n_own(n_rows), starts{0, n_rows}
{}

RowSpace::RowSpace(ExecutorPtr executor, const int n_rows, CommunicatorPtr communicator)
    : owner(std::move(executor)), n_own(n_rows), comm(std::move(communicator)), starts{0, n_rows}
{
  if (!comm)
    return;
  own = static_cast<std::size_t>(comm->rank());
  std::vector<double> sizes(static_cast<std::size_t>(comm->n_ranks()));
  sizes[own] = n_rows;
  comm->sum(sizes.data(), comm->n_ranks());
  starts = {0};
  for (const double size : sizes)
    starts.push_back(starts.back() + static_cast<long long>(size));
}

RowSpace::RowSpace(const RowSpace &other, const int n_rows)
    : RowSpace(other.owner, n_rows, other.comm)
{}

RowSpace::RowSpace(const RowSpace &rows, GhostPlan plan) : RowSpace(rows)
{
  ghosts = std::move(plan);
  exchange = comm->ghost_exchange(owner, n_own, *ghosts);
}

namespace
{
/// Returns the distinct @p numbers outside of first <= number < last, in ascending order.
std::vector<long long> distinct_nonlocal_numbers(std::vector<long long> numbers,
                                                 const long long first, const long long last)
{
  const auto is_own = [&](const long long number) { return number >= first && number < last; };
  numbers.erase(std::remove_if(numbers.begin(), numbers.end(), is_own), numbers.end());
  if (!std::is_sorted(numbers.begin(), numbers.end()))
    std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}
} // namespace

RowSpace::RowSpace(const RowSpace &rows, std::vector<long long> ghosts)
    : RowSpace(rows, rows.comm->plan(distinct_nonlocal_numbers(std::move(ghosts), rows.first(),
                                                               rows.first() + rows.n()),
                                     rows.starts))
{}

std::shared_ptr<const RowSpace> RowSpace::numbering(const RowSpace &rows,
                                                    std::vector<long long> ghosts)
{
  auto space = std::make_shared<RowSpace>(rows);
  space->exchange = nullptr;
  space->ghosts = GhostPlan{
      {}, distinct_nonlocal_numbers(std::move(ghosts), rows.first(), rows.first() + rows.n())};
  return space;
}

void RowSpace::update_ghost_values(double *const v) const
{
  if (ghosts)
    owner->run_steps([&](StepRunner &runner) { exchange->update_ghost_values(runner, v); });
}

void RowSpace::compress(double *const v) const
{
  if (ghosts)
    owner->run_steps([&](StepRunner &runner) { exchange->compress(runner, v); });
}

Buffer<double> RowSpace::with_ghosts(const double *const v) const
{
  Buffer<double> result = make_vector();
  owner->copy_within(result.data(), v, static_cast<std::size_t>(n_own) * sizeof(double));
  update_ghost_values(result.data());
  return result;
}
} // namespace femgpu::linalg
