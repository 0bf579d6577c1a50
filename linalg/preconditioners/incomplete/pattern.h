#ifndef femgpu_linalg_preconditioners_incomplete_pattern_h
#define femgpu_linalg_preconditioners_incomplete_pattern_h

#include "linalg/partitions/partition.h"
#include "linalg/sparse/row_product.h"
#include "linalg/sparse/select_entries.h"
#include "linalg/sparse/symmetry.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * The symbolic phase of ILU(κ): blocks of rows, and the pattern of L + U, in the executor's memory.
 */
namespace femgpu::linalg
{
/// A view of a Partition for kernels.
struct PartitionView
{
  const int *starts;   ///< the first new row of each block, then n
  const int *block_of; ///< the block of each new row
  const int *order;    ///< the old row of each new one; nullptr: the same numbering
  const int *new_rows; ///< the new row of each old one; nullptr: the same numbering

  FEMGPU_HD
  int old_row(const int i) const
  {
    return order == nullptr ? i : order[i];
  }
  FEMGPU_HD
  int new_row(const int i) const
  {
    return new_rows == nullptr ? i : new_rows[i];
  }
};

/// Returns A without values, in host memory.
inline HostMatrix host_pattern(const CsrMatrix &A)
{
  HostMatrix pattern;
  pattern.n = A.n();
  pattern.row_starts = A.host_row_starts();
  pattern.columns = A.host_columns();
  pattern.unknowns = A.unknowns();
  return pattern;
}

/// Partitions the rows of @p A into @p n_blocks blocks. The kinds of partitions and the exceptions
/// are described in linalg/partitions/partition.h.
inline Partition make_partition(const std::string &kind, const CsrMatrix &A, const int n_blocks)
{
  if (kind == "metis")
    return make_partition(kind, host_pattern(A).csr(), n_blocks);
  HostCsr nodes; // the other kinds need only nodes
  nodes.n = A.n();
  nodes.unknowns = A.unknowns();
  return make_partition(kind, nodes, n_blocks);
}

/// A Partition, and a copy of it in the memory of an executor.
class BlockPartition
{
public:
  BlockPartition(const ExecutorPtr &executor, Partition partition)
      : host(std::move(partition)), starts(executor, host.starts.data(), host.starts.size()),
        order(executor, host.order.data(), host.order.size())
  {
    std::vector<int> block_of_row, new_row_of(host.order.size());
    for (int block = 0; block < host.n_blocks(); ++block)
      block_of_row.resize(static_cast<std::size_t>(host.starts[block + 1]), block);
    for (std::size_t i = 0; i < host.order.size(); ++i)
      new_row_of[host.order[i]] = static_cast<int>(i);
    block_of = Buffer<int>(executor, block_of_row.data(), block_of_row.size());
    new_rows = Buffer<int>(executor, new_row_of.data(), new_row_of.size());
  }

  PartitionView view() const
  {
    return {starts.data(), block_of.data(), order.data(), new_rows.data()};
  }
  int n() const
  {
    return host.starts.back();
  }
  int old_row(const int i) const
  {
    return host.order.empty() ? i : host.order[i];
  }
  std::size_t bytes() const
  {
    return order.bytes();
  }

  const Partition host;

private:
  Buffer<int> starts, order, block_of, new_rows;
};

/// A selector for select_entries(): selects the entries whose row and column are in the same block,
/// and the diagonal.
struct BlockRows
{
  RowPatternView A;
  PartitionView blocks;

  FEMGPU_HD
  int row(const int r) const
  {
    return blocks.old_row(r);
  }
  /// Calls f(column, source) for the entries that derive from position k of a row of A, see
  /// select_entries(). Columns of the result ascend, because blocks preserve the order of rows.
  template <class Function>
  FEMGPU_HD
  void visit(const int row, const int k, const Function &f) const
  {
    const int i = blocks.new_row(row);
    if (A.is_insertion_point(row, row, k))
      f(i, -1);
    if (k == A.row_starts[row + 1])
      return;
    const int column = blocks.new_row(A.columns[k]);
    if (blocks.block_of[column] == blocks.block_of[i])
      f(column, k);
  }
};

/// Returns the pattern of the diagonal blocks of A, with a full diagonal and with rows in the order
/// of the blocks, and the positions of the values in A.
template <class Backend>
DerivedPattern block_diagonal(const CsrMatrix &A, const BlockPartition &blocks)
{
  const PatternRef pattern = pattern_of(A);
  return select_entries<Backend>(pattern, BlockRows{pattern.view(), blocks.view()}, A.n());
}

/// Selects all entries (i, j) of the upper triangle; in the lower triangle, only those for which
/// (j, i) is in transposed_paths, the pattern of the paths in the transposed graph.
struct FillEntry
{
  RowPatternView transposed_paths;

  FEMGPU_HD
  bool operator()(const int i, const int j) const
  {
    return j >= i || transposed_paths.find(j, i) >= 0;
  }
};

/**
 * Returns the ends of paths of at most @p length edges in the graph of @p A, which must have a full
 * diagonal: row i contains the ends of the paths from i whose inner vertices are all below i.
 */
template <class Backend>
RowPattern paths_through_lower_rows(const RowPattern &A, const int length,
                                    const ExecutorPtr &executor)
{
  RowPattern paths = A.copy();
  for (int edges = 1; edges < length; ++edges) {
    const RowPattern lower =
        triangle_pattern<Backend>(pattern_of(executor, paths), TrianglePart::lower).pattern;
    paths = multiply<Backend>(pattern_of(executor, lower), pattern_of(executor, A));
  }
  return paths;
}

/**
 * Returns the pattern of L + U of ILU(level) of a matrix with the pattern @p A, which has a full
 * diagonal. Entry (i, j), i < j, exists if a path of at most level + 1 edges leads from i to j
 * through vertices below i (Hysom and Pothen 2001); this is the rule
 * lev_ij = min(lev_ik + lev_kj + 1). The lower triangle follows from the transposed graph. Cost:
 * `level` products of patterns, or twice as many if the pattern is unsymmetric.
 */
template <class Backend>
RowPattern fill_pattern(const RowPattern &A, const int level, const ExecutorPtr &executor)
{
  if (level == 0)
    return A.copy();
  const RowPattern paths = paths_through_lower_rows<Backend>(A, level + 1, executor);
  const auto fill = [&](const RowPattern &transposed_paths) {
    return select_entries<Backend>(pattern_of(executor, paths),
                                   EntriesWhere<FillEntry>{paths.view(), {transposed_paths.view()}},
                                   paths.n(), "The pattern of an incomplete factorisation")
        .pattern;
  };
  if (is_symmetric<Backend>(pattern_of(executor, A)))
    return fill(paths);
  const RowPattern transposed = transposed_pattern<Backend>(pattern_of(executor, A)).pattern;
  return fill(paths_through_lower_rows<Backend>(transposed, level + 1, executor));
}
} // namespace femgpu::linalg

#endif
