#ifndef femgpu_linalg_matrices_short_columns_h
#define femgpu_linalg_matrices_short_columns_h

#include "linalg/execution/memory/buffer.h"
#include "linalg/execution/steps/views.h"
#include "linalg/execution/this_backend.h"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

/**
 * @file
 * How ShortColumns are made. Bases are found where the matrix lives; only their number for each
 * group of rows goes to the host.
 */
namespace femgpu::linalg
{
/// The columns of rows, which ascend in each row, in the order in which the rows are multiplied.
struct OrderedRows
{
  int n;
  RowStarts row_starts;
  const int *columns;
  const int *order = nullptr; ///< n: the row at each position; nullptr: each in its place

  FEMGPU_HD
  int row(const int position) const
  {
    return order == nullptr ? position : order[position];
  }

  /// The smallest column >= @p least at the positions of a group; -1 if there is none.
  FEMGPU_HD
  int next_column(const int group, const int least) const
  {
    const int first = group << ShortColumns::log_group, size = 1 << ShortColumns::log_group;
    int next = -1;
    for (int position = first; position < n && position - first < size; ++position) {
      const int i = row(position), length = row_starts.length(i);
      const int *const of_row = columns + row_starts[i];
      const int k = first_not_below(least, of_row, length);
      if (k < length && (next < 0 || of_row[k] < next))
        next = of_row[k];
    }
    return next;
  }

private:
  FEMGPU_HD
  static int first_not_below(const int least, const int *of_row, int end)
  {
    int begin = 0;
    while (begin < end) {
      const int middle = begin + (end - begin) / 2;
      if (of_row[middle] < least)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }
};

/// Calls f(base) for the bases that a group needs; at most for one more than it may have.
template <class Function>
FEMGPU_HD
void for_bases(const OrderedRows &rows, const int group, const Function &f)
{
  int base = rows.next_column(group, 0);
  for (int count = 0; count <= ShortColumns::most_bases && base >= 0; ++count) {
    f(base);
    const bool is_last = base >= rows.n - ShortColumns::range; // also keeps the sum within an int
    base = is_last ? -1 : rows.next_column(group, base + ShortColumns::range);
  }
}

struct CountBases
{
  OrderedRows rows;
  int *counts;

  FEMGPU_HD
  void operator()(const int group) const
  {
    int count = 0;
    for_bases(rows, group, [&](int /* base */) { ++count; });
    counts[group] = count;
  }
};

struct StoreBases
{
  OrderedRows rows;
  const int *first_bases;
  int *bases;

  FEMGPU_HD
  void operator()(const int group) const
  {
    int at = first_bases[group];
    if (at < 0)
      return;
    bases[at] = 0; // padding needs one where all rows are empty
    for_bases(rows, group, [&](const int base) { bases[at++] = base; });
  }
};

/// The codes of a row's columns, which must be asked for in ascending order.
class RowEncoder
{
public:
  FEMGPU_HD
  RowEncoder(const int *bases) : bases(bases)
  {}
  FEMGPU_HD
  std::uint16_t operator()(const int column)
  {
    while (column - bases[number] >= ShortColumns::range)
      ++number;
    return static_cast<std::uint16_t>(number << ShortColumns::distance_bits |
                                      (column - bases[number]));
  }

private:
  const int *bases;
  int number = 0;
};

/**
 * Owns what ShortColumns views. For differences on grids, linear elements and bands as those of
 * reverse Cuthill-McKee a group has some 3 bases: half a byte a row besides two bytes an entry.
 * Bytes of a row, with row starts, slices and order, in 32-bit and in short columns:
 *
 *     7-point differences      88 -> 75, float 60 -> 47
 *     27 entries (Q1)          328 -> 275, float 220 -> 167
 *     elasticity, 43.5 (P1)    526 -> 440, float 352 -> 266
 */
template <class Backend>
class ShortColumnsOwner
{
public:
  /// Finds the bases; codes are still to be stored. @p stored_starts has n+1 numbers: how many
  /// entries are stored before each position.
  ShortColumnsOwner(const ExecutorPtr &executor, const OrderedRows &pattern,
                    const std::vector<std::size_t> &stored_starts)
      : codes(executor, stored_starts.back())
  {
    const std::size_t n = stored_starts.size() - 1;
    const int n_groups = static_cast<int>((n + group_size - 1) / group_size);
    Runner<Backend> runner(*executor);
    first_bases = Buffer<int>(executor, static_cast<std::size_t>(n_groups));
    runner.run(rows(n_groups, CountBases{pattern, first_bases.data()}));

    std::vector<int> first = first_bases.to_host();
    int n_bases = 0;
    for (std::size_t group = 0; group < first.size(); ++group) {
      const int count = first[group];
      const bool has_bases = count <= ShortColumns::most_bases;
      first[group] = has_bases ? n_bases : -1;
      n_bases += has_bases ? std::max(count, 1) : 0;
      if (!has_bases)
        n_long += entries_of_group(group, stored_starts);
    }
    first_bases.copy_from_host(first.data());
    bases = Buffer<int>(executor, static_cast<std::size_t>(n_bases));
    runner.run(rows(n_groups, StoreBases{pattern, first_bases.data(), bases.data()}));
    codes.fill_zero();
  }

  ShortColumns view() const
  {
    return {first_bases.data(), bases.data(), codes.data()};
  }
  std::uint16_t *mutable_codes()
  {
    return codes.data();
  }
  /// Stored entries of groups without bases.
  std::size_t n_long_columns() const
  {
    return n_long;
  }
  /// What a product reads, with the long columns.
  std::size_t bytes() const
  {
    return first_bases.bytes() + bases.bytes() + (codes.size() - n_long) * sizeof(std::uint16_t) +
           n_long * sizeof(int);
  }
  /// ", 16-bit columns but for 2.5 % of the entries"
  std::string describe() const
  {
    if (n_long == 0)
      return ", 16-bit columns";
    std::ostringstream percent;
    percent.precision(3);
    percent << 100. * static_cast<double>(n_long) / static_cast<double>(codes.size());
    return ", 16-bit columns but for " + percent.str() + " % of the entries";
  }

private:
  static constexpr std::size_t group_size = std::size_t{1} << ShortColumns::log_group;

  static std::size_t entries_of_group(const std::size_t group,
                                      const std::vector<std::size_t> &stored_starts)
  {
    const std::size_t n = stored_starts.size() - 1;
    const std::size_t begin = group * group_size, end = std::min(begin + group_size, n);
    return stored_starts[end] - stored_starts[begin];
  }

  Buffer<int> first_bases, bases;
  Buffer<std::uint16_t> codes;
  std::size_t n_long = 0;
};
} // namespace femgpu::linalg

#endif
