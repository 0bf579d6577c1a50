#ifndef femgpu_linalg_base_indices_h
#define femgpu_linalg_base_indices_h

#include "linalg/base/host_device.h"

#include <limits>

/**
 * @file
 * Arithmetic with indices. Rows and entries are counted by int; what is larger, as the product of
 * two sizes, by std::size_t.
 */
namespace femgpu::linalg
{
/// So many rows, and so many entries, may a matrix have: the threads of a block of a GPU, or the
/// last group of padded rows, then step beyond the end without leaving int.
constexpr int most_indices = std::numeric_limits<int>::max() - (1 << 20);

/// Calls f(i) for i = first, first + stride, ... < n. Unsigned: with the threads of a whole grid as
/// its stride, 2^30 at most, a loop may step beyond 2^31.
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
