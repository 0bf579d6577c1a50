#ifndef femgpu_linalg_preconditioners_multigrid_cholesky_inverse_h
#define femgpu_linalg_preconditioners_multigrid_cholesky_inverse_h

#include "linalg/execution/this_backend.h"
#include "linalg/preconditioners/multigrid/dense_panel.h"

#include <algorithm>
#include <vector>

/**
 * @file
 * The inverse WᵀW of a dense symmetric positive semidefinite matrix A = LLᵀ, W = L⁻¹, computed in
 * panels of columns. The inverse is exactly symmetric, and positive semidefinite up to the rounding
 * of this product, whatever the condition number of A. An inverse by elimination, in contrast, is
 * indefinite for condition numbers of 1e8 or more.
 *
 * The upper triangle of X holds A and then Lᵀ; the lower triangle and the diagonal hold W.
 */
namespace femgpu::linalg
{
/// The properties of A that a Cholesky factorisation detects, in the memory of the executor.
struct CholeskyStatus
{
  const double *diagonal; ///< diagonal of A
  int *rank_deficiency;   ///< number of vanishing pivots
  int *is_indefinite;

  /// Returns whether a pivot is positive beyond rounding.
  FEMGPU_HD
  bool is_positive(const double pivot, const int column) const
  {
    return pivot > singular_pivot * fabs(diagonal[column]);
  }
  /// Records a pivot that is not positive.
  FEMGPU_HD
  void record_bad_pivot(const double pivot, const int column) const
  {
    ++*rank_deficiency;
    if (!(pivot >= -singular_pivot * fabs(diagonal[column])))
      *is_indefinite = 1;
  }
  /// Checks an entry in the row of a vanishing pivot; the entry vanishes too if A is semidefinite.
  FEMGPU_HD
  void check_zero_pivot_row(const double entry, const int row, const int column) const
  {
    if (!(entry * entry <= 4. * singular_pivot * fabs(diagonal[row] * diagonal[column])))
      *is_indefinite = 1;
  }
};

/// Factorises the diagonal block of a panel in place: the block then holds Lᵀ above the diagonal,
/// and W on and below it.
struct FactoriseDiagonalBlock
{
  static constexpr int team_size = 256, scratch = DensePanel::maximum;
  DensePanel panel;
  CholeskyStatus status;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int /* item */) const
  {
    for (int p = 0; p < panel.count; ++p)
      eliminate(team, p);
  }

private:
  template <class Team>
  FEMGPU_HD
  void eliminate(const Team &team, const int p) const
  {
    const int first = panel.first, count = panel.count;
    double *const pivot_entries = panel.row(first + p) + first, *const row = team.scratch();
    for (int j = team.rank(); j < count; j += team.size())
      row[j] = pivot_entries[j];
    team.sync();
    const double pivot = row[p];
    const bool is_positive = status.is_positive(pivot, first + p);
    const double scale = is_positive ? 1. / sqrt(pivot) : 0.;
    for (int j = team.rank(); j < count; j += team.size()) {
      pivot_entries[j] = j == p ? scale : scale * row[j];
      if (!is_positive && j > p)
        status.check_zero_pivot_row(row[j], first + p, first + j);
    }
    for (int k = team.rank(); k < count * count; k += team.size()) {
      const int i = k / count, j = k - i * count;
      if (i <= p || (j > p && j < i))
        continue;
      double &x = panel.row(first + i)[first + j];
      const double factor = scale * row[i];
      x = j == p ? -factor * scale : x - factor * (scale * row[j]);
    }
    if (team.rank() == 0 && !is_positive)
      status.record_bad_pivot(pivot, first + p);
    team.sync();
  }
};

/// Computes X(panel, j) = W X(panel, j) in a column j outside the panel, where W is the inverse
/// factor of the panel's diagonal block.
struct ScalePanelColumn
{
  DensePanel panel;
  CholeskyStatus status;

