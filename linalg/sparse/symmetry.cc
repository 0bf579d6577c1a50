#include "linalg/sparse/symmetry.h"

#include "linalg/sparse/row_exchange.h"
#include "linalg/sparse/row_workspace.h"

#include <utility>
#include <vector>

namespace femgpu::linalg
{
namespace
{
/// Finds rows i with an entry (i, j) for which there is no entry (j, i).
struct FindMissingPairs
{
  static constexpr int team_size = 8, scratch = 0;
  RowPatternView A;
  int *is_missing;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    int found = 0;
    for (int k = A.row_starts[i] + team.rank(); k < A.row_starts[i + 1]; k += team.size())
      found |= A.find_transposed(i, k) < 0 ? 1 : 0;
    const bool found_any = team.sum(found) > 0.;
    if (team.rank() == 0)
      is_missing[i] = found_any ? 1 : 0;
  }
};

/// The rows of a rank's ghosts, without columns that only other ranks have.
struct GhostRowsView
{
  CsrView<double> rows;
  const double *largest; ///< largest entry of each of these rows, including columns that only
                         ///< other ranks have
};

/// Finds rows i with an entry a_ij that differs from a_ji.
struct FindUnequalPairs
{
  static constexpr int team_size = 8, scratch = 0;
  CsrView<double> A;
  GhostRowsView ghosts; ///< if it has no rows, ghost columns are not compared
  int *is_unsymmetric;

  FEMGPU_HD
  RowEntries<double> entries(const int j) const
  {
    return j < A.n ? A.entries(j) : ghosts.rows.entries(j - A.n);
  }
  FEMGPU_HD
  double largest(const int j) const
  {
    return j < A.n ? largest_entry(A, j) : ghosts.largest[j - A.n];
  }

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    constexpr double tolerance = 1e-12; // relative to the largest entry of rows i and j
    const RowEntries<double> row = A.entries(i);
    int found = 0;
    for (int k = team.rank(); k < row.length; k += team.size()) {
      const int j = row.columns[k];
      if (j >= A.n + ghosts.rows.n)
        continue;
      const RowEntries<double> row_j = entries(j);
      const int pair = RowColumns{row_j.length, row_j.columns}.find_transposed(i, k);
      const double difference = fabs(row.values[k] - (pair < 0 ? 0. : row_j.values[pair]));
      if (difference != 0. && !(difference <= tolerance * fmax(largest(i), largest(j))))
        found = 1;
    }
    const bool found_any = team.sum(found) > 0.;
    if (team.rank() == 0)
      is_unsymmetric[i] = found_any ? 1 : 0;
  }
};

/// Returns the number of entries of row i in ghost columns, which are at the end of the row.
FEMGPU_HD
int n_ghost_entries(const CsrView<double> &A, const int i)
{
  const RowEntries<double> row = A.entries(i);
  return row.length - lower_bound(row.columns, 0, row.length, A.n);
}

/// Copies those entries of some rows that are in ghost columns.
struct StoreGhostEntries
{
  CsrView<double> A;
  const int *list; ///< rows of A
  const int *row_starts;
  int *columns;
  double *values;

  FEMGPU_HD
  void operator()(const int r) const
  {
    const RowEntries<double> row = A.entries(list[r]);
    const int n = row_starts[r + 1] - row_starts[r];
    for (int k = 0; k < n; ++k) {
      columns[row_starts[r] + k] = row.columns[row.length - n + k];
      values[row_starts[r] + k] = row.values[row.length - n + k];
    }
  }
};

/// Returns the entries of @p rows_of_A that are in ghost columns; columns are numbered as in A.
template <class Backend>
CsrMatrix ghost_entries(const CsrMatrix &A, const std::vector<int> &rows_of_A)
{
  const ExecutorPtr &owner = A.executor();
  const auto n = static_cast<int>(rows_of_A.size());
  const Buffer<int> list(owner, rows_of_A.data(), rows_of_A.size());
  Buffer<int> lengths(owner, rows_of_A.size());
  Runner<Backend> runner(*owner);
  runner.run(rows(n, [A = A.csr_view(), list = list.data(), lengths = lengths.data()] FEMGPU_BODY(
                         const int r) { lengths[r] = n_ghost_entries(A, list[r]); }));
  RowPattern pattern = make_rows<Backend>(owner, lengths, "The border of a subdomain");
  Buffer<double> values(owner, pattern.columns.size());
  runner.run(rows(n, StoreGhostEntries{A.csr_view(), list.data(), pattern.row_starts.data(),
                                       pattern.columns.data(), values.data()}));
  return {owner, A.n_columns(), std::move(pattern.row_starts), std::move(pattern.columns),
          std::move(values)};
}

/// Returns max |a_ij| of each row, followed by the maxima of the ghosts' rows. Collective.
template <class Backend>
Buffer<double> largest_entries(const CsrMatrix &A)
{
  Buffer<double> largest = A.domain()->make_vector();
  Runner<Backend>(*A.executor())
      .run(rows(A.n(), [A = A.csr_view(), largest = largest.data()] FEMGPU_BODY(const int i) {
        largest[i] = largest_entry(A, i);
      }));
  A.domain()->update_ghost_values(largest.data());
  return largest;
}

template <class Backend>
int first_unequal(const CsrMatrix &A, const GhostRowsView &ghosts)
{
  Buffer<int> flags(A.executor(), static_cast<std::size_t>(A.n()));
  Runner<Backend>(*A.executor())
      .run(teams(A.n(), FindUnequalPairs{A.csr_view(), ghosts, flags.data()}));
  return first_flagged<Backend>(A.executor(), flags);
}
} // namespace

template <class Backend>
bool is_symmetric(const PatternRef &pattern)
{
  if (pattern.n != pattern.n_columns)
    return false;
  Buffer<int> flags(pattern.executor, static_cast<std::size_t>(pattern.n));
  Runner<Backend>(*pattern.executor)
      .run(teams(pattern.n, FindMissingPairs{pattern.view(), flags.data()}));
  return total_counts<Backend>(pattern.executor, flags.data(), pattern.n).sum == 0;
}

template <class Backend>
int first_unsymmetric_row(const CsrMatrix &A)
{
  return first_unequal<Backend>(A, {});
}

template <class Backend>
bool equals_transpose(const CsrMatrix &A)
{
  const GhostPlan *const plan = A.domain()->ghost_plan();
  if (plan == nullptr)
    return A.range()->max(first_unsymmetric_row<Backend>(A) < 0 ? 0. : 1.) == 0.;
  const ReceivedRows<Backend> received(plan->counts(), ghost_entries<Backend>(A, plan->sent_rows()),
                                       A.domain(), Multiplies::matrices);
  const Buffer<double> largest = largest_entries<Backend>(A);
  const int row = first_unequal<Backend>(A, {received.matrix().csr_view(), largest.data() + A.n()});
  return A.range()->max(row < 0 ? 0. : 1.) == 0.;
}

template bool is_symmetric<ThisBackend>(const PatternRef &);
template int first_unsymmetric_row<ThisBackend>(const CsrMatrix &);
template bool equals_transpose<ThisBackend>(const CsrMatrix &);
} // namespace femgpu::linalg
