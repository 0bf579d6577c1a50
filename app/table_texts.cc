#include "app/table_texts.h"

#include <algorithm>
#include <iomanip>
#include <regex>
#include <sstream>

namespace femgpu
{
namespace
{
std::string replaced(std::string text, const std::string &what, const std::string &by)
{
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::string as_it_is(const std::string &text)
{
  return text;
}

std::string for_markdown(const std::string &text)
{
  return replaced(text, "|", "\\|");
}

std::string for_latex(const std::string &text)
{
  std::string result;
  for (const char c : text)
    switch (c) {
    case '\\':
      result += "\\textbackslash{}";
      break;
    case '~':
    case '^':
      result += std::string("\\") + c + "{}";
      break;
    case '_':
    case '&':
    case '%':
    case '$':
    case '#':
    case '{':
    case '}':
      result += '\\';
      [[fallthrough]];
    default:
      result += c;
    }
  return result;
}

/// Emacs' tables are those of Markdown but for the line below the header.
std::string markdown_of(const dealii::TableHandler &table)
{
  std::ostringstream out;
  table.write_text(out, dealii::TableHandler::org_mode_table);
  // "L2 error...red.rate.log2" is a column that other forms have below "L2 error".
  static const std::regex rate(R"(\| [^|]*\.\.\.red\.rate\.log2)");
  std::string text = std::regex_replace(replaced(out.str(), "\"\"", "-"), rate, "| order");
  const std::string header = replaced(text.substr(0, text.find('\n')), "\\|", "");
  std::string rule = "\n|";
  for (auto bar = std::count(header.begin(), header.end(), '|'); bar > 1; --bar)
    rule += "---|";
  return text.insert(text.find('\n'), rule);
}

std::string latex_of(const dealii::TableHandler &table)
{
  std::ostringstream out;
  table.write_tex(out, false);
  const std::string text = replaced(out.str(), "\"\"", "--");
  const std::string begin = "\\begin{tabular}", end = "\\end{tabular}";
  const std::size_t first = text.find(begin), last = text.rfind(end);
  return text.substr(first, last + end.size() - first) + "\n";
}
} // namespace

TableTexts table_texts(const std::function<dealii::ConvergenceTable(const Escape &)> &make)
{
  std::ostringstream plain;
  make(as_it_is).write_text(plain);
  return {replaced(plain.str(), "\"\"", " -"), // as deal.II shows rates that do not exist
          markdown_of(make(for_markdown)), latex_of(make(for_latex))};
}

void append(const TableTexts &more, TableTexts &texts)
{
  for (std::string TableTexts::*const form :
       {&TableTexts::plain, &TableTexts::markdown, &TableTexts::latex})
    if (!(more.*form).empty())
      texts.*form += "\n" + more.*form;
}

TableTexts with_remarks(TableTexts texts, const std::vector<std::string> &lines)
{
  for (std::size_t i = 0; i < lines.size(); ++i) {
    texts.plain += lines[i] + "\n";
    texts.markdown += (i == 0 ? "\n- " : "- ") + lines[i] + "\n";
    texts.latex += "% " + lines[i] + "\n";
  }
  return texts;
}

std::string csv_line(const std::vector<std::string> &values)
{
  std::string line;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool quotes = values[i].find_first_of(",\"\r\n") != std::string::npos;
    line += i == 0 ? "" : ",";
    line += quotes ? '"' + replaced(values[i], "\"", "\"\"") + '"' : values[i];
  }
  return line + "\n";
}

std::string fixed(const double x, const int digits)
{
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << x;
  return text.str();
}

std::string scientific(const double x, const int digits)
{
  std::ostringstream text;
  text << std::scientific << std::setprecision(digits) << x;
  return text.str();
}

std::string in_full(const double x)
{
  std::ostringstream text;
  text.precision(17);
  text << x;
  return text.str();
}
} // namespace femgpu
