#ifndef femgpu_linalg_preconditioners_row_pattern_h
#define femgpu_linalg_preconditioners_row_pattern_h

#include "linalg/base/error.h"
#include "linalg/base/indices.h"
#include "linalg/execution/scan.h"
#include "linalg/execution/this_backend.h"
#include "linalg/matrices/csr_matrix.h"

#include <string>

/**
 * @file
 * Patterns of preconditioners, row by row where the matrix lives. Only sums visit the host.
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

/// Room for rows of the @p lengths given. @throws SolverError beyond most_indices entries
template <class Backend>
RowPattern make_rows(const ExecutorPtr &executor, const Buffer<int> &lengths)
{
  const int n = static_cast<int>(lengths.size());
  const CountTotals totals = total_counts<Backend>(executor, lengths.data(), n);
  if (totals.sum > most_indices)
    throw SolverError("The pattern of a preconditioner would have " + std::to_string(totals.sum) +
                      " entries, more than its indices can count. Use a smaller tau, power or "
                      "level.");
  RowPattern pattern;
  pattern.row_starts = Buffer<int>(executor, lengths.size() + 1);
  scan_counts<Backend>(executor, lengths.data(), n, pattern.row_starts.data());
  pattern.columns = Buffer<int>(executor, static_cast<std::size_t>(totals.sum));
  return pattern;
}

/// Calls f(column) for the entries of row i of A that count, with the diagonal, in their order.
template <class Function>
FEMGPU_HD
void for_large_entries(const CsrView<double> &A, const double tau, const int i, const Function &f)
{
  double largest = 0.;
  for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
    largest = fmax(largest, fabs(A.values[k]));
  bool needs_diagonal = true;
  for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k) {
    const int column = A.columns[k];
    if (needs_diagonal && column >= i) {
      needs_diagonal = false;
      f(i);
    }
    if (column != i && fabs(A.values[k]) > (1. - tau) * largest)
      f(column);
  }
  if (needs_diagonal)
    f(i);
}

struct CountLargeEntries
{
  CsrView<double> A;
  double tau;
  int *lengths;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int length = 0;
    for_large_entries(A, tau, i, [&](int) { ++length; });
    lengths[i] = length;
  }
};

struct StoreLargeEntries
{
  CsrView<double> A;
  double tau;
  const int *row_starts;
  int *columns;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int at = row_starts[i];
    for_large_entries(A, tau, i, [&](const int column) { columns[at++] = column; });
  }
};

/**
 * The entries of each row with |a| > (1 − τ) max |a|, and the diagonal (Dehnavi 2012, chapter 5;
 * there for columns). τ = 1: all that are not zero; τ = 0: the diagonal alone.
 */
template <class Backend>
RowPattern large_entries(const CsrMatrix &A, const double tau)
{
  Runner<Backend> runner(*A.executor());
  Buffer<int> lengths(A.executor(), static_cast<std::size_t>(A.n()));
  runner.run(rows(A.n(), CountLargeEntries{A.csr_view(), tau, lengths.data()}));
  RowPattern pattern = make_rows<Backend>(A.executor(), lengths);
  runner.run(rows(A.n(), StoreLargeEntries{A.csr_view(), tau, pattern.row_starts.data(),
                                           pattern.columns.data()}));
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
