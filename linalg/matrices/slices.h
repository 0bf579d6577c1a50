#ifndef femgpu_linalg_matrices_slices_h
#define femgpu_linalg_matrices_slices_h

#include "linalg/base/method.h"

#include <cstddef>
#include <vector>

namespace femgpu::linalg
{
/// Rows in slices of 2^log_slice rows; each slice is as wide as its longest row.
struct RowSlices
{
  std::vector<int> order;          ///< the row at each position
  bool is_sorted;                  ///< whether rows are sorted; if not, row i is at position i
  std::vector<std::size_t> starts; ///< first entry of each slice, counting padding, then the total

  /// Returns the low 32 bits of the starts, which RowStarts stores.
  std::vector<int> low_starts() const;
};

/**
 * Divides rows into slices. Sorts rows by length within windows of @p window rows if that saves
 * more bytes of padding than an array of the order needs.
 * @param row_lengths length of each row
 * @param entry_bytes size of an entry
 * @throws ParameterError if a slice has 2^31 entries or more
 */
RowSlices choose_slices(const std::vector<int> &row_lengths, int log_slice, int window,
                        std::size_t entry_bytes);

/// Reads option `slice`, a power of two up to 1024, and returns its logarithm.
/// @throws ParameterError if the value is not a power of two, or is out of range
int slice_option(Method &method, int default_slice);
} // namespace femgpu::linalg

#endif
