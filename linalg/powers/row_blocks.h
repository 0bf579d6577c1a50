#ifndef femgpu_linalg_powers_row_blocks_h
#define femgpu_linalg_powers_row_blocks_h

#include "linalg/powers/scaled_matrix.h"
#include "linalg/steps/views.h"

#include <cstddef>
#include <utility>
#include <vector>

/**
 * @file
 * Blocks of rows for the forms of the matrix powers kernel. A block contains its own rows and other
 * rows, in slices; all its data are in one chunk of bytes.
 */
namespace femgpu::linalg
{
struct RowBlock
{
  int begin = 0, end = 0;  ///< own rows
  std::vector<int> others; ///< other rows, numbered after the own rows
  int n_sliced = 0;        ///< number of rows with stored entries, which come first
  std::vector<unsigned int> slice_starts = {0}; ///< first entry of each slice, padding included

  int n_own() const
  {
    return end - begin;
  }
  int n_rows() const
  {
    return n_own() + static_cast<int>(others.size());
  }
  int row(const int k) const
  {
    return k < n_own() ? begin + k : others[k - n_own()];
  }

  /// Divides the first @p n rows into slices of 2^log_slice rows.
  /// @throws SolverError if they have more than 2^32 - 1 entries, padding included
  void slice(const HostCsr &A, int n, int log_slice);
};

/// A block in the executor's memory.
template <class Column>
struct RowBlockView
{
  int begin, n_own, log_slice;
  const double *values;
  const Column *columns;
  const unsigned int *slice_starts;
  const int *others;

  /// Returns the row of the matrix with local number @p l.
  FEMGPU_HD
  int row(const int l) const
  {
    return l < n_own ? begin + l : others[l - n_own];
  }
  FEMGPU_HD
  unsigned int first_entry(const int l) const
  {
    return slice_starts[l >> log_slice] + (static_cast<unsigned int>(l) & ((1U << log_slice) - 1));
  }
  FEMGPU_HD
  unsigned int end_of_slice(const int l) const
  {
    return slice_starts[(l >> log_slice) + 1];
  }
  /// Returns the contribution of @p lane to the product of row @p l with @p v.
  template <int batch>
  FEMGPU_HD
  double row_product(const int l, const double *v, const int lane = 0, const int n_lanes = 1) const
  {
    const unsigned int first = first_entry(l), size = 1U << log_slice,
                       length = (end_of_slice(l) - slice_starts[l >> log_slice]) >> log_slice;
    return strided_product<batch>(Strided{values + first, size}, Strided{columns + first, size},
                                  lane, n_lanes, static_cast<int>(length), v);
  }
};

/// Offsets of the arrays of a block in its chunk.
template <class Column>
struct RowBlockLayout
{
  int begin, n_own, n_rows, log_slice;
  std::size_t end = 0;
  std::size_t values, columns, slice_starts, others;

  RowBlockLayout(const RowBlock &block, const int log_slice)
      : begin(block.begin), n_own(block.n_own()), n_rows(block.n_rows()), log_slice(log_slice),
        values(reserve<double>(block.slice_starts.back())),
        columns(reserve<Column>(block.slice_starts.back())),
        slice_starts(reserve<unsigned int>(block.slice_starts.size())),
        others(reserve<int>(block.others.size()))
  {}

  RowBlockView<Column> view(const char *chunk) const
  {
    return {begin,
            n_own,
            log_slice,
            array_at<double>(chunk, values),
            array_at<Column>(chunk, columns),
            array_at<unsigned int>(chunk, slice_starts),
            array_at<int>(chunk, others)};
  }

  template <class T>
  static const T *array_at(const char *chunk, const std::size_t offset)
  {
    return reinterpret_cast<const T *>(chunk + offset);
  }

protected:
  /// Reserves memory for @p count numbers at the end of the chunk. Returns the offset of this
  /// memory.
  template <class T>
  std::size_t reserve(const std::size_t count)
  {
    constexpr std::size_t line = 256; // alignment of the arrays in a chunk, in bytes
    return std::exchange(end, end + (count * sizeof(T) + line - 1) / line * line);
  }
};
} // namespace femgpu::linalg

#endif
