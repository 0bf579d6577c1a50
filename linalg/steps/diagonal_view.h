#ifndef femgpu_linalg_steps_diagonal_view_h
#define femgpu_linalg_steps_diagonal_view_h

#include "linalg/base/host_device.h"

namespace femgpu::linalg
{
/// A view of the inverse of a diagonal preconditioner M, by default M = I. A call with a row number
/// returns the row's entry of M⁻¹.
struct DiagonalView
{
  const double *inverse = nullptr; ///< n entries; nullptr: all entries are equal
  double uniform = 1.;             ///< the value of all entries if `inverse` is nullptr

  FEMGPU_HD
  double operator()(const int i) const
  {
    return inverse == nullptr ? uniform : inverse[i];
  }
  FEMGPU_HD
  bool is_uniform() const
  {
    return inverse == nullptr;
  }
  bool is_identity() const
  {
    return is_uniform() && uniform == 1.;
  }
};
} // namespace femgpu::linalg

#endif
