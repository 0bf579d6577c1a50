#ifndef femgpu_linalg_preconditioners_diagonal_view_h
#define femgpu_linalg_preconditioners_diagonal_view_h

#include "linalg/base/host_device.h"

namespace femgpu::linalg
{
/// A diagonal M⁻¹, as a row functor that a step multiplies with.
struct DiagonalView
{
  const double *inverse; ///< n; nullptr: all entries are the same
  double uniform;        ///< then this

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
  DiagonalView diagonal() const
  {
    return *this;
  }
};

/// M = I, as a row functor.
struct IdentityView
{
  FEMGPU_HD
  double operator()(int /* i */) const
  {
    return 1.;
  }
  static DiagonalView diagonal()
  {
    return {nullptr, 1.};
  }
};
} // namespace femgpu::linalg

#endif
