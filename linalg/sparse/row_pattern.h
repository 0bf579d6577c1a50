#ifndef femgpu_linalg_sparse_row_pattern_h
#define femgpu_linalg_sparse_row_pattern_h

#include "linalg/base/error.h"
#include "linalg/base/indices.h"
#include "linalg/execution/scan.h"
#include "linalg/execution/this_backend.h"
#include "linalg/matrices/csr_matrix.h"

#include <string>

/**
 * @file
 * Patterns, row by row where the matrix lives. Only sums visit the host.
 */
namespace femgpu::linalg
{
/// Rows of ascending columns.
struct RowPatternView
{
  const int *row_starts; ///< n+1
  const int *columns;

  FEMGPU_HD
  int length(const int i) const
  {
    return row_starts[i + 1] - row_starts[i];
  }

  /// The place of entry (i, column) at @p from or after it; -1 if there is none.
  FEMGPU_HD
  int find(const int i, const int column, const int from) const
  {
    int begin = from, end = row_starts[i + 1];
    while (begin < end) {
      const int middle = begin + (end - begin) / 2;
      if (columns[middle] < column)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin < row_starts[i + 1] && columns[begin] == column ? begin : -1;
  }
  FEMGPU_HD
  int find(const int i, const int column) const
  {
    return find(i, column, row_starts[i]);
  }
};

struct RowPattern
{
  Buffer<int> row_starts, columns;

  RowPatternView view() const
  {
    return {row_starts.data(), columns.data()};
  }
  int n() const
  {
    return static_cast<int>(row_starts.size()) - 1;
  }
};

/// Throws SolverError with the numbers if @p what would have more entries than most_indices.
inline void check_n_entries(const std::string &what, const long long n_entries)
{
  if (n_entries > most_indices)
    throw SolverError(what + " would have " + std::to_string(n_entries) +
                      " entries, more than the " + std::to_string(most_indices) +
                      " that its indices can count. Use fewer unknowns, or in a preconditioner a "
                      "smaller tau, power or level.");
}

/// Room for rows of the @p lengths given. @param what has them, for the text of an error
/// @throws SolverError with the numbers, beyond most_indices entries
template <class Backend>
RowPattern make_rows(const ExecutorPtr &executor, const Buffer<int> &lengths,
                     const std::string &what = "The pattern of a preconditioner")
{
  const int n = static_cast<int>(lengths.size());
  const CountTotals totals = total_counts<Backend>(executor, lengths.data(), n);
  check_n_entries(what, totals.sum);
  RowPattern pattern;
  pattern.row_starts = Buffer<int>(executor, lengths.size() + 1);
  scan_counts<Backend>(executor, lengths.data(), n, pattern.row_starts.data());
  pattern.columns = Buffer<int>(executor, static_cast<std::size_t>(totals.sum));
  return pattern;
}

/// The entries j <= i of a row i, or j >= i.
struct LowerPart
{
  FEMGPU_HD
  bool operator()(const int i, const int j) const
  {
    return j <= i;
  }
};
struct UpperPart
{
  FEMGPU_HD
  bool operator()(const int i, const int j) const
  {
    return j >= i;
  }
};

template <class Keep>
struct CountKept
{
  RowPatternView pattern;
  Keep keep;
  int *lengths;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int length = 0;
    for (int k = pattern.row_starts[i]; k < pattern.row_starts[i + 1]; ++k)
      length += keep(i, pattern.columns[k]) ? 1 : 0;
    lengths[i] = length;
  }
};

template <class Keep>
struct StoreKept
{
  RowPatternView pattern;
  Keep keep;
  const int *row_starts;
  int *columns;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int at = row_starts[i];
    for (int k = pattern.row_starts[i]; k < pattern.row_starts[i + 1]; ++k)
      if (keep(i, pattern.columns[k]))
        columns[at++] = pattern.columns[k];
  }
};

/// The entries (i, j) for which keep(i, j) holds.
template <class Backend, class Keep>
RowPattern select(const RowPattern &pattern, const Keep &keep, const ExecutorPtr &executor)
{
  Runner<Backend> runner(*executor);
  Buffer<int> lengths(executor, static_cast<std::size_t>(pattern.n()));
  runner.run(rows(pattern.n(), CountKept<Keep>{pattern.view(), keep, lengths.data()}));
  RowPattern kept = make_rows<Backend>(executor, lengths);
  runner.run(rows(pattern.n(), StoreKept<Keep>{pattern.view(), keep, kept.row_starts.data(),
                                               kept.columns.data()}));
  return kept;
}
} // namespace femgpu::linalg

#endif
