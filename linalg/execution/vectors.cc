#include "linalg/execution/vector_operations.h"

#include "linalg/base/error.h"
#include "linalg/base/indices.h"
#include "linalg/execution/dispatch_product.h"

#include <cmath>
#include <string>

namespace femgpu::linalg
{
double dot(const Vector<double> &x, const Vector<double> &y)
{
  return on_backend(x.space()->executor()->backend(),
                    [&](const auto on) { return dot_on<typename decltype(on)::Backend>(x, y); });
}

double norm(const Vector<double> &x)
{
  return std::sqrt(dot(x, x));
}

void combine(const double a, Vector<double> &x, const double b, const Vector<double> &y)
{
  on_backend(x.space()->executor()->backend(),
             [&](const auto on) { combine_on<typename decltype(on)::Backend>(a, x, b, y); });
}

void scale(Vector<double> &x, const double a)
{
  combine(a, x, 0., x);
}

bool LinearOperator::get_diagonal(Vector<double> & /* d */) const
{
  return false;
}

void check_csr(const Executor &executor, const DeviceCsr &A)
{
  if (A.n_nonzeros > static_cast<std::size_t>(max_indices))
    throw InputError("A CSR matrix in device memory has " + std::to_string(A.n_nonzeros) +
                     " entries, but may have at most " + std::to_string(max_indices) +
                     ". Pass larger matrices from host memory.");
  const int row = on_backend(executor.backend(), [&](const auto on) {
    return first_invalid_row_on<typename decltype(on)::Backend>(executor, A);
  });
  if (row < A.n)
    throw InputError("Row " + std::to_string(row) + " of a CSR matrix with " + std::to_string(A.n) +
                     " rows and " + std::to_string(A.n_nonzeros) +
                     " entries in device memory is invalid: row starts must ascend from 0 to the "
                     "number of entries, and columns must be in range and in ascending order.");
}

const CsrMatrix &Matrix::csr() const
{
  if (const CsrMatrix *const A = find_csr())
    return *A;
  throw SolverError("The entries of this operator are not stored, but the method needs them. Use "
                    "the preconditioner identity, jacobi, chebyshev or your own, the format csr, "
                    "and a solver other than ca-gmres with a blocked basis.");
}

bool Matrix::get_diagonal(Vector<double> &d) const
{
  const CsrMatrix &A = csr();
  on_backend(A.executor()->backend(),
             [&](const auto on) { get_diagonal_on<typename decltype(on)::Backend>(A, d); });
  return true;
}

template void store_product(const FormatViews<FormatScalars>::Operator &, const Vector<double> &,
                            Vector<double> &);
template void store_product(const PreconditionerOperator &, const Vector<double> &,
                            Vector<double> &);
template void store_product(const ViewedOperator<CsrView<double>> &, const Vector<double> &,
                            Vector<double> &);
template void store_product(const ViewedOperator<CsrView<float>> &, const Vector<double> &,
                            Vector<double> &);
template void store_product(const ViewedOperator<CsrView<BFloat16>> &, const Vector<double> &,
                            Vector<double> &);
} // namespace femgpu::linalg
