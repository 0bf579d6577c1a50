#include "app/table.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include <boost/algorithm/string/replace.hpp>

namespace femgpu
{
namespace
{
struct Column
{
  std::string heading;
  bool is_order;
  std::vector<std::string> texts; ///< one text per row
  bool is_shown = false;

  std::size_t width(const bool with_heading) const
  {
    std::size_t width = with_heading ? heading.size() : 0;
    for (const std::string &text : texts)
      width = std::max(width, text.size());
    return width;
  }
};

/// Returns the column of @p cell and sets @p at to the column's index. If there is no such column,
/// inserts it at index @p at.
Column &find_column(const Cell &cell, std::vector<Column> &columns, std::size_t &at)
{
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column &column) {
    return column.heading == cell.column && column.is_order == cell.is_order;
  });
  if (found != columns.end())
    at = static_cast<std::size_t>(found - columns.begin());
  else
    columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(at),
                   {cell.column, cell.is_order, {}});
  return columns[at];
}

/// Returns the columns that are shown.
/// @param escape function that is applied to headings and texts
/// @param nothing text that replaces empty and missing texts
template <class Escape>
std::vector<Column> columns_of(const Table &table, const Escape &escape, const std::string &nothing)
{
  std::vector<Column> columns;
  for (std::size_t row = 0; row < table.size(); ++row) {
    std::size_t at = columns.size();
    for (auto cell = table[row].rbegin(); cell != table[row].rend(); ++cell) {
      Column &column = find_column(*cell, columns, at);
      column.texts.resize(row + 1, nothing);
      column.is_shown = column.is_shown || cell->text;
      if (cell->text && !cell->text->empty())
        column.texts[row] = escape(*cell->text);
    }
  }
  columns.erase(std::remove_if(columns.begin(), columns.end(),
                               [](const Column &column) { return !column.is_shown; }),
                columns.end());
  for (Column &column : columns) {
    column.texts.resize(table.size(), nothing);
    column.heading = escape(column.heading);
  }
  return columns;
}

std::string spaces(const std::size_t n)
{
  return std::string(n, ' ');
}

std::string joined(const std::vector<Column> &columns, const std::size_t row,
                   const std::string &separator)
{
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i)
    line += (i == 0 ? "" : separator) + columns[i].texts[row];
  return line;
}

std::string plain(const Table &table)
{
  const auto identity = [](const std::string &text) { return text; };
  const std::vector<Column> columns = columns_of(table, identity, "-");
  std::vector<std::size_t> widths;
  std::string text;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].is_order)
      continue;
    const bool has_order = i + 1 < columns.size() && columns[i + 1].is_order;
    widths.push_back(columns[i].width(!has_order));
    std::size_t below = widths.back();
    if (has_order) {
      const std::size_t length = columns[i].heading.size(), order = columns[i + 1].width(false);
      widths.push_back(std::max(order, length - std::min(length, below + 1)));
      below += 1 + widths.back();
    }
    const std::size_t rest = below - columns[i].heading.size();
    text += spaces(rest / 2) + columns[i].heading + spaces(rest - rest / 2) + " ";
  }
  text += '\n';
  for (std::size_t row = 0; row < table.size(); ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      text += spaces(widths[i] - columns[i].texts[row].size()) + columns[i].texts[row] + " ";
    text += '\n';
  }
  return text;
}

std::string markdown(const Table &table)
{
  const auto escape = [](const std::string &text) {
    return boost::algorithm::replace_all_copy(text, "|", "\\|");
  };
  std::vector<Column> columns = columns_of(table, escape, "-");
  std::string header = "|", rule = "\n|";
  for (Column &column : columns) {
    if (column.is_order)
      column.heading = "order";
    header += " " + column.heading + spaces(column.width(true) - column.heading.size()) + " |";
    rule += "---|";
  }
  std::string text = header + rule + "\n";
  for (std::size_t row = 0; row < table.size(); ++row) {
    text += "|";
    for (const Column &column : columns)
      text +=
          " " + column.texts[row] + spaces(column.width(true) - column.texts[row].size()) + " |";
    text += '\n';
  }
  return text;
}

std::string escape_latex(const std::string &text)
{
  std::string result;
  for (const char c : text) {
    const bool is_accent = c == '~' || c == '^';
    if (c == '\\')
      result += "\\textbackslash{}";
    else if (is_accent || std::string("_&%$#{}").find(c) != std::string::npos)
      result += std::string("\\") + c + (is_accent ? "{}" : "");
    else
      result += c;
  }
  return result;
}

std::string latex(const Table &table)
{
  const std::vector<Column> columns = columns_of(table, escape_latex, "-");
  std::string formats = "|", header;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    formats += "c|";
    if (columns[i].is_order)
      continue;
    header += i == 0 ? "" : " & ";
    header += i + 1 < columns.size() && columns[i + 1].is_order
                  ? "\n\\multicolumn{2}{|c|}{" + columns[i].heading + "}"
                  : columns[i].heading;
  }
  std::string text = "\\begin{tabular}{" + formats + "} \\hline\n" + header + "\\\\ \\hline\n";
  for (std::size_t row = 0; row < table.size(); ++row)
    text += joined(columns, row, " & ") + "\\\\ \\hline\n";
  return text + "\\end{tabular}\n";
}

std::optional<std::string> format_number(const std::optional<double> x, const int digits,
                                         std::ios_base &(*format)(std::ios_base &))
{
  if (!x)
    return {};
  std::ostringstream text;
  text << format << std::setprecision(digits) << *x;
  return text.str();
}
} // namespace

TableTexts format_table(const Table &table)
{
  return {plain(table), markdown(table), latex(table)};
}

void append_remarks(const std::vector<std::string> &lines, TableTexts &texts)
{
  for (std::size_t i = 0; i < lines.size(); ++i) {
    texts.plain += lines[i] + "\n";
    texts.markdown += (i == 0 ? "\n- " : "- ") + lines[i] + "\n";
    texts.latex += "% " + lines[i] + "\n";
  }
}

std::string csv_of(const Table &table)
{
  const auto escape = [](const std::string &text) {
    const bool quotes = text.find_first_of(",\"\r\n") != std::string::npos;
    return quotes ? '"' + boost::algorithm::replace_all_copy(text, "\"", "\"\"") + '"' : text;
  };
  const std::vector<Column> columns = columns_of(table, escape, "");
  std::string text;
  for (const Column &column : columns)
    text += (&column == &columns.front() ? "" : ",") + column.heading;
  for (std::size_t row = 0; row < table.size(); ++row)
    text += '\n' + joined(columns, row, ",");
  return text + '\n';
}

std::optional<std::string> fixed(const std::optional<double> x, const int digits)
{
  return format_number(x, digits, std::fixed);
}

std::optional<std::string> scientific(const std::optional<double> x, const int digits)
{
  return format_number(x, digits, std::scientific);
}

std::optional<std::string> general(const std::optional<double> x, const int digits)
{
  return format_number(x, digits, std::defaultfloat);
}
} // namespace femgpu
