#ifndef femgpu_linalg_preconditioners_multigrid_pivoted_inverse_h
#define femgpu_linalg_preconditioners_multigrid_pivoted_inverse_h

#include "linalg/execution/this_backend.h"
#include "linalg/preconditioners/multigrid/dense_panel.h"

#include <algorithm>
#include <vector>

/**
 * @file
 * The inverse of a dense matrix by Gauss-Jordan elimination in place with partial pivoting, in
 * panels of columns. The pivot of a column is its largest entry among the rows that are not yet
 * pivot rows; of equal entries, the first is chosen. Rows are not exchanged: at the end, entry
 * (k, l) of the inverse is X(row_of[k], column_of[l]).
 */
namespace femgpu::linalg
{
/// The pivot rows that have been chosen, in the executor's memory.
struct PivotRows
{
  const double *largest; ///< largest |a_ij| in each column j of A
  int *row_of;           ///< pivot row of each column; -1: none yet, or no usable pivot
  int *column_of;        ///< for each row: the column whose pivot row it is; -1: none
};

/// The size of an entry of a column, and the row of this entry.
struct PivotCandidate
{
  double size;
  int row;

  FEMGPU_HD
  bool is_better_than(const PivotCandidate &other) const
  {
    return size > other.size || (size == other.size && row < other.row);
  }
};

/// Chooses the pivots of a panel and eliminates within the panel.
struct FactorisePanel
{
  static constexpr int team_size = 256, scratch = DensePanel::maximum + 2 * team_size;
  DensePanel panel;
  PivotRows pivots;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int /* item */) const
  {
    for (int k = 0; k < panel.count; ++k) {
      const int column = panel.first + k;
      const PivotCandidate pivot = largest(team, column);
      if (!(pivot.size > singular_pivot * pivots.largest[column]))
        continue;
      if (team.rank() == 0) {
        pivots.row_of[column] = pivot.row;
        pivots.column_of[pivot.row] = column;
      }
      eliminate(team, k, pivot.row);
    }
  }

private:
  /// Returns the largest entry of a column among the rows that are not pivot rows.
  template <class Team>
  FEMGPU_HD
  PivotCandidate largest(const Team &team, const int column) const
  {
    auto *const found = reinterpret_cast<PivotCandidate *>(team.scratch() + DensePanel::maximum);
    PivotCandidate best{0., panel.n};
    for (int i = team.rank(); i < panel.n; i += team.size()) {
      const PivotCandidate candidate{fabs(panel.row(i)[column]), i};
      if (pivots.column_of[i] < 0 && candidate.is_better_than(best))
        best = candidate;
    }
    found[team.rank()] = best;
    for (int half = team.size() / 2; half > 0; half /= 2) {
      team.sync();
      if (team.rank() < half && found[team.rank() + half].is_better_than(found[team.rank()]))
        found[team.rank()] = found[team.rank() + half];
    }
    team.sync();
    best = found[0];
    team.sync(); // all threads have read found[0]
    return best;
  }

  template <class Team>
  FEMGPU_HD
  void eliminate(const Team &team, const int k, const int pivot_row) const
  {
    double *const row = team.scratch();
    for (int j = team.rank(); j < panel.count; j += team.size())
      row[j] = panel.row(pivot_row)[panel.first + j];
    team.sync();
    const double factor = 1. / row[k];
    for (int i = team.rank(); i < panel.n; i += team.size()) {
      double *const x = panel.row(i) + panel.first;
      const double multiple = factor * x[k];
      for (int j = 0; j < panel.count; ++j)
        if (i == pivot_row)
          x[j] = j == k ? factor : factor * row[j];
        else
          x[j] = j == k ? -multiple : x[j] - multiple * row[j];
    }
    team.sync();
  }
};

/// Eliminates the panel's pivots from row i, in the columns outside the panel, unless i is itself a
/// pivot row of the panel.
struct EliminatePanel
{
  static constexpr int team_size = 128, scratch = 0;
  DensePanel panel;
  PivotRows pivots;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    if (panel.has(pivots.column_of[i]))
      return;
    double *const x = panel.row(i);
    for (int k = panel.first; k < panel.end(); ++k) {
      if (pivots.row_of[k] < 0)
        continue;
      const double factor = x[k], *const pivot_entries = panel.row(pivots.row_of[k]);
      for (int j = team.rank(); j < panel.first; j += team.size())
        x[j] += factor * pivot_entries[j];
      for (int j = panel.end() + team.rank(); j < panel.n; j += team.size())
        x[j] += factor * pivot_entries[j];
    }
  }
};

