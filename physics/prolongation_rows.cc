#include "physics/prolongation_rows.h"

#include "linalg/operators/row_space.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace femgpu
{
namespace
{
constexpr std::size_t part_size = 1 << 14;
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

std::size_t number_of_parts(const std::size_t n)
{
  return (n + part_size - 1) / part_size;
}

void for_parts(const std::size_t n, const std::function<void(const Part &)> &f)
{
  const std::size_t n_parts = number_of_parts(n);
  std::exception_ptr error;
#pragma omp parallel for schedule(dynamic) if (n_parts > 1)
  for (std::size_t part = 0; part < n_parts; ++part)
    try {
      f({part * part_size, std::min((part + 1) * part_size, n), part});
    }
    catch (...) {
#pragma omp critical
      error = std::current_exception();
    }
  if (error)
    std::rethrow_exception(error);
}

linalg::RawVector<int>
list_by_parts(const std::size_t n,
              const std::function<void(const Part &, std::vector<int> &)> &append)
{
  std::vector<std::vector<int>> lists(number_of_parts(n));
  for_parts(n, [&](const Part &part) { append(part, lists[part.number]); });
  std::vector<std::ptrdiff_t> starts = {0};
  for (const std::vector<int> &list : lists)
    starts.push_back(starts.back() + static_cast<std::ptrdiff_t>(list.size()));
  linalg::RawVector<int> all(static_cast<std::size_t>(starts.back()));
  for_parts(n, [&](const Part &part) {
    const std::vector<int> &list = lists[part.number];
    std::copy(list.begin(), list.end(), all.begin() + starts[part.number]);
  });
  return all;
}

linalg::HostProlongation
rows_by_parts(const std::size_t n, const int n_columns,
              const std::function<void(const Part &, linalg::HostProlongation &)> &append)
{
  std::vector<linalg::HostProlongation> lists(number_of_parts(n));
  for_parts(n, [&](const Part &part) { append(part, lists[part.number]); });
  std::vector<std::ptrdiff_t> rows = {0}, entries = {0};
  for (const linalg::HostProlongation &list : lists) {
    rows.push_back(rows.back() + static_cast<std::ptrdiff_t>(list.row_starts.size()) - 1);
    entries.push_back(entries.back() + static_cast<std::ptrdiff_t>(list.columns.size()));
  }
  linalg::HostProlongation P;
  P.n_columns = n_columns;
  P.row_starts.resize(static_cast<std::size_t>(rows.back()) + 1);
  P.columns.resize(static_cast<std::size_t>(entries.back()));
  P.values.resize(P.columns.size());
  for_parts(n, [&](const Part &part) {
    const linalg::HostProlongation list = std::move(lists[part.number]);
    const std::ptrdiff_t before = entries[part.number];
    std::transform(list.row_starts.begin() + 1, list.row_starts.end(),
                   P.row_starts.begin() + rows[part.number] + 1,
                   [&](const int start) { return static_cast<int>(before) + start; });
    std::copy(list.columns.begin(), list.columns.end(), P.columns.begin() + before);
    std::copy(list.values.begin(), list.values.end(), P.values.begin() + before);
  });
  return P;
}

void number_columns(linalg::HostProlongation &P, const long long first, const int n)
{
  P.n_columns = n;
  linalg::RawVector<int> ghosts =
      list_by_parts(P.columns.size(), [&](const Part &part, std::vector<int> &others) {
        for (auto k = part.begin; k < part.end; ++k)
          if (const int column = P.columns[k]; column < first || column >= first + n)
            others.push_back(column);
        std::sort(others.begin(), others.end());
        others.erase(std::unique(others.begin(), others.end()), others.end());
      });
  std::sort(ghosts.begin(), ghosts.end());
  P.ghosts.assign(ghosts.begin(), std::unique(ghosts.begin(), ghosts.end()));
  for_parts(P.row_starts.size() - 1, [&](const Part &part) {
    std::vector<ProlongationTerm> row;
    for (auto i = part.begin; i < part.end; ++i) {
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
