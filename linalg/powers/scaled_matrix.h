#ifndef femgpu_linalg_powers_scaled_matrix_h
#define femgpu_linalg_powers_scaled_matrix_h

#include "linalg/base/host_matrix.h"
#include "linalg/execution/steps/diagonal_view.h"
#include "linalg/operators/matrix.h"

#include <utility>
#include <vector>

namespace femgpu::linalg
{
/// A M⁻¹ in host memory, from which blocks are filled.
struct ScaledMatrix
{
  HostCsr A;
  std::vector<double> m; ///< n, or empty:
  double uniform = 1.;   ///< all entries are this

  double value(const std::size_t k) const
  {
    return A.values[k] * (m.empty() ? uniform : m[A.columns[k]]);
  }
};

/// A copy from an executor, which owns its memory.
class HostCopy
{
public:
  HostCopy(const Matrix &A, const DiagonalView &m);

  const ScaledMatrix &scaled() const
  {
    return copy;
  }

private:
  HostMatrix matrix;
  ScaledMatrix copy;
};
} // namespace femgpu::linalg

#endif
