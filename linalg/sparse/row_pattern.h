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
 * Patterns of matrices, and their computation row by row in the executor's memory. Only sums are
 * copied to the host.
 */
namespace femgpu::linalg
{
/// Returns the first position k in [begin, end) with numbers[k] >= number; @p end if there is none.
/// The @p numbers must be in ascending order.
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

/// Sets values[i] = value.
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

/// Returns max |a_ij| over the entries of row i.
FEMGPU_HD
double largest_entry(const CsrView<double> &A, const int i)
{
  const RowEntries<double> row = A.entries(i);
  double largest = 0.;
  for (int k = 0; k < row.length; ++k)
    largest = fmax(largest, fabs(row.values[k]));
  return largest;
}

/// The columns of a row; positions are relative to its first entry.
struct RowColumns
{
  int length;
  const int *columns; ///< ascending

  /// Returns the position of a column; -1 if there is none.
  FEMGPU_HD
  int find(const int column) const
  {
    const int position = linalg::lower_bound(columns, 0, length, column);
    return position < length && columns[position] == column ? position : -1;
  }

  /// Returns the position of entry (j, i) in this row j, given the position @p position of (i, j)
  /// in row i; -1 if there is none. First tries the position that is as far from the end of the row
  /// as (i, j) is from the beginning, which is right if all rows have the same stencil.
  FEMGPU_HD
  int find_transposed(const int i, const int position) const
  {
    const int guess = length - 1 - position;
    return guess >= 0 && columns[guess] == i ? guess : find(i);
  }
};

/// The pattern of rows with ascending columns and any number of entries.
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

  /// Returns whether two rows have the same columns.
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

/// The pattern of rows with at most max_indices entries in total; positions are counted over all
/// rows.
struct RowPatternView
{
  const int *row_starts; ///< n+1
  const int *columns;

  FEMGPU_HD
  int length(const int i) const
  {
    return row_starts[i + 1] - row_starts[i];
  }

  /// Returns the first position of row i, not before @p from, whose column is not less than
  /// @p column; the end of the row if there is none.
  FEMGPU_HD
  int lower_bound(const int i, const int column, const int from) const
  {
    return linalg::lower_bound(columns, from, row_starts[i + 1], column);
  }
  /// Returns whether entry (i, column) is at @p position, which lower_bound(i, column) returned.
  FEMGPU_HD
  bool is_at(const int position, const int i, const int column) const
  {
    return position < row_starts[i + 1] && columns[position] == column;
  }

  /// Returns whether an entry of this column would be inserted at position k, which may be the end
  /// of row i.
  FEMGPU_HD
  bool is_insertion_point(const int i, const int column, const int k) const
  {
    return (k == row_starts[i] || columns[k - 1] < column) &&
           (k == row_starts[i + 1] || columns[k] > column);
  }

  /// Returns the position of entry (i, column), not before @p from; -1 if there is none.
  FEMGPU_HD
  int find(const int i, const int column, const int from) const
  {
    const int position = lower_bound(i, column, from);
    return is_at(position, i, column) ? position : -1;
  }
  FEMGPU_HD
  int find(const int i, const int column) const
  {
    return find(i, column, row_starts[i]);
  }

  /// Returns the position of entry (j, i), given the position @p position of (i, j); -1 if there is
  /// none.
  FEMGPU_HD
  int find_transposed(const int i, const int position) const
  {
    const int j = columns[position];
    const RowColumns row{length(j), columns + row_starts[j]};
    const int found = row.find_transposed(i, position - row_starts[i]);
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

/// Makes a matrix with @p pattern and uninitialised values.
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

/// Returns for example "a 3 x 4 matrix with 5 entries".
inline std::string describe(const int n, const int n_columns, const std::size_t n_entries)
{
  return "a " + std::to_string(n) + " x " + std::to_string(n_columns) + " matrix with " +
         std::to_string(n_entries) + " entries";
}
inline std::string describe(const CsrMatrix &A)
{
  return describe(A.n(), A.n_columns(), A.n_nonzeros());
}

/// A reference to the pattern of a matrix or RowPattern, with its sizes.
struct PatternRef
{
  ExecutorPtr executor;
  LongPatternView rows;
  int n, n_columns;
  std::size_t n_entries;

  /// Returns a view that counts entries by int.
  /// @throws SolverError if there are more than max_indices entries
  RowPatternView view() const
  {
    if (n_entries > static_cast<std::size_t>(max_indices))
      throw SolverError("Transposes, submatrices and sums of matrices, and second factors of "
                        "products, support at most " +
                        std::to_string(max_indices) + " entries, but " +
                        describe(n, n_columns, n_entries) + " is too large. Use fewer unknowns.");
    return {rows.row_starts.low, rows.columns};
  }
};

/// Returns a reference to @p pattern, which is in the memory of @p executor.
/// @param n_columns number of columns; -1: as many as rows
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

/// Throws SolverError if the values of @p A cannot be copied to the matrix named @p result, because
/// that was made from a matrix with @p n_entries entries and @p A has a different number.
inline void check_same_pattern(const std::string &result, const CsrMatrix &A,
                               const std::size_t n_entries)
{
  if (A.n_nonzeros() != n_entries)
    throw SolverError(result + " was built from a matrix with " + std::to_string(n_entries) +
                      " entries and cannot be updated with the values of " + describe(A) +
                      ". Rebuild it for another pattern.");
}

/// Throws SolverError if the pattern named @p what would have more than max_indices entries.
inline void check_n_entries(const std::string &what, const long long n_entries)
{
  if (n_entries > max_indices)
    throw SolverError(
        what + " would have " + std::to_string(n_entries) + " entries, more than the limit of " +
        std::to_string(max_indices) +
        ". Use fewer unknowns, or a smaller tau, power or level of the preconditioner.");
}

/// Makes a pattern with rows of the given @p lengths and uninitialised columns.
/// @param what name of the pattern for error messages
/// @throws SolverError if there are more than max_indices entries
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
