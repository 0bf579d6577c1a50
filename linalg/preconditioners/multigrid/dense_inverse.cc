#include "linalg/preconditioners/multigrid/dense_inverse.h"

#include "linalg/execution/store_product.h"
#include "linalg/execution/this_backend.h"
#include "linalg/preconditioners/multigrid/cholesky_inverse.h"
#include "linalg/preconditioners/multigrid/pivoted_inverse.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace femgpu::linalg
{
namespace
{
/// Stores row i of A, with its zeros, in the dense matrix `all`.
struct FillDenseRow
{
  static constexpr int team_size = 32, scratch = 0;
  CsrView<double> A;
  DensePanel all;
  int first;             ///< row of `all` that holds the first row of A
  const double *numbers; ///< global numbers of A's columns, with ghosts; nullptr: columns are
                         ///< global

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
} // namespace

template <class Backend>
DenseInverse<Backend>::DenseInverse(const CsrMatrix &A, const bool is_symmetric)
    : ViewedOperator(A.range()), n_all(static_cast<int>(A.range()->n_global())),
      symmetric(is_symmetric)
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

/// Stores the rows of other ranks in X, in which each rank has stored its own rows. Collective.
template <class Backend>
void DenseInverse<Backend>::gather_rows(const DensePanel X) const
{
  constexpr std::size_t at_once = 64; // rows per global sum, few to keep its buffers small
  const auto n = static_cast<std::size_t>(n_all),
             first = static_cast<std::size_t>(range()->first());
  std::vector<double> all(n * n), own(static_cast<std::size_t>(this->n()) * n);
  if (!own.empty())
    executor()->copy_to_host(own.data(), X.X + first * n, own.size() * sizeof(double));
  std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(first * n));
  for (std::size_t row = 0; row < n; row += at_once)
    range()->communicator()->sum(all.data() + row * n,
                                 static_cast<int>(std::min(at_once, n - row) * n));
  executor()->copy_from_host(X.X, all.data(), all.size() * sizeof(double));
}

/// Stores A in X, with the rows of all ranks.
template <class Backend>
void DenseInverse<Backend>::fill(const CsrMatrix &A, const DensePanel X) const
{
  Buffer<double> numbers;
  if (all_rows) {
    std::vector<double> own(static_cast<std::size_t>(A.n()));
    std::iota(own.begin(), own.end(), static_cast<double>(range()->first()));
    const Buffer<double> on_executor(A.executor(), own.data(), own.size());
    numbers = A.domain()->with_ghosts(on_executor.data());
  }
  Runner<Backend>(*A.executor())
      .run(teams(A.n(), FillDenseRow{A.csr_view(), X, static_cast<int>(range()->first()),
                                     all_rows ? numbers.data() : nullptr}));
  if (all_rows)
    gather_rows(X);
}

/// Stores the inverse of X in `entries`, by a Cholesky factorisation that overwrites X. Returns
/// false if X is indefinite on any rank.
template <class Backend>
bool DenseInverse<Backend>::invert_by_cholesky(const DensePanel X)
{
  const CholeskyOutcome outcome = cholesky_inverse<Backend>(executor(), X, entries.data());
  deficiency = outcome.rank_deficiency;
  return range()->max(outcome.is_indefinite ? 1. : 0.) == 0.;
}

template <class Backend>
void DenseInverse<Backend>::update(const CsrMatrix &A)
{
  Buffer<double> work(A.executor(), entries.size());
  const DensePanel X{work.data(), n_all, 0, 0};
  fill(A, X);
  if (symmetric && invert_by_cholesky(X))
    return;
  if (symmetric)
    fill(A, X);
  deficiency = pivoted_inverse<Backend>(executor(), X, symmetric, entries.data());
}

template <class Backend>
const double *DenseInverse<Backend>::prepare(StepRunner &runner, double *const v) const
{
  if (!all_rows)
    return v;
  double *const to = gathered.data();
  static_cast<Runner<Backend> &>(runner).run(
      rows(n(), [v, to] FEMGPU_BODY(const int i) { to[i] = v[i]; }));
  all_rows->update_ghost_values(runner, to);
  return to;
}

template void store_product_on<ThisBackend>(const ViewedOperator<DenseView> &,
                                            const Vector<double> &, Vector<double> &);
template class DenseInverse<ThisBackend>;
} // namespace femgpu::linalg
