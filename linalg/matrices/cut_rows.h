#ifndef femgpu_linalg_matrices_cut_rows_h
#define femgpu_linalg_matrices_cut_rows_h

#include "linalg/base/buffer.h"
#include "linalg/base/host_device.h"

#include <cstddef>
#include <vector>

/**
 * @file
 * Products of formats that cut the entries into blocks of equal size, whatever the rows: a row that
 * a border cuts is put together afterwards, in a fixed order and without atomic operations
 * (Dehnavi 2012, chapter 3).
 */
namespace femgpu::linalg
{
/// A row that goes on in the blocks first <= block < last after the one where it begins.
struct CutRow
{
  int row, first, last;
};

/// Av_row += what the following blocks have found for the row
struct AddHeads
{
  const CutRow *cut_rows;
  const double *heads; ///< of each block: the sum of its entries that belong to an earlier row
  double *Av;

  FEMGPU_HD
  void operator()(const int i) const
  {
    const CutRow cut = cut_rows[i];
    double sum = Av[cut.row];
    for (int block = cut.first; block < cut.last; ++block)
      sum += heads[block];
    Av[cut.row] = sum;
  }
};

/// The rows that borders cut, of rows whose entries start at @p row_starts.
inline std::vector<CutRow> find_cut_rows(const std::vector<int> &row_starts, const int block_size)
{
  std::vector<CutRow> cut_rows;
  for (std::size_t i = 0; i + 1 < row_starts.size(); ++i) {
    if (row_starts[i] == row_starts[i + 1])
      continue;
    const int first = row_starts[i] / block_size, last = (row_starts[i + 1] - 1) / block_size;
    if (first < last)
      cut_rows.push_back({static_cast<int>(i), first + 1, last + 1});
  }
  return cut_rows;
}
} // namespace femgpu::linalg

#endif
