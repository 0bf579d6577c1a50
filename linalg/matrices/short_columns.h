#ifndef femgpu_linalg_matrices_short_columns_h
#define femgpu_linalg_matrices_short_columns_h

#include "linalg/execution/this_backend.h"
#include "linalg/memory/buffer.h"
#include "linalg/steps/views.h"

#include <algorithm>
#include <climits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * Construction of ShortColumns (linalg/steps/views.h) in the executor's memory. Only the longest
 * span of each slice is copied to the host, which computes where the codes of each slice start.
 */
namespace femgpu::linalg
{
/// The rows of a CSR matrix, divided into slices of 2^log_slice rows.
struct SlicedRows
{
  CsrView<double> A;
  int log_slice;
  RowStarts slice_starts;
  const int *order;

  /// Returns the row at a position; -1 if the last slice has no more rows.
  FEMGPU_HD
  int row(const int position) const
  {
    return position >= A.n ? -1 : order == nullptr ? position : order[position];
  }

  /// Returns the entries of the row at a position; none if there is no row.
  FEMGPU_HD
  RowEntries<double> entries(const int position) const
  {
    const int i = row(position);
    return i < 0 ? RowEntries<double>{} : A.entries(i);
  }

  /// Returns the index of the first slice column of a slice, counted over all slices. The k-th
  /// entries of all rows of a slice form a slice column.
  FEMGPU_HD
  std::size_t first_column(const int slice) const
  {
    return slice_starts[slice] >> log_slice;
  }
  FEMGPU_HD
  int n_columns(const int slice) const
  {
    return slice_starts.length(slice) >> log_slice;
  }

  /// Calls f(at, row, k) for each location at which the row at a position is stored. `at` is the
  /// location, counted from the start of the slice; entry k of `row` is stored there, or padding if
  /// k is -1.
  template <class Function>
  FEMGPU_HD
  void for_slots(const int position, const Function &f) const
  {
    const int slice = position >> log_slice, size = 1 << log_slice;
    const RowEntries<double> row = entries(position);
    const int end = slice_starts.length(slice);
    for (int at = position & (size - 1), k = 0; at < end; at += size, ++k)
      f(at, row, k < row.length ? k : -1);
  }

  /// Calls f(i, column) for the rows i of a slice and the columns of their k-th entries; column is
  /// -1 if a row has fewer entries.
  template <class Function>
  FEMGPU_HD
  void for_each_row(const int slice, const int k, const Function &f) const
  {
    for (int lane = 0; lane < 1 << log_slice; ++lane)
      if (const int i = row((slice << log_slice) + lane); i >= 0) {
        const RowEntries<double> row_entries = A.entries(i);
        f(i, k < row_entries.length ? row_entries.columns[k] : -1);
      }
  }

  /// Returns whether A has a column at this @p distance from row @p i.
  FEMGPU_HD
  bool is_column(const int i, const int distance) const
  {
    const long long column = static_cast<long long>(i) + distance;
    return column >= 0 && column < A.n;
  }
};

/// Finds for each slice column its base, the smallest difference column − row of its entries, and
/// its span, the largest difference minus the base. The body for a position handles every C-th
/// slice column of its slice, which has C rows.
struct FindBases
{
  SlicedRows rows;
  int *bases, *spans;

  FEMGPU_HD
  void operator()(const int position) const
  {
    const int slice = position >> rows.log_slice, size = 1 << rows.log_slice;
    const int width = rows.n_columns(slice);
    for (int k = position & (size - 1); k < width; k += size)
      find(slice, k, rows.first_column(slice) + static_cast<std::size_t>(k));
  }

private:
  FEMGPU_HD
  void find(const int slice, const int k, const std::size_t number) const
  {
    int smallest = INT_MAX, largest = -INT_MAX; // at least one row has an entry
    rows.for_each_row(slice, k, [&](const int i, const int column) {
      if (column < 0)
        return;
      const int distance = column - i;
      smallest = distance < smallest ? distance : smallest;
      largest = distance > largest ? distance : largest;
    });
    bool is_column = true; // whether all padding can have the column row + base
    rows.for_each_row(slice, k, [&](const int i, const int column) {
      is_column = is_column && (column >= 0 || rows.is_column(i, smallest));
    });
    if (!is_column) { // then padding has the column of its row
      smallest = smallest < 0 ? smallest : 0;
      largest = largest > 0 ? largest : 0;
    }
    const unsigned int span =
        static_cast<unsigned int>(largest) - static_cast<unsigned int>(smallest);
    constexpr unsigned int end = ShortColumns::codes_end;
    bases[number] = smallest;
    spans[number] = static_cast<int>(span < end ? span : end);
  }
};

/// Finds the longest span among the slice columns of each slice.
struct FindLongestSpan
{
  SlicedRows rows;
  const int *spans;
  int *longest;

