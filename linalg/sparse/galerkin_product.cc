#include "linalg/sparse/galerkin_product.h"

namespace femgpu::linalg
{
template <class Backend>
GalerkinProduct<Backend>::GalerkinProduct(const CsrMatrix &A, const CsrMatrix &P,
                                          const ProductKind kind)
    : P_transposed(transposed<Backend>(P)), AP(A, P),
      coarse(*P_transposed.matrix(), *AP.matrix(), kind)
{}

template <class Backend>
void GalerkinProduct<Backend>::update(const CsrMatrix &A, const CsrMatrix &P)
{
  P_transposed.update(P);
  AP.update(A, P);
  coarse.update(*P_transposed.matrix(), *AP.matrix());
}

template class GalerkinProduct<ThisBackend>;
} // namespace femgpu::linalg
