#include "solve/matrix_market/matrix_market.h"

#include "linalg/base/error.h"
#include "solve/matrix_market/matrix_market_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

namespace femgpu::linalg
{
namespace
{
/// The memory that reading a matrix needs per entry, in bytes.
constexpr std::size_t bytes_per_entry = 40;

/// The entries of a matrix in the order of the file. Indices count from 0.
struct Triplets
{
  std::vector<int> rows, columns;
  std::vector<double> values;

  std::size_t size() const
  {
    return values.size();
  }
  void resize(const std::size_t count)
  {
    rows.resize(count);
    columns.resize(count);
    values.resize(count);
  }
};

/// The line number of each entry, stored as runs of entries on consecutive lines. Most files have
/// one entry per line without gaps, and so need a single run.
class EntryLines
{
public:
  void add(const std::size_t entry, const std::size_t line)
  {
    if (pieces.empty() || pieces.back().second + (entry - pieces.back().first) != line)
      pieces.emplace_back(entry, line);
  }
  std::size_t operator[](const std::size_t entry) const
  {
    auto piece = std::upper_bound(pieces.begin(), pieces.end(), entry,
                                  [](const std::size_t e, const auto &p) { return e < p.first; });
    --piece;
    return piece->second + (entry - piece->first);
  }

private:
  std::vector<std::pair<std::size_t, std::size_t>> pieces; ///< first entry and line of each run
};

class MatrixReader
{
public:
  explicit MatrixReader(const std::string &file) : text(file), n(text.size().rows)
  {}

  MatrixMarketMatrix read()
  {
    check_size();
    read_entries();
    const bool has_both_triangles = has_lower && has_upper;
    if (has_both_triangles)
      drop_upper_triangle();
    return {sort(count_columns()), has_both_triangles, text.header().symmetry == "symmetric"};
  }

private:
  void check_size() const
  {
    if (text.header().format != "coordinate")
      text.fail("a sparse matrix is expected, but the file holds a dense one (array); write it in "
                "the coordinate format.",
                1);
    if (text.size().columns != n)
      text.fail("the matrix has " + std::to_string(n) + " rows and " +
                std::to_string(text.size().columns) +
                " columns; only square systems can be solved.");
    const std::int64_t n_entries = text.size().entries;
    if ((is_general ? 1 : 2) * n_entries < n)
      text.fail("the matrix has " + std::to_string(n) + " rows, but only " +
                std::to_string(n_entries) + " entries" +
                (is_general ? "" : ", even with mirror images too few") +
                ": a row without entries makes it singular. Correct the size line, or remove empty "
                "rows and their columns.");
    text.check_memory(n_entries, bytes_per_entry, "matrix");
  }

  void read_entries()
  {
    const auto n_declared = static_cast<std::size_t>(text.size().entries);
    const bool has_values = text.header().field != "pattern";
    // The limit prevents a damaged size line from exhausting the memory.
    const std::size_t expected = std::min(n_declared, std::size_t(1) << 24);
    entries.rows.reserve(expected);
    entries.columns.reserve(expected);
    entries.values.reserve(expected);
    while (text.next_entry(entries.size())) {
      const auto row = static_cast<int>(text.index("row", n));
      const auto column = static_cast<int>(text.index("column", n));
      record_triangle(row, column);
      lines.add(entries.size(), text.line_number());
      entries.rows.push_back(row);
      entries.columns.push_back(column);
      entries.values.push_back(has_values ? text.value() : 1.);
      text.end_of_line();
    }
  }

  void record_triangle(const int row, const int column)
  {
    if (is_general)
      return;
    if (row == column && is_skew)
      text.fail(name_of(row, column) +
                " is on the diagonal, which is zero in a skew-symmetric matrix; remove it.");
    has_lower = has_lower || row > column;
    has_upper = has_upper || row < column;
  }

  /// Drops each entry above the diagonal whose mirror entry exists. The two must agree up to sign
  /// and rounding.
  void drop_upper_triangle()
  {
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    const auto position = [this](const std::size_t k) {
      return std::minmax({entries.rows[k], entries.columns[k]});
    };
    std::stable_sort(order.begin(), order.end(), [&](const std::size_t k, const std::size_t l) {
      return position(k) < position(l);
    });
    std::vector<char> is_dropped(entries.size());
    for (std::size_t l = 1; l < order.size(); ++l) {
      const std::size_t first = order[l - 1], second = order[l];
      if (position(first) != position(second) || entries.rows[first] == entries.rows[second])
        continue; // duplicate entries are reported later
      check_mirror_entry(first, second);
      is_dropped[entries.rows[first] < entries.columns[first] ? first : second] = 1;
    }
    filter_entries([&](const std::size_t k) { return is_dropped[k] == 0; });
  }

