#include "physics/expressions.h"

#include "linalg/base/error.h"
#include "linalg/expressions/expression_parser.h"
#include "physics/expression_text.h"

#include <deal.II/base/array_view.h>
#include <deal.II/lac/vector.h>

#include <algorithm>
#include <array>
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

template <int dim>
std::vector<std::string> coordinate_names()
{
  return dim == 2 ? std::vector<std::string>{"x", "y"} : std::vector<std::string>{"x", "y", "z"};
}

/// Evaluates @p tape at many points. @p results has n_results() arrays, one after the other.
template <int dim>
void evaluate(const linalg::ExpressionTape &tape, const std::vector<Point<dim>> &points,
              std::vector<double> &results)
{
  const std::size_t n = points.size();
  std::vector<double> coordinates(dim * n);
  const double *variables[dim];
  for (int d = 0; d < dim; ++d) {
    for (std::size_t i = 0; i < n; ++i)
      coordinates[d * n + i] = points[i][d];
    variables[d] = coordinates.data() + d * n;
  }
  results.resize(n * tape.n_results());
  std::vector<double *> of_results;
  for (int r = 0; r < tape.n_results(); ++r)
    of_results.push_back(results.data() + r * n);
  tape.evaluate(variables, n, of_results.data());
}

/// The same at one point.
template <int dim, std::size_t n_results>
std::array<double, n_results> evaluate(const linalg::ExpressionTape &tape, const Point<dim> &p)
{
  std::array<double, n_results> results;
  const double *variables[dim];
  double *of_results[n_results];
  for (int d = 0; d < dim; ++d)
    variables[d] = &p[d];
  for (std::size_t r = 0; r < n_results; ++r)
    of_results[r] = &results[r];
  tape.evaluate(variables, 1, of_results);
  return results;
}
} // namespace

template <int dim>
Field<dim>::Field(const std::string &path, const std::vector<std::string> &expressions)
    : Function<dim>(static_cast<unsigned int>(expressions.size())), path(path)
{
  for (const std::string &expression : expressions) {
    require_one(path, expression);
    linalg::ExpressionGraph graph;
    const int root =
        linalg::parse_expression(expression, {coordinate_names<dim>(), {}, path}, graph);
    std::vector<int> derivatives;
    for (int d = 0; d < dim; ++d)
      derivatives.push_back(graph.derivative(root, d));
    Component component;
    component.expression = expression;
    component.is_constant = graph[root].is_constant();
    component.constant = graph[root].value;
    component.value = {graph, {root}, dim};
    component.gradient = {graph, derivatives, dim};
    components.push_back(std::move(component));
  }
}

template <int dim>
void Field<dim>::refuse(const std::string &what, const Point<dim> &p, const unsigned int component,
                        const double value) const
{
  std::ostringstream text;
  text << what << " '" << components[component].expression << "' of " << path << " is "
       << (std::isnan(value) ? "not a number"
           : value > 0.      ? "infinite"
                             : "minus infinite")
       << " at (" << p << "), where its value is needed. Look for divisions by zero, and for "
       << "roots and logarithms of negative numbers; if(condition, a, b) takes only what it "
       << "chooses.";
  throw ParameterError(text.str(), path);
}

template <int dim>
double Field<dim>::value(const Point<dim> &p, const unsigned int component) const
{
  if (components[component].is_constant)
    return components[component].constant;
  const double value = evaluate<dim, 1>(components[component].value, p)[0];
  if (!std::isfinite(value))
    refuse("The expression", p, component, value);
  return value;
}

template <int dim>
void Field<dim>::value_list(const Points &points, std::vector<double> &values,
                            const unsigned int component) const
{
  if (components[component].is_constant) {
    std::fill(values.begin(), values.end(), components[component].constant);
    return;
  }
  evaluate(components[component].value, points, values);
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!std::isfinite(values[i]))
      refuse("The expression", points[i], component, values[i]);
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
  if (components[component].is_constant)
    return {};
  const auto derivatives = evaluate<dim, dim>(components[component].gradient, p);
  for (const double derivative : derivatives)
    if (!std::isfinite(derivative))
      refuse("A derivative of the expression", p, component, derivative);
  return Tensor<1, dim>(ArrayView<const double>(derivatives.data(), dim));
}

template <int dim>
void Field<dim>::gradient_list(const Points &points, std::vector<Tensor<1, dim>> &gradients,
                               const unsigned int component) const
{
  std::fill(gradients.begin(), gradients.end(), Tensor<1, dim>());
  if (components[component].is_constant)
    return;
  std::vector<double> derivatives;
  evaluate(components[component].gradient, points, derivatives);
  for (int d = 0; d < dim; ++d)
    for (std::size_t i = 0; i < points.size(); ++i) {
      gradients[i][d] = derivatives[d * points.size() + i];
      if (!std::isfinite(gradients[i][d]))
        refuse("A derivative of the expression", points[i], component, gradients[i][d]);
    }
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
