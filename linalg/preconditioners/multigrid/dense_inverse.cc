#include "linalg/preconditioners/multigrid/dense_inverse.h"

#include "linalg/execution/this_backend.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace femgpu::linalg
{
namespace
{
/// Some pivots of a matrix X with n rows, and the columns of these.
struct DensePivots
{
  static constexpr int most = 32;
  double *X; ///< n x n, row by row
  int n, first, count;

  FEMGPU_HD
  double *row(const int i) const
  {
    return X + static_cast<std::size_t>(i) * n;
  }
  FEMGPU_HD
  bool has(const int i) const
  {
    return i >= first && i < first + count;
  }
};

/// The rows of A in full.
struct FillDenseRow
{
  static constexpr int team_size = 32, scratch = 0;
  CsrView<double> A;
  DensePivots all;
  int first;             ///< row of all that is the first of A
  const double *numbers; ///< of the columns of A, ghosts too; nullptr: they are those of all

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    double *const x = all.row(first + i);
    for (int j = team.rank(); j < all.n; j += team.size())
      x[j] = 0.;
    team.sync();
    const RowEntries<double> entries = A.entries(i);
    for (int k = team.rank(); k < entries.length; k += team.size()) {
      const int j = entries.columns[k];
      x[numbers == nullptr ? j : static_cast<int>(numbers[j])] = entries.values[k];
    }
  }
};

/// D = X(pivots, pivots) becomes D⁻¹, by sweeps.
struct InvertDensePivots
{
  static constexpr int team_size = 256, scratch = 2 * DensePivots::most;
  DensePivots pivots;
  const double *diagonal; ///< of A
  int *n_singular;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int /* item */) const
  {
    const int first = pivots.first, count = pivots.count;
    double *const row = team.scratch(), *const column = row + DensePivots::most;
    for (int p = 0; p < count; ++p) {
      for (int k = team.rank(); k < count; k += team.size()) {
        row[k] = pivots.row(first + p)[first + k];
        column[k] = pivots.row(first + k)[first + p];
      }
      team.sync();
      const bool is_singular = !(fabs(row[p]) > 1e-12 * diagonal[first + p]);
      const double factor = is_singular ? 0. : 1. / row[p];
      for (int k = team.rank(); k < count * count; k += team.size()) {
        const int i = k / count, j = k - i * count;
        double &x = pivots.row(first + i)[first + j];
        if (i == p)
          x = j == p ? factor : factor * row[j];
        else
          x = j == p ? -factor * column[i] : x - column[i] * factor * row[j];
      }
      if (team.rank() == 0 && is_singular)
        ++*n_singular;
      team.sync();
    }
  }
};

/// A row i beside them: g = −x(pivots) D⁻¹; x += g X(pivots, :), and g in the columns of the
/// pivots.
struct EliminateDenseRow
{
  static constexpr int team_size = 128, scratch = DensePivots::most;
  DensePivots pivots;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    if (pivots.has(i))
      return;
    const int first = pivots.first, count = pivots.count;
    double *const g = team.scratch(), *const x = pivots.row(i);
    for (int k = team.rank(); k < count; k += team.size()) {
      g[k] = 0.;
      for (int l = 0; l < count; ++l)
        g[k] -= x[first + l] * pivots.row(first + l)[first + k];
    }
    team.sync();
    for (int k = 0; k < count; ++k) {
      const double *const of_pivot = pivots.row(first + k);
      for (int j = team.rank(); j < pivots.n; j += team.size())
        x[j] += g[k] * of_pivot[j];
    }
    team.sync();
    for (int k = team.rank(); k < count; k += team.size())
      x[first + k] = g[k];
  }
};

/// X(pivots, j) = D⁻¹ X(pivots, j) in a column j beside them.
struct ScaleDenseColumn
{
  DensePivots pivots;

