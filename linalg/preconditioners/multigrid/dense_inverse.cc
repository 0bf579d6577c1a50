#include "linalg/preconditioners/multigrid/dense_inverse.h"

#include "linalg/sparse/row_pattern.h"

#include <utility>

namespace femgpu::linalg
{
namespace
{
struct FullRow
{
  int n;
  int *row_starts, *columns;

  FEMGPU_HD
  void operator()(const int i) const
  {
    row_starts[i] = i * n;
    for (int j = 0; i < n && j < n; ++j)
      columns[i * n + j] = j;
  }
};

struct Invert
{
  static constexpr int team_size = 1024, scratch = 0;
  CsrView<double> A;
  double *X; ///< n x n
  int *n_singular;

  /// @param team with scratch for three vectors: a row, a column, and the diagonal of A
  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int /* item */) const
  {
    const int n = A.n;
    double *const row = team.scratch(), *const column = row + n, *const diagonal = column + n;
    for (int k = team.rank(); k < n * n; k += team.size())
      X[k] = 0.;
    team.sync();
    for (int i = team.rank(); i < n; i += team.size()) {
      const RowEntries<double> entries = A.entries(i);
      for (int k = 0; k < entries.length; ++k)
        X[i * n + entries.columns[k]] = entries.values[k];
      diagonal[i] = fabs(X[i * n + i]);
    }
    team.sync();
    int singular = 0;
    for (int p = 0; p < n; ++p) {
      for (int k = team.rank(); k < n; k += team.size()) {
        row[k] = X[p * n + k];
        column[k] = X[k * n + p];
      }
      team.sync();
      const bool is_singular = !(fabs(row[p]) > 1e-12 * diagonal[p]);
      singular += is_singular ? 1 : 0;
      const double factor = is_singular ? 0. : 1. / row[p];
      for (int k = team.rank(); k < n * n; k += team.size()) {
        const int i = k / n, j = k - i * n;
        if (i == p)
          X[k] = j == p ? factor : factor * row[j];
        else
          X[k] = j == p ? -factor * column[i] : X[k] - column[i] * factor * row[j];
      }
      team.sync();
    }
    if (team.rank() == 0)
      *n_singular = singular;
  }
};
} // namespace

template <class Backend>
DenseInverse<Backend>::DenseInverse(const CsrMatrix &A)
{
  const ExecutorPtr &owner = A.executor();
  const int n = A.n();
  const auto size = static_cast<std::size_t>(n);
  RowPattern full{Buffer<int>(owner, size + 1), Buffer<int>(owner, size * size)};
  Runner<Backend> runner(*owner);
  runner.run(rows(n + 1, FullRow{n, full.row_starts.data(), full.columns.data()}));
  inverse = make_matrix(owner, std::move(full), n);
  update(A);
}

template <class Backend>
void DenseInverse<Backend>::update(const CsrMatrix &A)
{
  Buffer<int> n_singular(A.executor(), 1);
  n_singular.fill_zero();
  if (A.n() > 0)
    Runner<Backend>(*A.executor())
        .run(teams(1, Invert{A.csr_view(), inverse->mutable_values(), n_singular.data()},
                   3 * A.n()));
  defects = n_singular.to_host()[0];
}

template class DenseInverse<ThisBackend>;
} // namespace femgpu::linalg
