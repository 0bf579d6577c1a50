#ifndef femgpu_linalg_base_row_starts_h
#define femgpu_linalg_base_row_starts_h

#include "linalg/base/host_device.h"

#include <climits>
#include <cstddef>

namespace femgpu::linalg
{
/**
 * The row starts 0 = s_0 <= s_1 <= ... <= s_n of a CSR matrix. They may exceed 32 bits, but take 4
 * bytes each: they are stored modulo 2^32, together with the rows at which they reach the next
 * multiple of 2^32. A row has fewer than 2^31 entries. This class is a view of n+1 numbers in
 * memory; it is passed to kernels by value.
 */
class RowStarts
{
public:
  static constexpr int n_crossings = 4; ///< maximum number of multiples of 2^32 that are crossed
  static constexpr std::size_t max_entries =
      ((std::size_t{n_crossings} + 1) << 32) - 1; ///< 257 GB of values and columns

  RowStarts() = default;

  /// Makes a view of the row starts @p low of a matrix with fewer than 2^32 entries.
  FEMGPU_HD
  RowStarts(const int *low) : low(low)
  {}

  /// Makes a view for a matrix with up to max_entries entries.
  /// @param low the low 32 bits of n+1 row starts, in host memory if @p n_entries >= 2^32, because
  /// the constructor then reads them
  RowStarts(const int *low, int n, std::size_t n_entries);

  /// Returns a view of the same row starts whose low bits are stored at @p other.
  RowStarts rebased(const int *other) const
  {
    RowStarts result = *this;
    result.low = other;
    return result;
  }

  FEMGPU_HD
  std::size_t operator[](const int i) const
  {
    if (!is_for_gpu && i < crossings[0]) // a branch that a CPU predicts
      return static_cast<unsigned int>(low[i]);
    std::size_t high = 0;
    FEMGPU_UNROLL
    for (int k = 0; k < n_crossings; ++k)
      high += i >= crossings[k] ? 1U : 0U;
    return high << 32U | static_cast<unsigned int>(low[i]);
  }

  FEMGPU_HD
  int length(const int i) const
  {
    return static_cast<int>(static_cast<unsigned int>(low[i + 1]) -
                            static_cast<unsigned int>(low[i]));
  }

  /// The low 32 bits of the n + 1 row starts; these are the complete row starts if the matrix has
  /// at most max_indices entries.
  const int *low = nullptr;

private:
  /// The first rows that start at or after 2^32, 2 * 2^32, ...; INT_MAX: there is no such row.
  int crossings[n_crossings] = {INT_MAX, INT_MAX, INT_MAX, INT_MAX};
};

/// Returns the low 32 bits of a row start, in the form in which RowStarts stores them.
inline int low_bits(const std::size_t start)
{
  return static_cast<int>(static_cast<unsigned int>(start));
}

/// The entries of a row.
template <class Value>
struct RowEntries
{
  int length;
  const int *columns; ///< ascending
  const Value *values;
};
} // namespace femgpu::linalg

#endif
