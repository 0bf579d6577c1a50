#ifndef femgpu_linalg_preconditioners_multigrid_dense_panel_h
#define femgpu_linalg_preconditioners_multigrid_dense_panel_h

#include "linalg/base/host_device.h"

#include <cstddef>

namespace femgpu::linalg
{
/// Consecutive columns of a dense n x n matrix that a blocked elimination processes together.
struct DensePanel
{
  static constexpr int maximum = 32;
  double *X; ///< n x n, row by row
  int n, first, count;

  FEMGPU_HD
  double *row(const int i) const
  {
    return X + static_cast<std::size_t>(i) * n;
  }
  FEMGPU_HD
  bool has(const int j) const
  {
    return j >= first && j < end();
  }
  FEMGPU_HD
  int end() const
  {
    return first + count;
  }
};

/// A matrix counts as singular if a pivot is smaller than this fraction of the original diagonal
/// entry (Cholesky), or of the largest original entry of the pivot's column (elimination).
constexpr double singular_pivot = 1e-12;
} // namespace femgpu::linalg

#endif
