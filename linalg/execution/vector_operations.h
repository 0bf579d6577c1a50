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
} // namespace femgpu::linalg

#endif
