#ifndef femgpu_linalg_preconditioners_multigrid_dense_inverse_h
#define femgpu_linalg_preconditioners_multigrid_dense_inverse_h

#include "linalg/operators/csr_matrix.h"

#include <memory>

namespace femgpu::linalg
{
/// A⁻¹ as a full matrix, so that it is applied like any other.
template <class Backend>
class DenseInverse
{
public:
  /// @param A some hundred rows: n² entries and n³ operations
  explicit DenseInverse(const CsrMatrix &A);

  const CsrMatrix &matrix() const
  {
    return *inverse;
  }

  /**
   * Inverts by sweeps (Gauss-Jordan, in place) of some pivots at a time, without an exchange of
   * rows, as symmetric positive definite matrices need none. A pivot of which less than 1e-12 is
   * left is that of a singular A: its row and column are 0 then, which makes a generalised inverse
   * that is symmetric as A is.
   */
  void update(const CsrMatrix &A);

  /// Rows of which A is singular.
  int n_singular() const
  {
    return defects;
  }

private:
  std::shared_ptr<CsrMatrix> inverse;
  int defects = 0;
};
} // namespace femgpu::linalg

#endif