/// Updates the panel's pivot rows in a column j outside the panel.
struct ScalePivotRows
{
  DensePanel panel;
  PivotRows pivots;

  FEMGPU_HD
  void operator()(const int j) const
  {
    if (panel.has(j))
      return;
    const int first = panel.first, count = panel.count;
    double old[DensePanel::maximum];
    for (int k = 0; k < count; ++k)
      old[k] = pivots.row_of[first + k] < 0 ? 0. : panel.row(pivots.row_of[first + k])[j];
    for (int k = 0; k < count; ++k) {
      if (pivots.row_of[first + k] < 0)
        continue;
      double *const x = panel.row(pivots.row_of[first + k]);
      double sum = 0.;
      for (int l = 0; l < count; ++l)
        if (pivots.row_of[first + l] >= 0)
          sum += x[first + l] * old[l];
      x[j] = sum;
    }
  }
};

/// Stores a row of the inverse, or of its symmetric part.
struct CollectInverse
{
  static constexpr int team_size = 128, scratch = 0;
  DensePanel X;
  PivotRows pivots;
  bool is_symmetric;
  double *result;

  FEMGPU_HD
  double entry(const int k, const int l) const
  {
    const int i = pivots.row_of[k], j = pivots.column_of[l];
    return i < 0 || j < 0 ? 0. : X.row(i)[j];
  }

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int k) const
  {
    double *const y = result + static_cast<std::size_t>(k) * X.n;
    for (int l = team.rank(); l < X.n; l += team.size())
      y[l] = is_symmetric ? 0.5 * (entry(k, l) + entry(l, k)) : entry(k, l);
  }
};

/// Returns the largest |x_ij| of each column j.
template <class Backend>
Buffer<double> largest_in_columns(const ExecutorPtr &executor, const DensePanel &X)
{
  Buffer<double> largest(executor, static_cast<std::size_t>(X.n));
  Runner<Backend>(*executor).run(rows(X.n, [X, largest = largest.data()] FEMGPU_BODY(const int j) {
    double maximum = 0.;
    for (int i = 0; i < X.n; ++i)
      maximum = fmax(maximum, fabs(X.row(i)[j]));
    largest[j] = maximum;
  }));
  return largest;
}

/**
 * Computes the inverse of the n x n matrix A; if A is singular, a generalised inverse with zero
 * rows and columns for missing pivots. Returns the number of missing pivots.
 * @param X holds A, and is overwritten
 * @param is_symmetric whether A is symmetric; the result is then exactly symmetric
 * @param result n x n entries of the inverse
 */
template <class Backend>
int pivoted_inverse(const ExecutorPtr &executor, DensePanel X, const bool is_symmetric,
                    double *const result)
{
  Runner<Backend> run(*executor);
  const Buffer<double> largest = largest_in_columns<Backend>(executor, X);
  Buffer<int> row_of(executor, static_cast<std::size_t>(X.n)), column_of(executor, row_of.size());
  const PivotRows pivots{largest.data(), row_of.data(), column_of.data()};
  run.run(rows(X.n,
               [pivots] FEMGPU_BODY(const int i) { pivots.row_of[i] = pivots.column_of[i] = -1; }));
  for (X.first = 0; X.first < X.n; X.first += X.count) {
    X.count = std::min(X.n - X.first, DensePanel::maximum);
    run.run(teams(1, FactorisePanel{X, pivots}));
    run.run(teams(X.n, EliminatePanel{X, pivots}));
    run.run(rows(X.n, ScalePivotRows{X, pivots}));
  }
  run.run(teams(X.n, CollectInverse{X, pivots, is_symmetric, result}));
  const std::vector<int> chosen = row_of.to_host();
  return static_cast<int>(std::count(chosen.begin(), chosen.end(), -1));
}
} // namespace femgpu::linalg

#endif
