#include "linalg/sparse/galerkin_product.h"

#include "linalg/base/atomic.h"

#include <utility>

namespace femgpu::linalg
{
namespace
{
/// Sets flags[j] = 1 for the columns j < n of a row.
FEMGPU_HD
void flag_columns(const RowEntries<double> &row, const int n, int *flags)
{
  for (int k = 0; k < row.length; ++k)
    if (row.columns[k] < n)
      store_relaxed(flags + row.columns[k], 1);
}

/**
 * Returns a number for each row i of Pᵀ: 1 if entries ij and ji of the terms of PᵀAP that this rank
 * computes may differ although A is symmetric. They are equal if this rank owns all rows of P with
 * an entry in column i, and if A does not couple these rows with rows of other ranks.
 * @param all_rows P, followed by the rows of its ghosts
 */
template <class Backend>
Buffer<int> unsymmetric_rows(const CsrMatrix &A, const CsrMatrix &P, const CsrMatrix &all_rows)
{
  const ExecutorPtr &owner = A.executor();
  const int n = A.n(), n_coarse = P.domain()->n(), n_columns = P.n_columns();
  Buffer<int> flags(owner, static_cast<std::size_t>(n_columns));
  Runner<Backend> runner(*owner);
  runner.run(rows(n_columns, [n_coarse, flags = flags.data()] FEMGPU_BODY(const int i) {
    flags[i] = i < n_coarse ? 0 : 1; // ghosts belong to other ranks
  }));
  runner.run(rows(n, [n, n_columns, A = A.csr_view(), P = P.csr_view(),
                      flags = flags.data()] FEMGPU_BODY(const int i) {
    const RowEntries<double> row = A.entries(i);
    if (row.length > 0 && row.columns[row.length - 1] >= n) // ghost columns are last
      flag_columns(P.entries(i), n_columns, flags);
  }));
  runner.run(rows(all_rows.n() - n,
                  [n, n_coarse, P = all_rows.csr_view(), flags = flags.data()] FEMGPU_BODY(
                      const int ghost) { flag_columns(P.entries(n + ghost), n_coarse, flags); }));
  return flags;
}
} // namespace

template <class Backend>
GalerkinProduct<Backend>::GalerkinProduct(const CsrMatrix &A, const CsrMatrix &P,
                                          const ProductKind kind)
    : P_rows(A.range()->communicator() == nullptr
                 ? nullptr
                 : std::make_unique<GhostRows<Backend>>(*A.domain(), P, Multiplies::matrices)),
      P_transposed(transposed<Backend>(P)),
      column_groups(P_rows ? RowGroups(0)
                           : group_rows<Backend>(pattern_of(*P_transposed.matrix()))),
      AP(A, all_rows(P), ProductKind::general, P_rows ? nullptr : &column_groups),
      coarse(*P_transposed.matrix(), *AP.matrix(), kind, P_rows ? nullptr : &column_groups,
             P_rows && kind == ProductKind::symmetric
                 ? unsymmetric_rows<Backend>(A, P, P_rows->matrix())
                 : Buffer<int>())
{
  if (P_rows)
    accumulated = std::make_unique<AccumulatedRows<Backend>>(P.domain(), *coarse.matrix());
}

template <class Backend>
void GalerkinProduct<Backend>::update(const CsrMatrix &A, const CsrMatrix &P)
{
  if (P_rows)
    P_rows->update(P);
  P_transposed.update(P);
  AP.update(A, all_rows(P));
  coarse.update(*P_transposed.matrix(), *AP.matrix());
  if (accumulated)
    accumulated->update(*coarse.matrix());
}

template class GalerkinProduct<ThisBackend>;
} // namespace femgpu::linalg
