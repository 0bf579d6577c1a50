#ifndef femgpu_linalg_matrices_cusparse_triangles_h
#define femgpu_linalg_matrices_cusparse_triangles_h

#include "linalg/execution/memory/executor.h"
#include "linalg/execution/steps/steps.h"

#include <cstddef>
#include <memory>

namespace femgpu::linalg
{
/// Vectors of n elements that triangular solves work on: w = (D + L)⁻¹ b and z = (D + U)⁻¹ w.
struct TriangleVectors
{
  double *b, *w, *z;
};

/// Solves with both triangles of a matrix, each with the diagonal, by cusparseSpSV.
class CusparseTriangles
{
public:
  virtual ~CusparseTriangles() = default;
  virtual void solve_lower(StepRunner &runner) const = 0;
  virtual void solve_upper(StepRunner &runner) const = 0;
};

/**
 * Analyses a CSR matrix in the memory of a device. Its values must not change afterwards, and
 * neither matrix nor vectors may go before the result.
 * @throws ParameterError on the host
 */
template <class Backend>
std::unique_ptr<CusparseTriangles>
make_cusparse_triangles(const ExecutorPtr &executor, int n, std::size_t n_nonzeros,
                        const int *row_starts, const int *columns, const double *values,
                        const TriangleVectors &vectors);
} // namespace femgpu::linalg

#endif
