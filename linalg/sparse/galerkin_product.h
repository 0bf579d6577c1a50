#ifndef femgpu_linalg_sparse_galerkin_product_h
#define femgpu_linalg_sparse_galerkin_product_h

#include "linalg/sparse/part_rows.h"

#include <memory>

namespace femgpu::linalg
{
/**
 * Pᵀ A P by two products, A P and Pᵀ (A P): the matrix of a coarser space whose basis are the
 * columns of P. Pᵀ and A P are kept, so that new values are a pass over P and the values of two
 * products; the memory is that of both and of the result.
 *
 * The entries ij and ji of the result are sums of the same terms in different orders. Where A is
 * known to be symmetric, ProductKind::symmetric computes the upper triangle alone, which takes half
 * the additions of the second product, and the result is symmetric to the last bit.
 *
 * Of matrices in parts A P takes the rows of P that others own, and what Pᵀ (A P) has in rows of
 * others goes to them; the result is then symmetric up to rounding.
 */
template <class Backend>
class GalerkinProduct
{
public:
  /// Is called by all parts. @throws as Product
  GalerkinProduct(const CsrMatrix &A, const CsrMatrix &P, ProductKind kind = ProductKind::general)
      : P_rows(A.range()->communicator() == nullptr
                   ? nullptr
                   : std::make_unique<GhostRows<Backend>>(*A.domain(), P)),
        P_transposed(transposed<Backend>(P)),
        columns(P_rows ? RowGroups(0) : group_rows<Backend>(pattern_of(*P_transposed.matrix()))),
        AP(A, all_rows(P), ProductKind::general, P_rows ? nullptr : &columns),
        coarse(*P_transposed.matrix(), *AP.matrix(), P_rows ? ProductKind::general : kind,
               P_rows ? nullptr : &columns)
  {
    if (P_rows)
      collected = std::make_unique<CollectedRows<Backend>>(P.domain(), *coarse.matrix());
  }

  std::shared_ptr<const CsrMatrix> matrix() const
  {
    return collected ? collected->matrix() : coarse.matrix();
  }
  /// Pᵀ, of a part also with the rows that others own.
  std::shared_ptr<const CsrMatrix> restriction() const
  {
    return P_transposed.matrix();
  }

  /// Takes over the values of A and P, whose patterns are those that this was made of.
  /// @throws SolverError if they have not as many entries
  void update(const CsrMatrix &A, const CsrMatrix &P)
  {
    if (P_rows)
      P_rows->update(P);
    P_transposed.update(P);
    AP.update(A, all_rows(P));
    coarse.update(*P_transposed.matrix(), *AP.matrix());
    if (collected)
      collected->update(*coarse.matrix());
  }

private:
  const CsrMatrix &all_rows(const CsrMatrix &P) const
  {
    return P_rows ? P_rows->matrix() : P;
  }

  std::unique_ptr<GhostRows<Backend>> P_rows; ///< of a part
  DerivedMatrix<Backend> P_transposed;
  RowGroups columns; ///< of P
  Product<Backend> AP, coarse;
  std::unique_ptr<CollectedRows<Backend>> collected; ///< of a part
};
} // namespace femgpu::linalg

#endif
