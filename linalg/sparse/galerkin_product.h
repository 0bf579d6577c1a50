#ifndef femgpu_linalg_sparse_galerkin_product_h
#define femgpu_linalg_sparse_galerkin_product_h

#include "linalg/sparse/product.h"
#include "linalg/sparse/transpose.h"

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
 */
template <class Backend>
class GalerkinProduct
{
public:
  /// @throws as Product
  GalerkinProduct(const CsrMatrix &A, const CsrMatrix &P, ProductKind kind = ProductKind::general);

  const std::shared_ptr<const CsrMatrix> &matrix() const
  {
    return coarse.matrix();
  }
  /// Pᵀ
  const std::shared_ptr<const CsrMatrix> &restriction() const
  {
    return P_transposed.matrix();
  }

  /// Takes over the values of A and P, whose patterns are those that this was made of.
  /// @throws SolverError if they have not as many entries
  void update(const CsrMatrix &A, const CsrMatrix &P);

private:
  DerivedMatrix<Backend> P_transposed;
  Product<Backend> AP;
  Product<Backend> coarse;
};
} // namespace femgpu::linalg

#endif
