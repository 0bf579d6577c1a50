#include "physics/prolongation_rows.h"

#include "linalg/operators/row_space.h"

#include <algorithm>
#include <exception>

namespace femgpu
{
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

linalg::HostProlongation rows_by_parts(
    const std::size_t n, const int n_columns,
    const std::function<void(std::size_t, std::size_t, linalg::HostProlongation &)> &add_rows)
{
  constexpr std::size_t size = 1 << 14;
  std::vector<linalg::HostProlongation> parts((n + size - 1) / size);
  std::exception_ptr error;
#pragma omp parallel for schedule(dynamic)
  for (std::size_t part = 0; part < parts.size(); ++part)
    try {
      add_rows(part * size, std::min((part + 1) * size, n), parts[part]);
    }
    catch (...) {
#pragma omp critical
      error = std::current_exception();
    }
  if (error)
    std::rethrow_exception(error);
  std::size_t n_rows = 0, n_entries = 0;
  for (const linalg::HostProlongation &part : parts) {
    n_rows += part.row_starts.size() - 1;
    n_entries += part.columns.size();
  }
  linalg::HostProlongation P;
  P.n_columns = n_columns;
  P.row_starts.reserve(n_rows + 1);
  P.columns.reserve(n_entries);
  P.values.reserve(n_entries);
  for (const linalg::HostProlongation &part : parts) {
    const auto before = static_cast<int>(P.columns.size());
    for (std::size_t i = 1; i < part.row_starts.size(); ++i)
      P.row_starts.push_back(before + part.row_starts[i]);
    P.columns.insert(P.columns.end(), part.columns.begin(), part.columns.end());
    P.values.insert(P.values.end(), part.values.begin(), part.values.end());
  }
  return P;
}

void number_columns(linalg::HostProlongation &P, const long long first, const int n)
{
  P.n_columns = n;
  const auto is_own = [&](const int column) { return column >= first && column < first + n; };
  for (const int column : P.columns)
    if (!is_own(column))
      P.ghosts.push_back(column);
  std::sort(P.ghosts.begin(), P.ghosts.end());
  P.ghosts.erase(std::unique(P.ghosts.begin(), P.ghosts.end()), P.ghosts.end());
  std::vector<ProlongationTerm> row;
  for (std::size_t i = 0; i + 1 < P.row_starts.size(); ++i) {
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
}
} // namespace femgpu
