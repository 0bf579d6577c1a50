#ifndef femgpu_linalg_sparse_galerkin_product_h
#define femgpu_linalg_sparse_galerkin_product_h

#include "linalg/sparse/row_exchange.h"

#include <memory>

namespace femgpu::linalg
{
/**
 * Computes Pᵀ A P by two products, A P and Pᵀ (A P): the matrix on the coarse space that is spanned
 * by the columns of P. Pᵀ and A P are stored, so that an update only copies the new values of P
 * to Pᵀ and recomputes the values of the two products. Memory is needed for Pᵀ, A P and the result.
 *
 * The entries ij and ji of the result are sums of the same terms in different orders. If A is known
 * to be symmetric, ProductKind::symmetric computes only the upper triangle, which halves the
 * additions of the second product, and the result is bitwise symmetric.
 *
 * For distributed matrices, A P needs the rows of P that other ranks own, and the rows of Pᵀ (A P)
 * that other ranks own are sent to them. The result is then symmetric up to rounding, and
 * ProductKind::symmetric halves the additions only in rows to which no other rank contributes.
 */
template <class Backend>
class GalerkinProduct
{
public:
  /// Collective. Throws the exceptions of Product's constructor.
  GalerkinProduct(const CsrMatrix &A, const CsrMatrix &P, ProductKind kind = ProductKind::general);

  std::shared_ptr<const CsrMatrix> matrix() const
  {
    return accumulated ? accumulated->matrix() : coarse.matrix();
  }
  /// Returns Pᵀ. On several ranks it also has rows that other ranks own.
  std::shared_ptr<const CsrMatrix> restriction() const
  {
    return P_transposed.matrix();
  }

  /// Updates the result from the values of A and P, which must have the original patterns.
  /// @throws SolverError if A or P has a different number of entries
  void update(const CsrMatrix &A, const CsrMatrix &P);

private:
  const CsrMatrix &all_rows(const CsrMatrix &P) const
  {
    return P_rows ? P_rows->matrix() : P;
  }

  std::unique_ptr<GhostRows<Backend>> P_rows; ///< P with the rows of ghosts; nullptr on one rank
  DerivedMatrix<Backend> P_transposed;
  RowGroups column_groups; ///< groups of the columns of P
  Product<Backend> AP, coarse;
  std::unique_ptr<AccumulatedRows<Backend>> accumulated; ///< the result; nullptr on one rank
};
} // namespace femgpu::linalg

#endif
