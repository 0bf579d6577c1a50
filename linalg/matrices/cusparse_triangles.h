#ifndef femgpu_linalg_matrices_cusparse_triangles_h
#define femgpu_linalg_matrices_cusparse_triangles_h

#include "linalg/operators/csr_matrix.h"

#include <memory>

namespace femgpu::linalg
{
enum class CusparsePart
{
  lower,
  upper
};

/// y = T⁻¹ x with a triangle T of a matrix, with the diagonal, by cusparseSpSV.
class CusparseTriangle
{
public:
  virtual ~CusparseTriangle() = default;
  virtual void solve(StepRunner &runner) const = 0;
};

/**
 * Analyses a CSR matrix in the memory of a device, and gives nullptr if it has no rows. Its
 * values must not change afterwards, and neither matrix nor vectors may go before the result.
 * @throws ParameterError on the host
 */
template <class Backend>
std::unique_ptr<CusparseTriangle>
make_cusparse_triangle(CusparsePart part, const ExecutorPtr &executor, const CsrView<double> &A,
                       std::size_t n_nonzeros, double *x, double *y);
} // namespace femgpu::linalg

#endif