  FEMGPU_HD
  void operator()(const int slice) const
  {
    int largest = 0;
    const int *const slice_begin = spans + rows.first_column(slice);
    for (int k = 0; k < rows.n_columns(slice); ++k)
      largest = slice_begin[k] > largest ? slice_begin[k] : largest;
    longest[slice] = largest;
  }
};

struct StoreCodes
{
  SlicedRows rows;
  ShortColumns short_columns;
  std::uint16_t *codes;

  FEMGPU_HD
  void operator()(const int position) const
  {
    const int slice = position >> rows.log_slice, i = rows.row(position);
    const int first_code = short_columns.first_codes[slice];
    if (first_code < 0)
      return;
    std::uint16_t *const slice_begin =
        codes + (static_cast<std::size_t>(first_code) << rows.log_slice);
    const int *const bases = short_columns.bases + rows.first_column(slice);
    rows.for_slots(position, [&](const int at, const RowEntries<double> &row, const int k) {
      const int base = bases[at >> rows.log_slice];
      const int distance = k >= 0 ? row.columns[k] - i : rows.is_column(i, base) ? base : 0;
      slice_begin[at] = i < 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(distance - base);
    });
  }
};

/**
 * Owns the arrays to which a ShortColumns refers. Bytes per row of the model problems, including
 * slice starts and order, with long columns -> with short columns:
 *
 *     7-point differences      double values 84 -> 62, float values 56 -> 34
 *     27 entries (Q1)          double values 322 -> 229, float values 215 -> 122
 */
template <class Backend>
class ShortColumnsOwner
{
public:
  /// @param slice_starts slice starts of @p rows, in host memory
  ShortColumnsOwner(const ExecutorPtr &executor, const SlicedRows &rows,
                    const std::vector<std::size_t> &slice_starts)
      : log_slice(rows.log_slice), bases(executor, slice_starts.back() >> log_slice),
        first_codes(executor, slice_starts.size() - 1)
  {
    const int n_slices = static_cast<int>(slice_starts.size()) - 1;
    Runner<Backend> runner(*executor);
    Buffer<int> spans(executor, bases.size());
    runner.run(linalg::rows(n_slices << log_slice, FindBases{rows, bases.data(), spans.data()}));
    runner.run(linalg::rows(n_slices, FindLongestSpan{rows, spans.data(), first_codes.data()}));
    count_codes(slice_starts);
    codes = Buffer<std::uint16_t>(executor, columns_with_codes << log_slice);
    runner.run(linalg::rows(n_slices << log_slice, StoreCodes{rows, view(), codes.data()}));
  }

  ShortColumns view() const
  {
    return {first_codes.data(), bases.data(), codes.data()};
  }
  bool has_long_columns() const
  {
    return long_columns > 0;
  }
  /// Returns the bytes that a product reads, including long columns.
  std::size_t bytes() const
  {
    return first_codes.bytes() + codes.bytes() + (bases.size() - long_columns) * sizeof(int) +
           (long_columns << log_slice) * sizeof(int);
  }
  /// Returns for example ", short columns: 16 bits for 12 % of the entries, 32 bits for 2.5 % ...".
  std::string describe() const
  {
    std::ostringstream text;
    text.precision(3);
    text << ", short columns";
    const double all = static_cast<double>(std::max<std::size_t>(bases.size(), 1));
    const char *before = ": ";
    for (const auto &[bits, columns] :
         {std::pair("16 bits", columns_with_codes), std::pair("32 bits", long_columns)})
      if (columns > 0) {
        text << before << bits << " for " << 100. * static_cast<double>(columns) / all
             << " % of the entries";
        before = ", ";
      }
    return text.str();
  }

private:
  /// Replaces the longest span of each slice in first_codes by the slice's first code.
  void count_codes(const std::vector<std::size_t> &slice_starts)
  {
    std::vector<int> first = first_codes.to_host();
    for (std::size_t slice = 0; slice < first.size(); ++slice) {
      const std::size_t width = (slice_starts[slice + 1] - slice_starts[slice]) >> log_slice;
      if (first[slice] == 0)
        first[slice] = ShortColumns::no_codes;
      else if (first[slice] == ShortColumns::codes_end || columns_with_codes + width > INT_MAX) {
        first[slice] = ShortColumns::long_columns;
        long_columns += width;
      }
      else {
        first[slice] = static_cast<int>(columns_with_codes);
        columns_with_codes += width;
      }
    }
    first_codes.copy_from_host(first.data());
  }

  int log_slice;
  Buffer<int> bases, first_codes;
  Buffer<std::uint16_t> codes;
  std::size_t columns_with_codes = 0, long_columns = 0; ///< counts of 16- and 32-bit slice columns
};
} // namespace femgpu::linalg

#endif
