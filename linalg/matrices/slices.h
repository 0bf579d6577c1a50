#ifndef femgpu_linalg_matrices_slices_h
#define femgpu_linalg_matrices_slices_h

#include "linalg/base/method.h"

#include <cstddef>
#include <vector>

namespace femgpu::linalg
{
/// Rows in slices of 2^log_slice, each as wide as its longest row.
struct RowSlices
{
  std::vector<int> order;          ///< the row at each position
  bool is_sorted;                  ///< else each row is at its own position
  std::vector<std::size_t> starts; ///< of slices, in entries with padding; one more than slices

  /// Returns the low 32 bits of the starts, as stored in memory.
  std::vector<int> low_starts() const;
};

/**
 * Chooses slices, and sorts rows by their length, within windows, if that saves more bytes of
 * padding than an array of the order needs.
 * @param row_lengths n
 * @throws ParameterError if a slice has 2^31 entries or more
 * @param entry_bytes size of an entry
 */
RowSlices choose_slices(const std::vector<int> &row_lengths, int log_slice, int window,
                        std::size_t entry_bytes);

/// Reads option `slice`, a power of two up to 1024, and returns its logarithm. @throws
/// ParameterError
int slice_option(Method &method, int default_slice);
} // namespace femgpu::linalg

#endif
