#ifndef femgpu_linalg_matrices_entry_blocks_h
#define femgpu_linalg_matrices_entry_blocks_h

#include "linalg/matrices/format.h"

#include <cstddef>
#include <vector>

/**
 * @file
 * Matrix-vector products of formats that divide the entries into blocks of equal size, regardless
 * of row boundaries. If a row spans several blocks, its partial sums are added afterwards, in a
 * fixed order and without atomic operations (Dehnavi 2012, chapter 3).
 */
namespace femgpu::linalg
{
constexpr int block_threads = 256; ///< threads of the team that multiplies a block

/// Returns the number of blocks of @p block_size entries.
inline int n_entry_blocks(const int n_entries, const int block_size)
{
  return n_entries / block_size + (n_entries % block_size > 0 ? 1 : 0);
}

/// The entries begin <= k < end of a block.
struct EntryRange
{
  int begin, end;
};

/// Computes values[k] * v[columns[k]] for the entries k of a block, and stores these products from
/// the start of the team's scratch memory on, where the whole team can read them. Returns the range
/// of these entries.
template <class Team, class Value>
FEMGPU_HD
EntryRange multiply_entries(const Team &team, const int block, const int block_size,
                            const int n_entries, const int *columns, const Value *values,
                            const double *v)
{
  double *const products = team.scratch();
  const int begin = block * block_size;
  const int end = n_entries - begin < block_size ? n_entries : begin + block_size;
  for (int k = begin + team.rank(); k < end; k += team.size())
    products[k - begin] = static_cast<double>(values[k]) * v[columns[k]];
  team.sync();
  return {begin, end};
}

/// A row that begins in one block and continues in the next ones, first <= block < last.
struct SplitRow
{
  int row, first, last;
};

/// Returns the rows that span several blocks of @p block_size entries.
/// @param row_starts first entry of each row, then the number of entries
inline std::vector<SplitRow> find_split_rows(const std::vector<int> &row_starts,
                                             const int block_size)
{
  std::vector<SplitRow> split_rows;
  for (std::size_t i = 0; i + 1 < row_starts.size(); ++i) {
    if (row_starts[i] == row_starts[i + 1])
      continue;
    const int first = row_starts[i] / block_size, last = (row_starts[i + 1] - 1) / block_size;
    if (first < last)
      split_rows.push_back({static_cast<int>(i), first + 1, last + 1});
  }
  return split_rows;
}

/// Adds to each split row of @p product the row's partial sums in the blocks after its first one,
/// which are in @p block_carries.
template <class Backend>
void add_carries(Runner<Backend> &steps, const Buffer<SplitRow> &split_rows,
                 const Buffer<double> &block_carries, Buffer<double> &product)
{
  steps.run(rows(static_cast<int>(split_rows.size()),
                 [rows = split_rows.data(), carries = block_carries.data(),
                  Av = product.data()] FEMGPU_BODY(const int i) {
                   const SplitRow split = rows[i];
                   double sum = Av[split.row];
                   for (int block = split.first; block < split.last; ++block)
                     sum += carries[block];
                   Av[split.row] = sum;
                 }));
}

/// A format whose product A v is computed block by block, before the kernel that uses the product.
template <class Backend, class Value>
class EntryBlockFormat : public Format<Value>
{
public:
  Matrix::View view() const override
  {
    return StoredView{this->n(), Av.data()};
  }

protected:
  using Format<Value>::Format;

  /// Divides the entries into blocks of @p block_size.
  /// @param row_starts first entry of each row, then the number of entries
  void split(const std::vector<int> &row_starts, const int block_size)
  {
    const ExecutorPtr &owner = this->executor();
    const std::vector<SplitRow> rows = find_split_rows(row_starts, block_size);
    n_blocks = n_entry_blocks(row_starts.back(), block_size);
    split_rows = Buffer<SplitRow>(owner, rows.data(), rows.size());
    carries = Buffer<double>(owner, static_cast<std::size_t>(n_blocks));
    Av = Buffer<double>(owner, static_cast<std::size_t>(this->n()));
  }
  /// Returns the bytes that a product reads and writes in addition to A and v: the split rows once,
  /// the carries and Av twice.
  std::size_t fixup_bytes() const
  {
    return split_rows.bytes() + 2 * carries.bytes() + 2 * Av.bytes();
  }

  int n_blocks = 0;
  Buffer<SplitRow> split_rows;
  /// `carries` has for each block its partial sum of the row that began in an earlier block, or 0;
  /// Av is the product A v. Both are used by one solver at a time.
  mutable Buffer<double> carries, Av;
};
} // namespace femgpu::linalg

#endif
