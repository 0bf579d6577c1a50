#ifndef femgpu_linalg_execution_dispatch_product_h
#define femgpu_linalg_execution_dispatch_product_h

#include "linalg/execution/backends.h"
#include "linalg/operators/linear_operator.h"

/**
 * @file
 * The definition of store_product(), for files that are not compiled for each backend. They
 * instantiate it for each kind of operator.
 */
namespace femgpu::linalg
{
/// Is defined in store_product.h, for files that are compiled for each backend.
template <class Backend, class... Views>
void store_product_on(const ViewedOperator<Views...> &A, const Vector<double> &x,
                      Vector<double> &y);

template <class... Views>
void store_product(const ViewedOperator<Views...> &A, const Vector<double> &x, Vector<double> &y)
{
  on_backend(A.executor()->backend(),
             [&](const auto on) { store_product_on<typename decltype(on)::Backend>(A, x, y); });
}
} // namespace femgpu::linalg

#endif
