#ifndef femgpu_linalg_matrices_csr_view_h
#define femgpu_linalg_matrices_csr_view_h

#include "linalg/base/host_device.h"

namespace femgpu::linalg
{
/**
 * Compressed sparse rows, as a step sees them: entries row_starts[i] <= k < row_starts[i+1] belong
 * to row i. @p lanes_ neighbouring threads share a row ("T threads a row"; 1 on the host).
 */
template <int lanes_>
struct CsrView
{
  static constexpr int lanes = lanes_;

  int n;
  const int *row_starts; ///< n+1
  const int *columns;    ///< nnz, ascending in each row
  const double *values;  ///< nnz

  /// The share of thread @p lane of (A v)_i.
  FEMGPU_HD
  double row_product(const int i, const int lane, const double *v) const
  {
    const int end = row_starts[i + 1];
    double sum = 0.;
    for (int k = row_starts[i] + lane; k < end; k += lanes)
      sum += values[k] * v[columns[k]];
    return sum;
  }

  /// A_ii; 0 if there is no such entry.
  FEMGPU_HD
  double diagonal(const int i) const
  {
    const int end = row_starts[i + 1];
    for (int k = row_starts[i]; k < end; ++k)
      if (columns[k] == i)
        return values[k];
    return 0.;
  }
};
} // namespace femgpu::linalg

#endif
