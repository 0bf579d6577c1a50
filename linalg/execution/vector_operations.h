#ifndef femgpu_linalg_execution_vector_operations_h
#define femgpu_linalg_execution_vector_operations_h

#include "linalg/execution/backends.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/operators/device_csr.h"

/**
 * @file
 * The functions of operators/vector.h, operators/linear_operator.h and operators/device_csr.h as
 * they are compiled for each backend.
 */
namespace femgpu::linalg
{
template <class Backend>
double dot_on(const Vector<double> &x, const Vector<double> &y);

template <class Backend>
void combine_on(double a, Vector<double> &x, double b, const Vector<double> &y);

template <class Backend>
void get_diagonal_on(const CsrMatrix &A, Vector<double> &d);

/// Returns the first row of @p A that is invalid, see check_csr(); A.n if all rows are valid.
template <class Backend>
int first_invalid_row_on(const Executor &executor, const DeviceCsr &A);

/// Is defined in store_product.h.
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
