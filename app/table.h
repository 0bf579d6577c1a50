#ifndef femgpu_app_table_h
#define femgpu_app_table_h

#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/// The entry of one row in one column.
struct Cell
{
  std::string column;
  std::optional<std::string> text; ///< empty: the column is shown only if another row has a text
  bool is_order = false;           ///< is this the convergence order of the previous column?
};

/**
 * A row of a table. Rows may have different columns. If a row has a column that the previous rows
 * lack, this column is inserted before the column that follows it in this row.
 */
using Row = std::vector<Cell>;
using Table = std::vector<Row>;

/// A formatted table, with "-" for missing entries.
struct TableTexts
{
  std::string plain;    ///< aligned columns
  std::string markdown; ///< GitHub Flavored Markdown
  std::string latex;    ///< a tabular to include in a document
};
TableTexts format_table(const Table &table);

/// Appends @p lines to each of @p texts; in LaTeX, as comments.
void append_remarks(const std::vector<std::string> &lines, TableTexts &texts);

/// Returns the table as CSV (RFC 4180): values with a comma, a quote or a line break are quoted.
std::string csv_of(const Table &table);

/// @name Numbers as text. The functions return an empty text for an empty number.
///@{
/// Formats with @p digits after the decimal point: 0.00123 or 1.23e-03.
std::optional<std::string> fixed(std::optional<double> x, int digits);
std::optional<std::string> scientific(std::optional<double> x, int digits);
/// Formats with at most @p digits significant digits; 17 digits reproduce the same double.
std::optional<std::string> general(std::optional<double> x, int digits = 17);
///@}
} // namespace femgpu

#endif
