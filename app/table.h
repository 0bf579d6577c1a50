#ifndef femgpu_app_table_h
#define femgpu_app_table_h

#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/// What a row of a table has in a column.
struct Cell
{
  std::string column;
  std::optional<std::string> text; ///< nothing: the column is shown if other rows have a text in it
  bool is_order = false;           ///< of the numbers in the column before, under its heading
};

/**
 * Rows may have different columns. A column that the rows before have not stands before the one
 * that follows it in its row.
 */
using Row = std::vector<Cell>;
using Table = std::vector<Row>;

/// A table in the forms in which people read it, with "-" where it has nothing.
struct TableTexts
{
  std::string plain;    ///< columns of the same width
  std::string markdown; ///< as on GitHub
  std::string latex;    ///< a tabular, to be included in a document
};
TableTexts texts_of(const Table &table);

/// Puts @p lines below @p texts; in LaTeX they are comments.
void append_remarks(const std::vector<std::string> &lines, TableTexts &texts);

/// The text of a .csv file as by RFC 4180: values with a comma, a quote or a line break in quotes.
std::string csv_of(const Table &table);

/// @name A number as text; nothing for nothing.
///@{
/// With @p digits behind the point, as 0.00123 or as 1.23e-03.
std::optional<std::string> fixed(std::optional<double> x, int digits);
std::optional<std::string> scientific(std::optional<double> x, int digits);
/// With @p digits in all, as short as they are; with 17 it reads back to the same double.
std::optional<std::string> general(std::optional<double> x, int digits = 17);
///@}
} // namespace femgpu

#endif
