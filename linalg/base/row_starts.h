#ifndef femgpu_linalg_base_row_starts_h
#define femgpu_linalg_base_row_starts_h

#include "linalg/base/host_device.h"

#include <climits>
#include <cstddef>

namespace femgpu::linalg
{
/**
 * Where the entries of each row of a matrix begin: 0 = s_0 <= s_1 <= ... <= s_n. The numbers may be
 * beyond 32 bits, but take 4 bytes each: memory has them modulo 2^32, and the rows are known from
 * which on another 2^32 is to be added. A row has fewer than 2^31 entries. Of n+1 numbers somewhere
 * in memory this is a view, which kernels get by value.
 */
class RowStarts
{
public:
  static constexpr int n_crossings = 4; ///< of multiples of 2^32
  static constexpr std::size_t most_entries =
      ((std::size_t{n_crossings} + 1) << 32) - 1; ///< 257 GB

  RowStarts() = default;

  /// Of fewer than 2^32 entries: none of the n+1 numbers @p low has lost bits.
  FEMGPU_HD
  RowStarts(const int *low) : low(low)
  {}

  /// Of any number up to most_entries. @param low n+1, in host memory; read if @p n_entries are
  /// many
  RowStarts(const int *low, int n, std::size_t n_entries);

  /// The same starts, whose low bits are copied to @p other.
  RowStarts in(const int *other) const
  {
    RowStarts result = *this;
    result.low = other;
    return result;
  }

  FEMGPU_HD
  std::size_t operator[](const int i) const
  {
    if (!is_for_gpu && i < crossings[0]) // which a core foresees
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

  /// The low 32 bits of each: where a matrix has no more than most_indices entries, its row starts.
  const int *low = nullptr;

private:
  /// The first rows that start at or behind 2^32, 2 * 2^32, ...
  int crossings[n_crossings] = {INT_MAX, INT_MAX, INT_MAX, INT_MAX};
};

/// What memory has of a start.
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
