#include "physics/base/expression_parameters.h"

#include "linalg/base/error.h"
#include "physics/base/fields.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

namespace femgpu
{
namespace
{
const std::string constants_path = "Expressions/Constants", tables_path = "Expressions/Tables";

/// Checks the name of a constant or table. @throws ParameterError if @p name is reserved in
/// expressions, invalid, or among the @p known names
template <class Known>
void check_name(const std::string &path, const std::string &name, const Known &known)
{
  for (const char *const taken : {"x", "y", "z", "t", "u", "e", "pi"})
    if (name == taken || !linalg::is_definable_name(name))
      throw ParameterError("The name '" + name + "' in " + path +
                               " is a predefined or invalid name of expressions; use another name "
                               "of letters, digits and _.",
                           path);
  if (known.count(name) > 0)
    throw ParameterError("The name '" + name + "' is defined twice in " + path + ".", path);
}

/// Parses two numbers, separated by blanks, ',' or ';'. Returns nullopt if @p line is not such a
/// pair.
std::optional<std::pair<double, double>> read_pair(std::string line)
{
  std::replace_if(
      line.begin(), line.end(), [](const char c) { return c == ',' || c == ';' || c == '\r'; },
      ' ');
  std::istringstream words(line);
  std::string x, y, more;
  words >> x >> y;
  const auto first = finite_number(x), second = finite_number(y);
  if (!first || !second || words >> more)
    return {};
  return std::pair(*first, *second);
}

/// Reads a file of two columns. A heading in the first line and lines that begin with '#' are
/// skipped.
linalg::ValueTable read_table_file(const std::string &name, const std::string &directory)
{
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path path_in_directory = fs::path(directory) / name;
  std::ifstream file(fs::exists(name, ignored) ? fs::path(name) : path_in_directory);
  if (!file || fs::is_directory(name, ignored))
    throw InputError("The table '" + name + "' of " + tables_path +
                     " is neither a list of pairs 'x y, x y' nor a readable file. Give a path "
                     "relative to the working directory or to the parameter file.");
  linalg::ValueTable table;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.front() == '#')
      continue;
    if (const auto pair = read_pair(line))
      table.push_back(*pair);
    else if (!table.empty() || number > 1)
      throw InputError(name + ":" + std::to_string(number) + ": '" + line +
                       "' is not a pair of numbers. Write an argument and a value in each line.");
  }
  return table;
}

linalg::ValueTable read_table(const std::string &name, const std::string &text,
                              const std::string &directory)
{
  linalg::ValueTable table;
  bool has_pairs = true;
  for (const std::string &entry : split_expressions(text, ',')) {
    const auto pair = read_pair(entry);
    has_pairs = has_pairs && pair;
    if (pair)
      table.push_back(*pair);
  }
  if (!has_pairs)
    table = read_table_file(text, directory);
  if (table.size() < 2)
    throw ParameterError("The table '" + name + "' of " + tables_path +
                             " has fewer than two points. Write 'name: x y, x y, ...', or a file.",
                         tables_path);
  for (std::size_t k = 0; k + 1 < table.size(); ++k)
    if (!(table[k].first < table[k + 1].first)) {
      std::ostringstream message;
      message << "The table '" << name << "' of " << tables_path << " has " << table[k + 1].first
              << " after " << table[k].first << ". Sort its pairs by argument, each given once.";
      throw ParameterError(message.str(), tables_path);
    }
  return table;
}
} // namespace

ExpressionParameters::ExpressionParameters() : ParameterAcceptor("/Expressions")
{
  add_parameter(
      "Constants", constants,
      "Numbers that all expressions may use by name: 'sigma=5.67e-8, eps=0.8'. Predefined names, "
      "such as x or pi, cannot be redefined.");
  add_parameter(
      "Tables", tables,
      "Tabulated functions of one argument: 'name: argument value, argument value; name: file', "
      "for example 'k_steel: 300 60, 600 45, 900 30; c: c.csv'. A file has two columns, argument "
      "and value. Expressions call a function by its name, as in k_steel(u). Functions are linear "
      "between the points of the table and constant outside. femgpu searches a relative path in "
      "the working directory, then in the directory of the parameter file.");
}

linalg::ExpressionDefinitions ExpressionParameters::definitions() const
{
  linalg::ExpressionDefinitions result;
  for (const std::string &entry : entries_of(constants, ',')) {
    const auto fields = split_expressions(entry, '=');
    const auto value = fields.size() == 2 ? finite_number(fields[1]) : std::nullopt;
    if (!value)
      throw ParameterError(
          "The entry '" + entry + "' of " + constants_path +
              " is not NAME=NUMBER; write entries such as 'sigma=5.67e-8, eps=0.8'." +
              advice_on_decimal_comma(constants),
          constants_path);
    check_name(constants_path, fields[0], result.constants);
    result.constants[fields[0]] = *value;
  }
  for (const std::string &entry : entries_of(tables)) {
    const auto colon = entry.find(':');
    if (colon == std::string::npos)
      throw ParameterError("The entry '" + entry + "' of " + tables_path +
                               " has no ':' after its name; write 'k_steel: 300 60, 600 45'.",
                           tables_path);
    const std::string name = trimmed(entry.substr(0, colon));
    check_name(tables_path, name, result.tables);
    if (result.constants.count(name) > 0)
      throw ParameterError("'" + name + "' is both a constant and a table. Rename one of them.",
                           tables_path);
    result.tables[name] = read_table(name, trimmed(entry.substr(colon + 1)), directory);
  }
  return result;
}
} // namespace femgpu