  FEMGPU_HD
  void operator()(const int j) const
  {
    if (panel.has(j))
      return;
    const int first = panel.first, count = panel.count;
    double old[DensePanel::maximum];
    for (int k = 0; k < count; ++k)
      old[k] = panel.row(first + k)[j];
    for (int k = 0; k < count; ++k) {
      const double *const W_k = panel.row(first + k) + first;
      double sum = 0.;
      for (int l = 0; l <= k; ++l)
        sum += W_k[l] * old[l];
      panel.row(first + k)[j] = sum;
      if (W_k[k] == 0. && j >= panel.end())
        status.check_zero_pivot_row(remainder(k, j, old[k]), first + k, j);
    }
  }

private:
  /// Returns the entry in the row of pivot k after elimination by the pivots before it.
  FEMGPU_HD
  double remainder(const int k, const int j, const double entry) const
  {
    double reduced = entry;
    for (int l = 0; l < k; ++l)
      reduced -= panel.row(panel.first + l)[panel.first + k] * panel.row(panel.first + l)[j];
    return reduced;
  }
};

/// Eliminates the panel's pivots from a row i below the panel.
struct EliminateRowBelow
{
  static constexpr int team_size = 128, scratch = DensePanel::maximum;
  DensePanel panel;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int below) const
  {
    const int first = panel.first, count = panel.count, i = panel.end() + below;
    double *const L_i = team.scratch(), *const x = panel.row(i);
    for (int k = team.rank(); k < count; k += team.size()) {
      L_i[k] = panel.row(first + k)[i];
      x[first + k] = 0.;
    }
    team.sync();
    for (int k = 0; k < count; ++k) {
      const double *const pivot_entries = panel.row(first + k);
      for (int j = team.rank(); j <= first + k; j += team.size())
        x[j] -= L_i[k] * pivot_entries[j];
      for (int j = i + team.rank(); j < panel.n; j += team.size())
        x[j] -= L_i[k] * pivot_entries[j];
    }
  }
};

/// Computes a row of WᵀW. All rows sum in the same order, so that entries (i, j) and (j, i) are
/// equal.
struct MultiplyFactors
{
  static constexpr int team_size = 128, scratch = 0;
  DensePanel W;
  double *result; ///< n x n

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    double *const y = result + static_cast<std::size_t>(i) * W.n;
    for (int j = team.rank(); j < W.n; j += team.size())
      y[j] = 0.;
    for (int k = i; k < W.n; ++k) {
      const double *const W_k = W.row(k);
      for (int j = team.rank(); j <= k; j += team.size())
        y[j] += W_k[i] * W_k[j];
    }
  }
};

/// The return value of cholesky_inverse(); the inverse itself is stored in memory of the caller.
struct CholeskyOutcome
{
  int rank_deficiency; ///< number of zero rows and columns of the inverse
  bool is_indefinite;  ///< whether A is indefinite; then the inverse is invalid
};

/**
 * Computes the inverse of a symmetric positive semidefinite n x n matrix A; if A is singular, a
 * generalised inverse that is positive semidefinite too.
 * @param X holds the upper triangle of A, which is overwritten
 * @param result n x n entries of the inverse
 */
template <class Backend>
CholeskyOutcome cholesky_inverse(const ExecutorPtr &executor, DensePanel X, double *const result)
{
  Runner<Backend> run(*executor);
  Buffer<double> diagonal(executor, static_cast<std::size_t>(X.n));
  Buffer<int> found(executor, 2);
  found.fill_zero();
  run.run(rows(X.n, [X, diagonal = diagonal.data()] FEMGPU_BODY(const int i) {
    diagonal[i] = X.row(i)[i];
  }));
  const CholeskyStatus status{diagonal.data(), found.data(), found.data() + 1};
  for (X.first = 0; X.first < X.n; X.first += X.count) {
    X.count = std::min(X.n - X.first, DensePanel::maximum);
    run.run(teams(1, FactoriseDiagonalBlock{X, status}));
    run.run(rows(X.n, ScalePanelColumn{X, status}));
    run.run(teams(X.n - X.end(), EliminateRowBelow{X}));
  }
  run.run(teams(X.n, MultiplyFactors{X, result}));
  const std::vector<int> on_host = found.to_host();
  return {on_host[0], on_host[1] != 0};
}
} // namespace femgpu::linalg

#endif
