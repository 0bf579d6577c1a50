#ifndef femgpu_linalg_preconditioners_incomplete_pattern_h
#define femgpu_linalg_preconditioners_incomplete_pattern_h

#include "linalg/partitions/partition.h"
#include "linalg/sparse/choose.h"
#include "linalg/sparse/pattern_product.h"
#include "linalg/sparse/subset.h"
#include "linalg/sparse/symmetry.h"
#include "linalg/sparse/transpose.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * The symbolic phase of ILU(κ): blocks of rows, and the pattern of L + U, where the matrix lives.
 */
namespace femgpu::linalg
{
/// A Partition as steps see it.
struct PartitionView
{
  const int *starts;   ///< the first new row of each block, and n
  const int *block_of; ///< each new row
  const int *order;    ///< the old row of each new one; nullptr: the same
  const int *places;   ///< and back

  FEMGPU_HD
  int old_row(const int i) const
  {
    return order == nullptr ? i : order[i];
  }
  FEMGPU_HD
  int new_row(const int i) const
  {
    return places == nullptr ? i : places[i];
  }
};

/// make_partition() of a matrix that is where an executor is. @throws as that
inline Partition make_partition(const std::string &kind, const CsrMatrix &A, const int n_blocks)
{
  // Contiguous blocks need no pattern.
  const bool needs_graph = kind == "metis";
  const std::vector<int> row_starts = needs_graph ? A.host_row_starts() : std::vector<int>();
  const std::vector<int> columns = needs_graph ? A.host_columns() : std::vector<int>();
  HostCsr pattern;
  pattern.n = A.n();
  pattern.n_nonzeros = A.n_nonzeros();
  pattern.row_starts = row_starts.data();
  pattern.columns = columns.data();
  pattern.unknowns_per_node = A.unknowns_per_node();
  pattern.coordinates = A.coordinates().empty() ? nullptr : A.coordinates().data();
  pattern.dimension = A.dimension();
  return make_partition(kind, pattern, n_blocks);
}

/// A Partition with its copy in the memory of an executor.
class BlockPartition
{
public:
  BlockPartition(const ExecutorPtr &executor, Partition partition)
      : host(std::move(partition)), starts(executor, host.starts.data(), host.starts.size()),
        order(executor, host.order.data(), host.order.size())
  {
    std::vector<int> block_of_row, new_place(host.order.size());
    for (int block = 0; block < host.n_blocks(); ++block)
      block_of_row.resize(static_cast<std::size_t>(host.starts[block + 1]), block);
    for (std::size_t i = 0; i < host.order.size(); ++i)
      new_place[host.order[i]] = static_cast<int>(i);
    block_of = Buffer<int>(executor, block_of_row.data(), block_of_row.size());
    places = Buffer<int>(executor, new_place.data(), new_place.size());
  }

  PartitionView view() const
  {
    return {starts.data(), block_of.data(), order.data(), places.data()};
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
  Buffer<int> starts, order, block_of, places;
};

/// Calls f(column, entry of A) for the entries of new row i within its block, columns ascending. A
/// diagonal that A does not have has the entry -1.
template <class Function>
FEMGPU_HD
void for_block_row(const CsrView<double> &A, const PartitionView &blocks, const int i,
                   const Function &f)
{
  const int first = blocks.starts[blocks.block_of[i]], end = blocks.starts[blocks.block_of[i] + 1];
  const int row = blocks.old_row(i);
  bool needs_diagonal = true;
  for (int k = A.row_starts.low[row]; k < A.row_starts.low[row + 1]; ++k) {
    const int column = blocks.new_row(A.columns[k]); // ascends, because blocks keep the order
    if (column < first || column >= end)
      continue;
    if (needs_diagonal && column >= i) {
      needs_diagonal = false;
      if (column > i)
        f(i, -1);
    }
    f(column, k);
  }
  if (needs_diagonal)
    f(i, -1);
}

struct CountBlockRow
{
  CsrView<double> A;
  PartitionView blocks;
  int *lengths;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int length = 0;
    for_block_row(A, blocks, i, [&](int, int) { ++length; });
    lengths[i] = length;
  }
};

struct StoreBlockRow
{
  CsrView<double> A;
  PartitionView blocks;
  const int *row_starts;
  int *columns, *entries;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int at = row_starts[i];
    for_block_row(A, blocks, i, [&](const int column, const int entry) {
      columns[at] = column;
      entries[at++] = entry;
    });
  }
};

/// The diagonal blocks of P A Pᵀ, with a full diagonal, and where their values are in A.
struct BlockDiagonal
{
  RowPattern pattern;
  Buffer<int> entries; ///< -1: not in A
};

template <class Backend>
BlockDiagonal block_diagonal(const CsrMatrix &A, const BlockPartition &blocks)
{
  const ExecutorPtr &owner = A.executor();
  Runner<Backend> runner(*owner);
  Buffer<int> lengths(owner, static_cast<std::size_t>(A.n()));
  runner.run(rows(A.n(), CountBlockRow{A.csr_view(), blocks.view(), lengths.data()}));
  BlockDiagonal result;
  result.pattern = make_rows<Backend>(owner, lengths);
  result.entries = Buffer<int>(owner, result.pattern.columns.size());
  runner.run(
      rows(A.n(), StoreBlockRow{A.csr_view(), blocks.view(), result.pattern.row_starts.data(),
                                result.pattern.columns.data(), result.entries.data()}));
  return result;
}

/// Entries of the upper triangle, and those of the lower one that the transposed graph gives.
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
 * Where paths of at most @p length edges lead in the graph of @p A, which has a full diagonal: row
 * i has the ends of those from i whose inner vertices are all below i.
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
 * The pattern of L + U of ILU(level) of a matrix with the pattern @p A, which has a full diagonal.
 * Entry (i, j), i < j, is there if a path of at most level + 1 edges leads from i to j through
 * vertices below i (Hysom and Pothen 2001: this is the rule lev_ij = min(lev_ik + lev_kj + 1)); the
 * lower triangle is that of the transposed graph. So it takes `level` products of patterns.
 */
template <class Backend>
RowPattern fill_pattern(const RowPattern &A, const int level, const ExecutorPtr &executor)
{
  if (level == 0)
    return A.copy();
  const RowPattern paths = paths_through_lower_rows<Backend>(A, level + 1, executor);
  const auto fill = [&](const RowPattern &transposed_paths) {
    return choose<Backend>(pattern_of(executor, paths),
                           EntriesWhere<FillEntry>{{transposed_paths.view()}}, paths.n(),
                           "The pattern of an incomplete factorisation")
        .pattern;
  };
  if (is_symmetric<Backend>(pattern_of(executor, A)))
    return fill(paths);
  const RowPattern transposed = transposed_pattern<Backend>(pattern_of(executor, A)).pattern;
  return fill(paths_through_lower_rows<Backend>(transposed, level + 1, executor));
}
} // namespace femgpu::linalg

#endif