  FEMGPU_HD
  void operator()(const int j) const
  {
    if (pivots.has(j))
      return;
    const int first = pivots.first, count = pivots.count;
    double old[DensePivots::most];
    for (int k = 0; k < count; ++k)
      old[k] = pivots.row(first + k)[j];
    for (int k = 0; k < count; ++k) {
      double sum = 0.;
      for (int l = 0; l < count; ++l)
        sum += pivots.row(first + k)[first + l] * old[l];
      pivots.row(first + k)[j] = sum;
    }
  }
};
} // namespace

template <class Backend>
DenseInverse<Backend>::DenseInverse(const CsrMatrix &A)
    : ViewedOperator(A.range()), n_all(static_cast<int>(A.range()->n_global()))
{
  const auto n = static_cast<std::size_t>(n_all);
  entries = Buffer<double>(A.executor(), n * n);
  if (A.range()->communicator() != nullptr) {
    std::vector<long long> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0LL);
    all_rows.emplace(*A.range(), numbers);
    gathered = all_rows->make_vector();
  }
  update(A);
}

/// Each part has filled in its own.
template <class Backend>
void DenseInverse<Backend>::gather_rows()
{
  constexpr std::size_t at_once = 64; // rows, which a communicator may have in memory for each part
  const auto n = static_cast<std::size_t>(n_all),
             first = static_cast<std::size_t>(range()->first());
  std::vector<double> all(n * n), own(static_cast<std::size_t>(this->n()) * n);
  if (!own.empty())
    executor()->copy_to_host(own.data(), entries.data() + first * n, own.size() * sizeof(double));
  std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(first * n));
  for (std::size_t row = 0; row < n; row += at_once)
    range()->communicator()->sum(all.data() + row * n,
                                 static_cast<int>(std::min(at_once, n - row) * n));
  entries.copy_from_host(all.data());
}

template <class Backend>
void DenseInverse<Backend>::update(const CsrMatrix &A)
{
  const int n = n_all;
  Buffer<int> n_singular(A.executor(), 1);
  n_singular.fill_zero();
  Buffer<double> diagonal(A.executor(), static_cast<std::size_t>(n)), numbers;
  const bool has_parts = all_rows.has_value();
  if (has_parts) {
    std::vector<double> own(static_cast<std::size_t>(A.n()));
    for (int i = 0; i < A.n(); ++i)
      own[static_cast<std::size_t>(i)] = static_cast<double>(range()->first() + i);
    const Buffer<double> on_executor(A.executor(), own.data(), own.size());
    numbers = A.domain()->with_ghosts(on_executor.data());
  }
  DensePivots pivots{entries.data(), n, 0, 0};
  Runner<Backend> run(*A.executor());
  run.run(teams(A.n(), FillDenseRow{A.csr_view(), pivots, static_cast<int>(range()->first()),
                                    has_parts ? numbers.data() : nullptr}));
  if (has_parts)
    gather_rows();
  run.run(rows(n, [pivots, diagonal = diagonal.data()] FEMGPU_BODY(const int i) {
    diagonal[i] = fabs(pivots.row(i)[i]);
  }));
  for (; pivots.first < n; pivots.first += pivots.count) {
    pivots.count = std::min(n - pivots.first, DensePivots::most);
    run.run(teams(1, InvertDensePivots{pivots, diagonal.data(), n_singular.data()}));
    run.run(teams(n, EliminateDenseRow{pivots}));
    run.run(rows(n, ScaleDenseColumn{pivots}));
  }
  defects = n_singular.to_host()[0];
}

template <class Backend>
const double *DenseInverse<Backend>::prepare(StepRunner &runner, double *const v) const
{
  if (!all_rows)
    return v;
  double *const to = gathered.data();
  static_cast<Runner<Backend> &>(runner).run(
      rows(n(), [v, to] FEMGPU_BODY(const int i) { to[i] = v[i]; }));
  all_rows->bring_ghosts(runner, to);
  return to;
}

template class DenseInverse<ThisBackend>;
} // namespace femgpu::linalg
