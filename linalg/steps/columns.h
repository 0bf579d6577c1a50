#ifndef femgpu_linalg_steps_columns_h
#define femgpu_linalg_steps_columns_h

#include "linalg/base/host_device.h"

#include <cstddef>

namespace femgpu::linalg
{
/// A view of several vectors: column c begins at data + c * stride.
struct Columns
{
  double *data = nullptr;
  std::size_t stride = 0;
  int count = 0;

  FEMGPU_HD
  double *operator[](const int c) const
  {
    return data + stride * static_cast<std::size_t>(c);
  }

  /// Returns a view of the @p n columns that begin with column @p first.
  FEMGPU_HD
  Columns columns(const int first, const int n) const
  {
    return {(*this)[first], stride, n};
  }
};

/// Returns row @p i of Σ_k c_k V_k for the first @p count columns of V. On a GPU several loads are
/// in flight at once.
FEMGPU_HD
double combination(const Columns &V, const int count, const double *c, const int i)
{
  constexpr int n_in_flight = is_for_gpu ? 8 : 1;
  double sum = 0.;
  const double *v = V.data + i;
  for (int first = 0; first < count; first += n_in_flight) {
    double values[n_in_flight];
    FEMGPU_UNROLL
    for (int k = 0; k < n_in_flight; ++k, v += V.stride)
      values[k] = first + k < count ? *v : 0.;
    FEMGPU_UNROLL
    for (int k = 0; k < n_in_flight; ++k)
      if (first + k < count)
        sum += c[first + k] * values[k];
  }
  return sum;
}
} // namespace femgpu::linalg

#endif
