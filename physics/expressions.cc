#include "physics/expressions.h"

#include "linalg/base/error.h"
#include "physics/expression_text.h"
#include "physics/silent_errors.h"

#include <deal.II/base/function_parser.h>
#include <deal.II/base/numbers.h>
#include <deal.II/lac/vector.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
bool continues_name(const char c)
{
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
} // namespace

bool depends_on_position(const std::string &expression)
{
  std::string word;
  for (const char c : expression + " ") {
    if (continues_name(c))
      word += c;
    else {
      if (word == "x" || word == "y" || word == "z")
        return true;
      word.clear();
    }
  }
  return false;
}

namespace
{
// Distance of the points that difference quotients are made of: its fourth power is at the level of
// rounding for lengths of order one.
constexpr double difference_step = 1e-3;

// muParser's sentence out of deal.II's text around it.
std::string muparser_text(const ExceptionBase &error)
{
  std::ostringstream all;
  error.print_info(all);
  std::string line, text;
  std::istringstream lines(all.str());
  while (std::getline(lines, line)) {
    line.erase(0, line.find_first_not_of(' '));
    if (!line.empty())
      text += (text.empty() ? "" : " ") + line;
  }
  // deal.II's column is not that of the parser, which gives its own.
  const std::string introduction = "The parser said: ";
  if (const auto at = text.find(introduction); at != std::string::npos)
    text.erase(0, at + introduction.size());
  if (!text.empty() && text.back() != '.')
    text += '.';
  if (text.find("position") != std::string::npos)
    text += " Positions count from 0.";
  return text;
}

/// "x, y", the variables of an expression.
template <int dim>
std::string variable_names()
{
  return dim == 2 ? "x, y" : "x, y, z";
}

/// Expressions whose values are refused where they are not finite.
template <int dim>
class FiniteParser final : public FunctionParser<dim>
{
public:
  FiniteParser(std::string path, std::vector<std::string> expressions)
      : FunctionParser<dim>(static_cast<unsigned int>(expressions.size()), 0., difference_step),
        path(std::move(path)), expressions(std::move(expressions))
  {}

  /// @throws ParameterError that names the place
  double value(const Point<dim> &p, const unsigned int component = 0) const override
  {
    const double value = FunctionParser<dim>::value(p, component);
    if (!std::isfinite(value))
      refuse(p, component, value);
    return value;
  }

private:
  [[noreturn]] void refuse(const Point<dim> &p, const unsigned int component,
                           const double value) const
  {
    std::ostringstream text;
    text << "The expression '" << expressions[component] << "' of " << path << " is "
         << (std::isnan(value) ? "not a number"
             : value > 0.      ? "infinite"
                               : "minus infinite")
         << " at (" << p << "), where its value is needed. Look for divisions by zero, and for "
         << "roots and logarithms of negative numbers; if(condition, a, b) evaluates only what it "
         << "chooses.";
    throw ParameterError(text.str(), path);
  }