  void check_mirror_entry(const std::size_t first, const std::size_t second) const
  {
    constexpr double rounding = 1e-14;
    const double value = entries.values[first];
    const double expected = is_skew ? -entries.values[second] : entries.values[second];
    if (std::fabs(value - expected) <= rounding * std::fabs(expected))
      return;
    text.fail(name_of(entries.rows[second], entries.columns[second]) +
                  " differs from its mirror entry in line " + std::to_string(lines[first]) +
                  ", although the file says " + text.header().symmetry +
                  ". Remove one of them, or write 'general'.",
              lines[second]);
  }

  /// Keeps only the entries for which @p is_selected is true, with their line numbers.
  template <class Predicate>
  void filter_entries(const Predicate &is_selected)
  {
    EntryLines remaining_lines;
    std::size_t count = 0;
    for (std::size_t k = 0; k < entries.size(); ++k)
      if (is_selected(k)) {
        remaining_lines.add(count, lines[k]);
        entries.rows[count] = entries.rows[k];
        entries.columns[count] = entries.columns[k];
        entries.values[count] = entries.values[k];
        ++count;
      }
    entries.resize(count);
    lines = std::move(remaining_lines);
  }

  // A counting sort by columns, followed by one by rows, puts the columns of each row in order.

  std::vector<std::size_t> count_columns() const
  {
    std::vector<std::size_t> starts(static_cast<std::size_t>(n) + 1);
    for (std::size_t k = 0; k < entries.size(); ++k) {
      ++starts[entries.columns[k] + 1];
      if (is_mirrored(k))
        ++starts[entries.rows[k] + 1];
    }
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    if (starts.back() > RowStarts::max_entries)
      text.fail("the matrix has " + std::to_string(starts.back()) + " entries" +
                (is_general ? "" : " with both triangles") + ", more than the limit of " +
                std::to_string(RowStarts::max_entries) + ".");
    return starts;
  }

  HostMatrix sort(const std::vector<std::size_t> &column_starts) const
  {
    const std::size_t n_nonzeros = column_starts.back();
    std::vector<int> rows(n_nonzeros);
    std::vector<double> values(n_nonzeros);
    std::vector<std::size_t> next(column_starts.begin(), column_starts.end() - 1);
    std::vector<std::size_t> row_starts(column_starts.size());
    HostMatrix A;
    A.n = static_cast<int>(n);
    const auto insert_entry = [&](const int row, const int column, const double value) {
      const std::size_t position = next[column]++;
      rows[position] = row;
      values[position] = value;
      ++row_starts[row + 1];
    };
    for (std::size_t k = 0; k < entries.size(); ++k) {
      insert_entry(entries.rows[k], entries.columns[k], entries.values[k]);
      if (is_mirrored(k))
        insert_entry(entries.columns[k], entries.rows[k],
                     is_skew ? -entries.values[k] : entries.values[k]);
    }
    std::partial_sum(row_starts.begin(), row_starts.end(), row_starts.begin());
    A.row_starts.resize(row_starts.size());
    std::transform(row_starts.begin(), row_starts.end(), A.row_starts.begin(), low_bits);

    A.columns.resize(n_nonzeros);
    A.values.resize(n_nonzeros);
    next.assign(row_starts.begin(), row_starts.end() - 1);
    for (int j = 0; j < A.n; ++j)
      for (std::size_t k = column_starts[j]; k < column_starts[j + 1]; ++k) {
        const std::size_t position = next[rows[k]]++;
        if (position > row_starts[rows[k]] && A.columns[position - 1] == j)
          fail_duplicate(rows[k], j);
        A.columns[position] = j;
        A.values[position] = values[k];
      }
    return A;
  }

  [[noreturn]] void fail_duplicate(const int row, const int column) const
  {
    std::vector<std::size_t> found;
    for (std::size_t k = 0; k < entries.size() && found.size() < 2; ++k)
      if ((entries.rows[k] == row && entries.columns[k] == column) ||
          (!is_general && entries.rows[k] == column && entries.columns[k] == row))
        found.push_back(k);
    text.fail(name_of(entries.rows[found[1]], entries.columns[found[1]]) +
                  " is a duplicate of the entry in line " + std::to_string(lines[found[0]]) +
                  "; remove one, or write their sum.",
              lines[found[1]]);
  }

  static std::string name_of(const int row, const int column)
  {
    return "entry (" + std::to_string(row + 1) + ", " + std::to_string(column + 1) + ")";
  }

  bool is_mirrored(const std::size_t k) const
  {
    return !is_general && entries.rows[k] != entries.columns[k];
  }

  MatrixMarketText text;
  const std::int64_t n;
  const bool is_general = text.header().symmetry == "general";
  const bool is_skew = text.header().symmetry == "skew-symmetric";
  Triplets entries;
  EntryLines lines;
  bool has_lower = false, has_upper = false; ///< which triangles a (skew-)symmetric file contains
};
} // namespace

MatrixMarketMatrix read_matrix_market(const std::string &file)
{
  return MatrixReader(file).read();
}
} // namespace femgpu::linalg
