#ifndef femgpu_linalg_base_indices_h
#define femgpu_linalg_base_indices_h

#include "linalg/base/host_device.h"

#include <limits>

/**
 * @file
 * Arithmetic with indices. Rows and columns have type int; numbers that may be larger, such as
 * numbers of entries and products of two sizes, have type std::size_t.
 */
namespace femgpu::linalg
{
/// The maximum number of rows, and of entries if they are counted by int. It is smaller than the
/// largest int, so that indices of excess threads of a GPU block, or of padding, do not overflow.
constexpr int max_indices = std::numeric_limits<int>::max() - (1 << 20);

/// Calls f(i) for i = first, first + stride, ... < n. The arithmetic is unsigned, because the first
/// i >= n may exceed 2^31 if the stride is the number of threads of a grid (at most 2^30).
template <class Function>
FEMGPU_HD
void for_strided(const unsigned int first, const int n, const unsigned int stride,
                 const Function &f)
{
  for (unsigned int i = first; i < static_cast<unsigned int>(n); i += stride)
    f(static_cast<int>(i));
}
} // namespace femgpu::linalg

#endif