  std::string path;
  std::vector<std::string> expressions;
};

/// @throws ParameterError for none or several expressions where there must be one
void require_one(const std::string &path, const std::string &expression)
{
  if (is_blank(expression))
    throw ParameterError("An expression of " + path +
                             " is empty. Write a number, or an expression such as sin(pi*x).",
                         path);
  const auto n = split_expressions(expression, ',').size();
  if (n != 1)
    throw ParameterError("'" + expression + "' of " + path + " has " + std::to_string(n) +
                             " expressions, but one is needed. Separate decimals by '.', and "
                             "arguments of functions within parentheses by ','.",
                         path);
}

/// An assignment would change x for whatever is read after it. @throws ParameterError
void refuse_assignments(const std::string &path, const std::string &expression)
{
  for (std::size_t at = 0; (at = expression.find_first_of("=<>!", at)) != std::string::npos;) {
    const bool compares = at + 1 < expression.size() && expression[at + 1] == '=';
    if (expression[at] == '=' && !compares)
      throw ParameterError("The expression '" + expression + "' of " + path +
                               " assigns a value at its position " + std::to_string(at) +
                               ", counted from 0. Write == to compare, or only what stands behind "
                               "the =.",
                           path);
    at += compares ? 2 : 1;
  }
}

/// Random numbers are others in each run and on each rank. @throws ParameterError
void refuse_random_numbers(const std::string &path, const std::string &expression)
{
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= expression.size(); ++at) {
    if (at < expression.size() && continues_name(expression[at]))
      continue;
    const std::string word = expression.substr(begin, at - begin);
    if (word == "rand" || word == "rand_seed")
      throw ParameterError("The expression '" + expression + "' of " + path + " calls " + word +
                               " at its position " + std::to_string(begin) +
                               ", counted from 0: no run could be repeated, and no two ranks would "
                               "have the same data. Write a function of the place that is as "
                               "irregular, as sin(1e4*x).",
                           path);
    begin = at + 1;
  }
}

std::string joined(const std::vector<std::string> &expressions)
{
  std::string text;
  for (const std::string &expression : expressions)
    text += (text.empty() ? "" : ", ") + expression;
  return text;
}
} // namespace

template <int dim>
Field<dim>::Field(const std::string &path, const std::vector<std::string> &expressions)
    : Function<dim>(static_cast<unsigned int>(expressions.size())),
      parser(std::make_unique<FiniteParser<dim>>(path, expressions))
{
  for (const std::string &expression : expressions) {
    require_one(path, expression);
    refuse_assignments(path, expression);
    refuse_random_numbers(path, expression);
  }
  try {
    const SilentErrors silent;
    parser->initialize(FunctionParser<dim>::default_variable_names(), expressions,
                       {{"pi", numbers::PI}}, false);
    parser->set_formula(AutoDerivativeFunction<dim>::FourthOrder);
    for (unsigned int c = 0; c < this->n_components; ++c) {
      // also finds what only evaluation shows
      constants.push_back(parser->FunctionParser<dim>::value(Point<dim>(), c));
      constant.push_back(!depends_on_position(expressions[c]));
    }
  }
  catch (const ExceptionBase &error) {
    throw ParameterError("The expression '" + joined(expressions) + "' of " + path +
                             " cannot be read: " + muparser_text(error) + " Write it in " +
                             variable_names<dim>() +
                             " and pi, without units, with the functions of muParser, such as "
                             "x^2*sin(pi*y) or if(x<0.5, 1, 2).",
                         path);
  }
  for (unsigned int c = 0; c < this->n_components; ++c)
    if (constant[c] && !std::isfinite(constants[c]))
      throw ParameterError(
          "The expression '" + expressions[c] + "' of " + path + " is not a finite number.", path);
}

template <int dim>
Field<dim>::~Field() = default;

template <int dim>
double Field<dim>::value(const Point<dim> &p, const unsigned int component) const
{
  return constant[component] ? constants[component] : parser->value(p, component);
}

template <int dim>
void Field<dim>::vector_value(const Point<dim> &p, Vector<double> &values) const
{
  for (unsigned int c = 0; c < this->n_components; ++c)
    values(c) = value(p, c);
}

template <int dim>
Tensor<1, dim> Field<dim>::gradient(const Point<dim> &p, const unsigned int component) const
{
  return constant[component] ? Tensor<1, dim>() : parser->gradient(p, component);
}

std::vector<std::string> split_expressions(const std::string &text, const char separator)
{
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == separator && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string &part : parts) {
    part.erase(0, part.find_first_not_of(" \t"));
    part.erase(part.find_last_not_of(" \t") + 1);
  }
  return parts;
}

