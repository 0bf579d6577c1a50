#ifndef femgpu_linalg_execution_steps_columns_h
#define femgpu_linalg_execution_steps_columns_h

#include "linalg/base/host_device.h"

#include <cstddef>

namespace femgpu::linalg
{
/// Vectors side by side: column c begins at data + c * stride. A view, copied freely.
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

  /// So many of them, from column @p first on.
  FEMGPU_HD
  Columns part(const int first, const int n) const
  {
    return {(*this)[first], stride, n};
  }
};
} // namespace femgpu::linalg

#endif
