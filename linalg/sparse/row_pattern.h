#ifndef femgpu_linalg_sparse_row_pattern_h
#define femgpu_linalg_sparse_row_pattern_h

#include "linalg/base/error.h"
#include "linalg/base/indices.h"
#include "linalg/execution/scan_and_sort.h"
#include "linalg/execution/this_backend.h"
#include "linalg/operators/csr_matrix.h"

#include <memory>
#include <string>
#include <utility>

/**
 * @file
 * Patterns, row by row where the matrix lives. Only sums visit the host.
 */
namespace femgpu::linalg
{
/// The first place from @p begin to @p end whose number, of ascending ones, is not less than @p
/// number.
template <class T>
FEMGPU_HD
int lower_bound(const T *numbers, int begin, int end, const T number)
{
  while (begin < end) {
    const int middle = begin + (end - begin) / 2;
    if (numbers[middle] < number)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/// values[i] = value
template <class T>
struct FillWith
{
  T *values;
  T value;

  FEMGPU_HD
  void operator()(const int i) const
  {
    values[i] = value;
  }
};

/// max |a_ij| over the entries of row i.
FEMGPU_HD
double largest_entry(const CsrView<double> &A, const int i)
{
  const RowEntries<double> row = A.entries(i);
  double largest = 0.;
  for (int k = 0; k < row.length; ++k)
    largest = fmax(largest, fabs(row.values[k]));
  return largest;
}

/// Of a row; places count from its first one.
struct RowColumns
{
  int length;
  const int *columns; ///< ascending

  /// The place of a column; -1 if it is not there.
  FEMGPU_HD
  int find(const int column) const
  {
    const int place = linalg::lower_bound(columns, 0, length, column);
    return place < length && columns[place] == column ? place : -1;
  }

  /// The place of entry (j, i) in this row j, of the entry (i, j) at @p place of row i; -1 if there
  /// is none. Where rows are translations of one stencil it is as far from the end as that is from
  /// the begin.
  FEMGPU_HD
  int find_transposed(const int i, const int place) const
  {
    const int guess = length - 1 - place;
    return guess >= 0 && columns[guess] == i ? guess : find(i);
  }
};

/// Rows of ascending columns, with any number of entries.
struct LongPatternView
{
  RowStarts row_starts; ///< n+1
  const int *columns;

  FEMGPU_HD
  int length(const int i) const
  {
    return row_starts.length(i);
  }
  FEMGPU_HD
  RowColumns operator[](const int i) const
  {
    return {length(i), columns + row_starts[i]};
  }

  /// Have these rows the same columns?
  FEMGPU_HD
  bool are_equal(const int i, const int j) const
  {
    const RowColumns one = (*this)[i], other = (*this)[j];
    bool are = one.length == other.length;
    for (int k = 0; are && k < one.length; ++k)
      are = one.columns[k] == other.columns[k];
    return are;
  }
};

/// The same with up to most_indices entries, whose places are counted through all rows.
struct RowPatternView
{
  const int *row_starts; ///< n+1
  const int *columns;

  FEMGPU_HD
  int length(const int i) const
  {
    return row_starts[i + 1] - row_starts[i];
  }

  /// The first place of row i, at @p from or after it, whose column is not less than @p column.
  FEMGPU_HD
  int lower_bound(const int i, const int column, const int from) const
  {
    return linalg::lower_bound(columns, from, row_starts[i + 1], column);
  }
  /// Is (i, column) at a place that lower_bound() gave?
  FEMGPU_HD
  bool is_at(const int place, const int i, const int column) const
  {
    return place < row_starts[i + 1] && columns[place] == column;
  }

  /// Is place k, which may be the end of row i, where an entry of this column would be inserted?
  FEMGPU_HD
  bool is_gap(const int i, const int column, const int k) const
  {
    return (k == row_starts[i] || columns[k - 1] < column) &&
           (k == row_starts[i + 1] || columns[k] > column);
  }

  /// The place of entry (i, column) at @p from or after it; -1 if there is none.
  FEMGPU_HD
  int find(const int i, const int column, const int from) const
  {
    const int place = lower_bound(i, column, from);
    return is_at(place, i, column) ? place : -1;
  }
  FEMGPU_HD
  int find(const int i, const int column) const
  {
    return find(i, column, row_starts[i]);
  }

  /// The place of entry (j, i) for the entry (i, j) at @p place; -1 if there is none.
  FEMGPU_HD
  int find_transposed(const int i, const int place) const
  {
    const int j = columns[place];
    const RowColumns row{length(j), columns + row_starts[j]};
    const int found = row.find_transposed(i, place - row_starts[i]);
    return found < 0 ? -1 : row_starts[j] + found;
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
  RowPattern copy() const
  {
    return {row_starts.copy(), columns.copy()};
  }
};

/// The matrix with a pattern, whose values are undefined yet.
inline std::shared_ptr<CsrMatrix> make_matrix(const ExecutorPtr &executor, RowPattern pattern,
                                              const int n_columns)
{
  Buffer<double> values(executor, pattern.columns.size());
  return std::make_shared<CsrMatrix>(executor, n_columns, std::move(pattern.row_starts),
                                     std::move(pattern.columns), std::move(values));
}

inline std::shared_ptr<CsrMatrix> make_matrix(const RowSpacePtr &range, const RowSpacePtr &domain,
                                              RowPattern pattern)
{
  Buffer<double> values(range->executor(), pattern.columns.size());
  return std::make_shared<CsrMatrix>(range, domain, std::move(pattern.row_starts),
                                     std::move(pattern.columns), std::move(values));
}

/// "a 3 x 4 matrix with 5 entries"
inline std::string describe(const int n, const int n_columns, const std::size_t n_entries)
{
  return "a " + std::to_string(n) + " x " + std::to_string(n_columns) + " matrix with " +
         std::to_string(n_entries) + " entries";
}
inline std::string describe(const CsrMatrix &A)
{
  return describe(A.n(), A.n_columns(), A.n_nonzeros());
}

/// A pattern with its sizes, for who reads it: a matrix or a RowPattern has it.
struct PatternRef
{
  ExecutorPtr executor;
  LongPatternView rows;
  int n, n_columns;
  std::size_t n_entries;

  /// For who counts its entries by int. @throws SolverError with the numbers, beyond most_indices
  RowPatternView view() const
  {
    if (n_entries > static_cast<std::size_t>(most_indices))
      throw SolverError("Transposes, parts and sums of matrices, and second factors of products, "
                        "count entries up to " +
                        std::to_string(most_indices) + ", fewer than " +
                        describe(n, n_columns, n_entries) + " has. Use fewer unknowns.");
    return {rows.row_starts.low, rows.columns};
  }
};

/// Of rows in the memory of @p executor. @param n_columns -1: as many as rows
inline PatternRef pattern_of(const ExecutorPtr &executor, const RowPattern &pattern,
                             const int n_columns = -1)
{
  return {executor,
          {pattern.row_starts.data(), pattern.columns.data()},
          pattern.n(),
          n_columns < 0 ? pattern.n() : n_columns,
          pattern.columns.size()};
}

inline PatternRef pattern_of(const CsrMatrix &A)
{
  const CsrView<double> view = A.csr_view();
  return {A.executor(), {view.row_starts, view.columns}, A.n(), A.n_columns(), A.n_nonzeros()};
}

/// Throws SolverError where values of @p A should be taken over, but it has not the @p n_entries
/// that @p result was made of.
inline void check_same_pattern(const std::string &result, const CsrMatrix &A,
                               const std::size_t n_entries)
{
  if (A.n_nonzeros() != n_entries)
    throw SolverError(result + " was made of a matrix with " + std::to_string(n_entries) +
                      " entries and cannot take over the values of " + describe(A) +
                      ". Make it anew for another pattern.");
}

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
} // namespace femgpu::linalg

#endif
