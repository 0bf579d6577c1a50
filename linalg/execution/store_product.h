#ifndef femgpu_linalg_execution_store_product_h
#define femgpu_linalg_execution_store_product_h

#include "linalg/execution/this_backend.h"
#include "linalg/operators/linear_operator.h"
#include "linalg/steps/row_bodies.h"

namespace femgpu::linalg
{
/// Computes y = A x on one backend.
template <class Backend, class... Views>
void store_product_on(const ViewedOperator<Views...> &A, const Vector<double> &x, Vector<double> &y)
{
  Runner<Backend>(*A.executor())
      .run(product(A, const_cast<double *>(x.data()), // a product changes only the ghosts of x
                   StoreProduct{y.data()}));
}
} // namespace femgpu::linalg

#endif
