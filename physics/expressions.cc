#include "physics/expressions.h"

#include "linalg/base/error.h"

#include <deal.II/base/function_parser.h>
#include <deal.II/base/numbers.h>
#include <deal.II/lac/vector.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iostream>
#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
// Distance of the points that difference quotients are made of: its fourth power is at the level of
// rounding for lengths of order one.
constexpr double difference_step = 1e-3;

bool depends_on_position(const std::string &expression)
{
  std::string word;
  for (const char c : expression + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_')
      word += c;
    else {
      if (word == "x" || word == "y" || word == "z" || word == "rnd" || word == "rand" ||
          word == "rand_seed")
        return true;
      word.clear();
    }
  }
  return false;
}

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
  return text;
}

/// Keeps standard error silent while it lives: deal.II prints what muParser says, and throws it.
class SilentErrors
{
public:
  SilentErrors() : before(std::cerr.rdbuf(nullptr))
  {}
  ~SilentErrors()
  {
    std::cerr.rdbuf(before);
    std::cerr.clear();
  }
  SilentErrors(const SilentErrors &) = delete;
  SilentErrors &operator=(const SilentErrors &) = delete;

private:
  std::streambuf *before;
};

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
      parser(std::make_unique<FunctionParser<dim>>(static_cast<unsigned int>(expressions.size()),
                                                   0., difference_step))
{
  try {
    const SilentErrors silent;
    parser->initialize(FunctionParser<dim>::default_variable_names(), expressions,
                       {{"pi", numbers::PI}}, false);
    parser->set_formula(AutoDerivativeFunction<dim>::FourthOrder);
    for (unsigned int c = 0; c < this->n_components; ++c) {
      constants.push_back(parser->value(Point<dim>(), c)); // also finds what only evaluation shows
      is_constant.push_back(!depends_on_position(expressions[c]));
    }
  }
  catch (const ExceptionBase &error) {
    throw ParameterError("The expression '" + joined(expressions) + "' of " + path +
                             " cannot be read: " + muparser_text(error) + " Write it in " +
                             FunctionParser<dim>::default_variable_names() +
                             " and pi, with the functions of muParser, such as sin(pi*x)*exp(y) or "
                             "if(x<0.5, 1, 2).",
                         path);
  }
  for (unsigned int c = 0; c < this->n_components; ++c)
    if (is_constant[c] && !std::isfinite(constants[c]))
      throw ParameterError(
          "The expression '" + expressions[c] + "' of " + path + " is not a finite number.", path);
}

template <int dim>
Field<dim>::~Field() = default;

template <int dim>
double Field<dim>::value(const Point<dim> &p, const unsigned int component) const
{
  return is_constant[component] ? constants[component] : parser->value(p, component);
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
  return is_constant[component] ? Tensor<1, dim>() : parser->gradient(p, component);
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
types::boundary_id parse_id(const std::string &path, const std::string &text)
{
  const bool is_number = !text.empty() && text.size() <= 9 &&
                         std::all_of(text.begin(), text.end(),
                                     [](const unsigned char c) { return std::isdigit(c) != 0; });
  if (!is_number)
    throw ParameterError("'" + text + "' in " + path +
                             " is no boundary id; write entries such as '0, 1: sin(x); 2: 0'.",
                         path);
  return static_cast<types::boundary_id>(std::stoul(text));
}
} // namespace

BoundaryExpressions parse_boundary_expressions(const std::string &path, const std::string &text,
                                               const unsigned int n_components)
{
  BoundaryExpressions result;
  for (const std::string &entry : split_expressions(text, ';')) {
    if (entry.empty())
      continue;
    const auto colon = entry.find(':');
    if (colon == std::string::npos)
      throw ParameterError("The entry '" + entry + "' of " + path +
                               " has no ':' after its boundary ids; write entries such as '0, 1: "
                               "sin(x); 2: 0'.",
                           path);
    const auto expressions = split_expressions(entry.substr(colon + 1), ',');
    if (expressions.size() != n_components)
      throw ParameterError("The entry '" + entry + "' of " + path + " has " +
                               std::to_string(expressions.size()) + " expressions, but needs " +
                               std::to_string(n_components) + ", one for each component.",
                           path);
    for (const std::string &id : split_expressions(entry.substr(0, colon), ','))
      if (!result.emplace(parse_id(path, id), expressions).second)
        throw ParameterError("Boundary id " + id + " comes twice in " + path + ".", path);
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
