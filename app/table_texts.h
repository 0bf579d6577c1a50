#ifndef femgpu_app_table_texts_h
#define femgpu_app_table_texts_h

#include <deal.II/base/convergence_table.h>

#include <functional>
#include <string>
#include <vector>

namespace femgpu
{
/// One table in the forms in which people read it.
struct TableTexts
{
  std::string plain;    ///< columns of the same width
  std::string markdown; ///< as on GitHub
  std::string latex;    ///< a tabular, to be included in a document
};

/// Writes a text so that a form takes it as it is.
using Escape = std::function<std::string(const std::string &)>;

/**
 * A table, with "-" where it has nothing.
 * @param make gives the table, once for each form; names of columns and words in them are escaped
 *        by what it is given
 */
TableTexts table_texts(const std::function<dealii::ConvergenceTable(const Escape &)> &make);

/// Puts @p more below @p texts, after an empty line.
void append(const TableTexts &more, TableTexts &texts);

/// @p texts with @p lines below the table; in LaTeX they are comments.
TableTexts with_remarks(TableTexts texts, const std::vector<std::string> &lines);

/// A line of a .csv file as by RFC 4180: values with a comma, a quote or a line break in quotes.
std::string csv_line(const std::vector<std::string> &values);

/// @p x with @p digits behind the point, as 0.00123 or as 1.23e-03.
std::string fixed(double x, int digits);
std::string scientific(double x, int digits);

/// @p x so that it reads back to the same double.
std::string in_full(double x);
} // namespace femgpu

#endif
