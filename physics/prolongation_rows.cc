#include "physics/prolongation_rows.h"

#include "linalg/base/parallel.h"
#include "linalg/operators/row_space.h"

#include <algorithm>
#include <vector>

namespace femgpu
{
namespace
{
constexpr std::size_t chunk_size = 1 << 14;
} // namespace

void end_row(std::vector<ProlongationTerm> &terms, linalg::HostProlongation &P)
{
  std::sort(terms.begin(), terms.end(), [](const ProlongationTerm &a, const ProlongationTerm &b) {
    return a.column < b.column;
  });
  for (std::size_t k = 0; k < terms.size(); ++k)
    if (k > 0 && terms[k].column == terms[k - 1].column)
      P.values.back() += terms[k].value;
    else {
      P.columns.push_back(terms[k].column);
      P.values.push_back(terms[k].value);
    }
  P.row_starts.push_back(static_cast<int>(P.columns.size()));
}

std::size_t number_of_chunks(const std::size_t n)
{
  return (n + chunk_size - 1) / chunk_size;
}

namespace
{
/// Calls f for the ranges of 0 <= i < n with numbers from @p first to @p last - 1.
void for_some_chunks(const std::size_t n, const std::size_t first, const std::size_t last,
                     const std::function<void(const Chunk &)> &f)
{
  linalg::parallel_for_dynamic(
      last - first, std::size_t(1), [&](const std::size_t k, int /* thread */) {
        const std::size_t chunk = first + k;
        f({chunk * chunk_size, std::min((chunk + 1) * chunk_size, n), chunk});
      });
}
} // namespace

void for_chunks(const std::size_t n, const std::function<void(const Chunk &)> &f)
{
  for_some_chunks(n, 0, number_of_chunks(n), f);
}

linalg::RawVector<int>
list_by_chunks(const std::size_t n,
               const std::function<void(const Chunk &, std::vector<int> &)> &append)
{
  std::vector<std::vector<int>> lists(number_of_chunks(n));
  for_chunks(n, [&](const Chunk &chunk) { append(chunk, lists[chunk.number]); });
  std::vector<std::ptrdiff_t> starts = {0};
  for (const std::vector<int> &list : lists)
    starts.push_back(starts.back() + static_cast<std::ptrdiff_t>(list.size()));
  linalg::RawVector<int> all(static_cast<std::size_t>(starts.back()));
  for_chunks(n, [&](const Chunk &chunk) {
    const std::vector<int> &list = lists[chunk.number];
    std::copy(list.begin(), list.end(), all.begin() + starts[chunk.number]);
  });
  return all;
}

// Processes a few ranges at a time, to limit the memory for temporary copies.
linalg::HostProlongation
rows_by_chunks(const std::size_t n, const int n_columns,
               const std::function<void(const Chunk &, linalg::HostProlongation &)> &append)
{
  const auto at_a_time = 2 * static_cast<std::size_t>(linalg::n_loop_threads());
  const std::size_t n_chunks = number_of_chunks(n);
  linalg::HostProlongation P;
  P.n_columns = n_columns;
  for (std::size_t first = 0; first < n_chunks; first += at_a_time) {
    const std::size_t last = std::min(first + at_a_time, n_chunks);
    std::vector<linalg::HostProlongation> lists(last - first);
    for_some_chunks(n, first, last,
                    [&](const Chunk &chunk) { append(chunk, lists[chunk.number - first]); });
    std::vector<std::size_t> rows = {P.row_starts.size()}, entries = {P.columns.size()};
    for (const linalg::HostProlongation &list : lists) {
      rows.push_back(rows.back() + list.row_starts.size() - 1);
      entries.push_back(entries.back() + list.columns.size());
    }
    if (first == 0 && last < n_chunks) { // unused reserved memory costs nothing
      const double all = 1.1 * static_cast<double>(n) / static_cast<double>(last * chunk_size);
      P.row_starts.reserve(static_cast<std::size_t>(all * static_cast<double>(rows.back())));
      P.columns.reserve(static_cast<std::size_t>(all * static_cast<double>(entries.back())));
      P.values.reserve(P.columns.capacity());
    }
    P.row_starts.resize(rows.back());
    P.columns.resize(entries.back());
    P.values.resize(entries.back());
    for_some_chunks(n, first, last, [&](const Chunk &chunk) {
      const std::size_t number = chunk.number - first, before = entries[number];
      const linalg::HostProlongation &list = lists[number];
      std::transform(list.row_starts.begin() + 1, list.row_starts.end(),
                     P.row_starts.data() + rows[number],
                     [&](const int start) { return static_cast<int>(before) + start; });
      std::copy(list.columns.begin(), list.columns.end(), P.columns.data() + before);
      std::copy(list.values.begin(), list.values.end(), P.values.data() + before);
    });
  }
  return P;
}

void number_columns(linalg::HostProlongation &P, const long long first, const int n)
{
  P.n_columns = n;
  linalg::RawVector<int> ghosts =
      list_by_chunks(P.columns.size(), [&](const Chunk &chunk, std::vector<int> &others) {
        for (auto k = chunk.begin; k < chunk.end; ++k)
          if (const int column = P.columns[k]; column < first || column >= first + n)
            others.push_back(column);
        std::sort(others.begin(), others.end());
        others.erase(std::unique(others.begin(), others.end()), others.end());
      });
  std::sort(ghosts.begin(), ghosts.end());
  P.ghosts.assign(ghosts.begin(), std::unique(ghosts.begin(), ghosts.end()));
  for_chunks(P.row_starts.size() - 1, [&](const Chunk &chunk) {
    std::vector<ProlongationTerm> row;
    for (auto i = chunk.begin; i < chunk.end; ++i) {
      row.clear();
      for (int k = P.row_starts[i]; k < P.row_starts[i + 1]; ++k)
        row.push_back({linalg::local_number(P.columns[k], first, n, P.ghosts), P.values[k]});
      std::sort(row.begin(), row.end(),
                [](const auto &a, const auto &b) { return a.column < b.column; });
      for (std::size_t k = 0; k < row.size(); ++k) {
        P.columns[P.row_starts[i] + k] = row[k].column;
        P.values[P.row_starts[i] + k] = row[k].value;
      }
    }
  });
}
} // namespace femgpu
