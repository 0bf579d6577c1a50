#ifndef femgpu_linalg_powers_fill_block_h
#define femgpu_linalg_powers_fill_block_h

#include "linalg/base/parallel.h"
#include "linalg/powers/row_blocks.h"

#include <algorithm>

namespace femgpu::linalg
{
/// Copies all elements of the vector @p from into @p chunk, beginning at byte @p offset.
template <class T>
void copy_array(const std::vector<T> &from, char *chunk, const std::size_t offset)
{
  std::copy(from.begin(), from.end(), reinterpret_cast<T *>(chunk + offset));
}

/// Writes the slices of a block, with the entries of A, to @p chunk. local_index(j) returns the
/// local number of column j of A; padding gets the local number of its row.
template <class Column, class LocalIndex>
void fill_block(const ScaledMatrix &A, const RowBlock &block, const RowBlockLayout<Column> &layout,
                const LocalIndex &local_index, char *chunk)
{
  auto *const values = reinterpret_cast<double *>(chunk + layout.values);
  auto *const columns = reinterpret_cast<Column *>(chunk + layout.columns);
  const int size = 1 << layout.log_slice;
  const int n_slices = static_cast<int>(block.slice_starts.size()) - 1;
  parallel_for(n_slices * size, [&](const int row) {
    const int slice = row >> layout.log_slice;
    const int i = row < block.n_sliced ? block.row(row) : -1; // only padding
    std::size_t k = i < 0 ? 0 : A.A.row_starts[i];
    const std::size_t end = i < 0 ? 0 : A.A.row_starts[i + 1];
    for (std::size_t at = block.slice_starts[slice] + static_cast<unsigned int>(row & (size - 1));
         at < block.slice_starts[slice + 1]; at += size, ++k) {
      columns[at] = static_cast<Column>(k < end ? local_index(A.A.columns[k])
                                        : i < 0 ? 0
                                                : local_index(i));
      values[at] = k < end ? A.value(k) : 0.;
    }
  });
  copy_array(block.slice_starts, chunk, layout.slice_starts);
  copy_array(block.others, chunk, layout.others);
}
} // namespace femgpu::linalg

#endif
