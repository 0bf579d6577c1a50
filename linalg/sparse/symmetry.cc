#include "linalg/sparse/symmetry.h"

#include "linalg/sparse/row_workspace.h"

namespace femgpu::linalg
{
namespace
{
/// Rows of a pattern with an entry (i, j) for which there is no (j, i).
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
    const bool is_any = team.sum(found) > 0.;
    if (team.rank() == 0)
      is_missing[i] = is_any ? 1 : 0;
  }
};

/// Rows with an entry a_ij that is not a_ji.
struct FindUnequalPairs
{
  static constexpr int team_size = 8, scratch = 0;
  CsrView<double> A;
  int *is_unsymmetric;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    constexpr double tolerance = 1e-12; // of the largest entry of both rows
    const RowEntries<double> row = A.entries(i);
    int found = 0;
    for (int k = team.rank(); k < row.length; k += team.size()) {
      const int j = row.columns[k];
      if (j >= A.n) // another part has that row
        continue;
      const RowEntries<double> row_j = A.entries(j);
      const int pair = RowColumns{row_j.length, row_j.columns}.find_transposed(i, k);
      const double difference = fabs(row.values[k] - (pair < 0 ? 0. : row_j.values[pair]));
      if (difference != 0. &&
          !(difference <= tolerance * fmax(largest_entry(A, i), largest_entry(A, j))))
        found = 1;
    }
    const bool is_any = team.sum(found) > 0.;
    if (team.rank() == 0)
      is_unsymmetric[i] = is_any ? 1 : 0;
  }
};
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
int first_unsymmetric_row(const CsrMatrix &matrix)
{
  Buffer<int> flags(matrix.executor(), static_cast<std::size_t>(matrix.n()));
  Runner<Backend>(*matrix.executor())
      .run(teams(matrix.n(), FindUnequalPairs{matrix.csr_view(), flags.data()}));
  return first_flagged<Backend>(matrix.executor(), flags);
}

template bool is_symmetric<ThisBackend>(const PatternRef &);
template int first_unsymmetric_row<ThisBackend>(const CsrMatrix &);
} // namespace femgpu::linalg