namespace
{
struct Entry
{
  std::vector<std::string> words; ///< ids or names; empty for an entry without
  std::vector<std::string> expressions;
};

/// Is @p text a list of ids and names, and no beginning of an expression such as "x < 1 ? 2"?
bool is_list_of_words(const std::string &text)
{
  return std::all_of(text.begin(), text.end(), [](const unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string("_-., \t").find(static_cast<char>(c)) != std::string::npos;
  });
}

/// "words: expressions" or "expressions".
Entry read_entry(const std::string &path, const std::string &text, const unsigned int n_components,
                 const bool repeats = false)
{
  const auto colon = text.find(':');
  Entry entry;
  const bool has_words = colon != std::string::npos && is_list_of_words(text.substr(0, colon));
  if (has_words)
    entry.words = split_expressions(text.substr(0, colon), ',');
  entry.expressions = split_expressions(has_words ? text.substr(colon + 1) : text, ',');
  if (repeats && entry.expressions.size() == 1)
    entry.expressions.assign(n_components, entry.expressions.front());
  if (entry.expressions.size() != n_components)
    throw ParameterError("The entry '" + text + "' of " + path + " has " +
                             std::to_string(entry.expressions.size()) + " expressions, but needs " +
                             (repeats ? "one or " : "") + std::to_string(n_components) +
                             ", one for each component.",
                         path);
  return entry;
}

/// The entries of @p text, which ';' separates.
std::vector<std::string> entries_of(const std::string &text)
{
  std::vector<std::string> entries;
  for (const std::string &entry : split_expressions(text, ';'))
    if (!entry.empty())
      entries.push_back(entry);
  return entries;
}
} // namespace

BoundaryExpressions parse_boundary_expressions(const std::string &path, const std::string &text,
                                               const unsigned int n_components,
                                               const MeshRegions &regions)
{
  BoundaryExpressions result;
  for (const std::string &part : entries_of(text)) {
    if (part.find(':') == std::string::npos)
      throw ParameterError("The entry '" + part + "' of " + path +
                               " has no ':' after its boundary ids; write entries such as '0, 1: "
                               "sin(x); 2: 0'.",
                           path);
    const Entry entry = read_entry(path, part, n_components);
    if (entry.words.empty())
      throw ParameterError("The entry '" + part + "' of " + path +
                               " does not begin with boundary ids or names and ':'; write entries "
                               "such as '0, 1: sin(x); 2: 0'.",
                           path);
    for (const std::string &word : entry.words)
      if (!result.emplace(regions.boundary(path, word), entry.expressions).second)
        throw ParameterError("Boundary id " + word + " comes twice in " + path + ".", path);
  }
  return result;
}

MaterialExpressions parse_material_expressions(const std::string &path, const std::string &text,
                                               const unsigned int n_components,
                                               const MeshRegions &regions, const bool repeats)
{
  MaterialExpressions result;
  std::vector<std::string> others;
  for (const std::string &part : entries_of(text)) {
    const Entry entry = read_entry(path, part, n_components, repeats);
    if (entry.words.empty() && !others.empty())
      throw ParameterError(path + " has two entries without material ids, the last '" + part +
                               "'; write entries such as '1; 2, steel: 1 + x'.",
                           path);
    if (entry.words.empty())
      others = entry.expressions;
    for (const std::string &word : entry.words)
      if (!result.emplace(regions.material(path, word), entry.expressions).second)
        throw ParameterError("Material id " + word + " comes twice in " + path + ".", path);
  }
  for (const auto id : regions.material_ids)
    if (result.count(id) == 0) {
      if (others.empty())
        throw ParameterError(path + " says nothing about material id " + std::to_string(id) +
                                 "; the mesh has " + regions.material_list() +
                                 ". Name it, or add an entry without ids for all others.",
                             path);
      result[id] = others;
    }
  return result;
}

std::set<types::boundary_id> ids_of(const BoundaryExpressions &expressions)
{
  std::set<types::boundary_id> ids;
  for (const auto &entry : expressions)
    ids.insert(entry.first);
  return ids;
}

template class Field<2>;
template class Field<3>;
} // namespace femgpu
