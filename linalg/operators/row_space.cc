#include "linalg/operators/row_space.h"

#include "linalg/execution/backends.h"
#include "linalg/sparse/gather_rows.h"

#include <algorithm>
#include <utility>

namespace femgpu::linalg
{
GhostPlan reversed(const GhostPlan &plan)
{
  GhostPlan result;
  for (const GhostPlan::Neighbour &neighbour : plan.neighbours)
    result.neighbours.push_back({neighbour.part,
                                 std::vector<int>(static_cast<std::size_t>(neighbour.n_received)),
                                 static_cast<int>(neighbour.sent_rows.size())});
  return result;
}

int ghost_number(const long long row, const int n, const std::vector<long long> &ghosts)
{
  const auto found = std::lower_bound(ghosts.begin(), ghosts.end(), row);
  return found == ghosts.end() || *found != row ? -1 : n + static_cast<int>(found - ghosts.begin());
}

RowSpace::RowSpace(ExecutorPtr executor, const int n_rows)
    : owner(std::move(executor)), n_own(n_rows), starts{0, n_rows}
{}

RowSpace::RowSpace(ExecutorPtr executor, const int n_rows, CommunicatorPtr communicator)
    : owner(std::move(executor)), n_own(n_rows), parts(std::move(communicator)), starts{0, n_rows}
{
  if (!parts)
    return;
  own = static_cast<std::size_t>(parts->part());
  std::vector<double> sizes(static_cast<std::size_t>(parts->n_parts()));
  sizes[own] = n_rows;
  parts->sum(sizes.data(), parts->n_parts());
  starts = {0};
  for (const double size : sizes)
    starts.push_back(starts.back() + static_cast<long long>(size));
}

RowSpace::RowSpace(const RowSpace &parts, const int n_rows)
    : RowSpace(parts.owner, n_rows, parts.parts)
{}

RowSpace::RowSpace(const RowSpace &rows, GhostPlan plan) : RowSpace(rows)
{
  ghosts = std::move(plan);
  std::vector<int> sent_rows;
  for (const GhostPlan::Neighbour &neighbour : ghosts->neighbours)
    sent_rows.insert(sent_rows.end(), neighbour.sent_rows.begin(), neighbour.sent_rows.end());
  memory = std::make_shared<Exchange>();
  memory->back = reversed(*ghosts);
  memory->sent_rows = Buffer<int>(owner, sent_rows.data(), sent_rows.size());
  memory->packed = Buffer<double>(owner, sent_rows.size());
  memory->sent.resize(sent_rows.size());
  memory->received.resize(static_cast<std::size_t>(ghosts->n_ghosts()));
}

namespace
{
/// Ascending, each once, without those from first to last.
std::vector<long long> numbers_of_others(std::vector<long long> numbers, const long long first,
                                         const long long last)
{
  const auto is_own = [&](const long long number) { return number >= first && number < last; };
  numbers.erase(std::remove_if(numbers.begin(), numbers.end(), is_own), numbers.end());
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}
} // namespace

RowSpace::RowSpace(const RowSpace &rows, std::vector<long long> ghosts)
    : RowSpace(rows, rows.parts->plan(numbers_of_others(std::move(ghosts), rows.first(),
                                                        rows.first() + rows.n()),
                                      rows.starts))
{}

Buffer<double> RowSpace::with_ghosts(const double *const v) const
{
  Buffer<double> result = make_vector();
  owner->copy_inside(result.data(), v, static_cast<std::size_t>(n_own) * sizeof(double));
  bring_ghosts(result.data());
  return result;
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

void RowSpace::return_ghosts(double *const v) const
{
  Exchange &m = *memory;
  if (!m.received.empty())
    owner->copy_to_host(m.received.data(), v + n_own, m.received.size() * sizeof(double));
  parts->exchange(m.back, m.received.data(), m.sent.data());
  m.packed.copy_from_host(m.sent.data());
  std::size_t begin = 0;
  for (const GhostPlan::Neighbour &neighbour : ghosts->neighbours) { // who may share rows
    const std::size_t end = begin + neighbour.sent_rows.size();
    on_backend(owner->backend(), [&](const auto on) {
      add_to_rows<typename decltype(on)::Backend>(*owner, m.packed.data() + begin,
                                                  m.sent_rows.data() + begin,
                                                  static_cast<int>(end - begin), v);
    });
    begin = end;
  }
}
} // namespace femgpu::linalg
