#include "physics/base/fields.h"

#include "expressions/expression_parser.h"
#include "linalg/base/error.h"

#include <deal.II/lac/vector.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <regex>
#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Checks that @p expression is exactly one expression. @throws ParameterError if it is not
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
                             "arguments of functions within parentheses by ','." +
                             advice_on_decimal_comma(expression),
                         path);
}
} // namespace

template <int dim>
Field<dim>::Field(const std::string &path, const std::vector<std::string> &expressions,
                  const Variables variables, const linalg::ExpressionDefinitions &definitions,
                  Clock clock_)
    : Function<dim>(static_cast<unsigned int>(expressions.size())), path(path),
      clock(std::move(clock_))
{
  const bool has_u = variables == Variables::position_and_solution;
  std::vector<std::string> names = {"x", "y", "z"}; // in the order of their indices
  names.resize(dim);
  names.emplace_back("t");
  if (has_u)
    names.emplace_back("u");
  for (const std::string &expression : expressions) {
    require_one(path, expression);
    linalg::ExpressionGraph graph;
    const int root = linalg::parse_expression(expression, {names, definitions, path}, graph);
    std::vector<int> value_and_gradient = {root};
    for (int d = 0; d < dim; ++d)
      value_and_gradient.push_back(graph.derivative(root, d));
    Component component;
    component.expression = expression;
    component.is_constant = graph[root].is_constant();
    component.constant = graph[root].value;
    component.depends_on_time = graph.degree(root, dim) > 0;
    if (component.depends_on_time && !clock)
      throw ParameterError("'" + expression + "' of " + path +
                               " depends on the time t, which only loads, boundary data and "
                               "coefficients of a transient analysis may use, not initial data or "
                               "constants. Remove t or, for those, set Analysis to transient.",
                           path);
    component.degree_in_u = has_u ? graph.degree(root, dim + 1) : 0;
    const int n_variables = component.degree_in_u > 0   ? dim + 2
                            : component.depends_on_time ? dim + 1
                                                        : dim;
    component.value = {graph, {root}, n_variables};
    component.value_and_gradient = {graph, value_and_gradient, n_variables};
    if (component.degree_in_u > 0)
      component.u_derivative = {graph, {graph.derivative(root, dim + 1)}, n_variables};
    components.push_back(std::move(component));
  }
}

/// Evaluates @p tape at n points, and stores result r of point i in @p results[r n + i].
/// @param u the solution at the points; nullptr if the tape does not depend on it
template <int dim>
void Field<dim>::evaluate_tape(const linalg::ExpressionTape &tape, const Points &points,
                               const double *const u, double *const results) const
{
  const std::size_t n = points.size();
  thread_local std::vector<double> numbers; // allocation would take half the time
  numbers.resize((dim + 1) * n);
  const double *variables[dim + 2];
  for (int d = 0; d < dim; ++d) {
    for (std::size_t i = 0; i < n; ++i)
      numbers[d * n + i] = points[i][d];
    variables[d] = numbers.data() + d * n;
  }
  std::fill_n(numbers.data() + dim * n, n, clock ? *clock : 0.);
  variables[dim] = numbers.data() + dim * n;
  variables[dim + 1] = u;
  double *of_results[1 + dim];
  for (int r = 0; r < tape.n_results(); ++r)
    of_results[r] = results + r * n;
  tape.evaluate(variables, n, of_results);
}

template <int dim>
void Field<dim>::require_finite(const char *const what, const Points &points,
                                const std::size_t n_points, const unsigned int component,
                                const double *const values) const
{
  for (std::size_t i = 0; i < n_points; ++i) {
    if (std::isfinite(values[i]))
      continue;
    std::ostringstream text;
    text << what << " '" << components[component].expression << "' of " << path << " is "
         << (std::isnan(values[i]) ? "not a number"
             : values[i] > 0.      ? "infinite"
                                   : "minus infinite")
         << " at (" << points[i] << "), where its value is needed. Check it for divisions by zero, "
         << "and for roots and logarithms of negative numbers; if(condition, a, b) evaluates only "
         << "the value that it chooses.";
    throw ParameterError(text.str(), path);
  }
}

template <int dim>
void Field<dim>::evaluate(const PointBatch<dim> &at, double *const values,
                          const unsigned int component) const
{
  const Component &f = components[component];
  if (f.is_constant) {
    std::fill_n(values, at.size(), f.constant);
    return;
  }
  evaluate_tape(f.value, at.points(), f.degree_in_u > 0 ? at.u[0] : nullptr, values);
  require_finite("The expression", at.points(), at.size(), component, values);
}

template <int dim>
void Field<dim>::evaluate_u_derivative(const PointBatch<dim> &at, double *const values,
                                       const unsigned int component) const
{
  const Component &f = components[component];
  if (f.degree_in_u == 0) {
    std::fill_n(values, at.size(), 0.);
    return;
  }
  evaluate_tape(f.u_derivative, at.points(), at.u[0], values);
  require_finite("A derivative of the expression", at.points(), at.size(), component, values);
}

template <int dim>
double Field<dim>::value(const Point<dim> &p, const unsigned int component) const
{
  std::vector<double> values(1);
  value_list({p}, values, component);
  return values[0];
}

template <int dim>
void Field<dim>::value_list(const Points &points, std::vector<double> &values,
                            const unsigned int component) const
{
  const Component &f = components[component];
  values.assign(points.size(), f.constant);
  if (f.is_constant)
    return;
  evaluate_tape(f.value, points, nullptr, values.data());
  require_finite("The expression", points, points.size(), component, values.data());
}

template <int dim>
void Field<dim>::vector_value_list(const Points &points, std::vector<Vector<double>> &values) const
{
  std::vector<double> of_component;
  for (unsigned int c = 0; c < this->n_components; ++c) {
    value_list(points, of_component, c);
    for (std::size_t i = 0; i < points.size(); ++i)
      values[i](c) = of_component[i];
  }
}

template <int dim>
void Field<dim>::value_and_gradient_rows(const Points &points, const std::size_t n_gradients,
                                         std::vector<double> &rows, const unsigned int component,
                                         const double *const u) const
{
  const Component &f = components[component];
  const std::size_t n = points.size();
  rows.resize((1 + dim) * n);
  if (f.is_constant) {
    std::fill_n(rows.begin(), n, f.constant);
    std::fill(rows.begin() + static_cast<std::ptrdiff_t>(n), rows.end(), 0.);
    return;
  }
  evaluate_tape(f.value_and_gradient, points, u, rows.data());
  require_finite("The expression", points, points.size(), component, rows.data());
  for (int d = 0; d < dim; ++d)
    require_finite("A derivative of the expression", points, n_gradients, component,
                   rows.data() + (1 + d) * n);
}

std::vector<std::string> split_expressions(const std::string &text, const char separator)
{
  std::vector<std::string> items(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == separator && depth == 0)
      items.emplace_back();
    else
      items.back() += c;
  }
  for (std::string &item : items)
    item = trimmed(item);
  return items;
}

std::vector<std::string> entries_of(const std::string &text, const char separator)
{
  std::vector<std::string> entries = split_expressions(text, separator);
  entries.erase(std::remove(entries.begin(), entries.end(), ""), entries.end());
  return entries;
}

std::string decimal_comma_in(const std::string &text)
{
  std::smatch found;
  const std::regex number(R"((^|[^\w.,])(\d+,\d+)(?![\w.,]))");
  return std::regex_search(text, found, number) ? found[2].str() : "";
}

std::string advice_on_decimal_comma(const std::string &text)
{
  const std::string number = decimal_comma_in(text);
  if (number.empty())
    return "";
  std::string right = number;
  std::replace(right.begin(), right.end(), ',', '.');
  return " Decimals are separated by '.': write " + right + " for " + number + ".";
}

namespace
{
struct Entry
{
  std::vector<std::string> words; ///< ids or names; may be empty
  std::vector<std::string> expressions;
};

/// Returns whether @p text is a list of ids and names, not the beginning of an expression such as
/// "x < 1 ? 2".
bool is_list_of_ids(const std::string &text)
{
  return std::all_of(text.begin(), text.end(), [](const unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string("_-., \t").find(static_cast<char>(c)) != std::string::npos;
  });
}

/// Parses "words: expressions" or, if @p ids_are_optional, "expressions".
Entry read_entry(const std::string &path, const std::string &text, const unsigned int n_components,
                 const bool ids_are_optional, const bool allow_single)
{
  const auto colon = text.find(':');
  Entry entry;
  const bool has_ids = colon != std::string::npos && is_list_of_ids(text.substr(0, colon));
  if (has_ids)
    entry.words = split_expressions(text.substr(0, colon), ',');
  else if (!ids_are_optional)
    throw ParameterError("The entry '" + text + "' of " + path +
                             " does not begin with boundary ids or names and ':'; write entries "
                             "such as '0, 1: sin(x); 2: 0'.",
                         path);
  entry.expressions = split_expressions(has_ids ? text.substr(colon + 1) : text, ',');
  const std::size_t n = entry.expressions.size();
  if (n != n_components && !(allow_single && n == 1))
    throw ParameterError("The entry '" + text + "' of " + path + " has " + std::to_string(n) +
                             (n == 1 ? " expression" : " expressions") + ", but needs " +
                             (allow_single ? "one or " : "") + std::to_string(n_components) +
                             ", one for each component." + advice_on_decimal_comma(text),
                         path);
  return entry;
}

/// @param kind "Boundary" or "Material"
/// @param word the name or number that denotes @p id
[[noreturn]] void reject_repeated_id(const std::string &kind, const std::string &word,
                                     const NamedIds::Id id, const NamedIds &ids,
                                     const std::string &path)
{
  const auto named = ids.names.find(word);
  const bool overlaps = named != ids.names.end() && named->second.size() > 1;
  throw ParameterError(
      overlaps
          ? "'" + word + "' in " + path + " contains " + ids.list({id}) +
                ", to which another entry applies, too. Name only groups that do not overlap."
          : kind + " id " + word + " is given twice in " + path + ". Remove one of the entries.",
      path);
}
} // namespace

BoundaryExpressions parse_boundary_expressions(const std::string &path, const std::string &text,
                                               const unsigned int n_components,
                                               const MeshRegions &regions, const Places places)
{
  BoundaryExpressions result;
  for (const std::string &item : entries_of(text)) {
    const Entry entry = read_entry(path, item, n_components, /* ids_are_optional */ false,
                                   /* allow_single */ false);
    for (const std::string &word : entry.words) {
      for (const auto id : regions.places(path, word, places))
        if (!result.emplace(id, entry.expressions).second)
          reject_repeated_id("Boundary", word, id, regions.boundaries, path);
    }
  }
  return result;
}

MaterialExpressions parse_material_expressions(const std::string &path, const std::string &text,
                                               const unsigned int n_components,
                                               const MeshRegions &regions, const bool allow_single)
{
  MaterialExpressions result;
  std::vector<std::string> others;
  for (const std::string &item : entries_of(text)) {
    const Entry entry =
        read_entry(path, item, n_components, /* ids_are_optional */ true, allow_single);
    if (entry.words.empty() && !others.empty())
      throw ParameterError(path + " has two entries without material ids, the second is '" + item +
                               "'; write entries such as '1; 2, steel: 1 + x'.",
                           path);
    if (entry.words.empty())
      others = entry.expressions;
    for (const std::string &word : entry.words)
      for (const auto id : regions.material(path, word))
        if (!result.emplace(id, entry.expressions).second)
          reject_repeated_id("Material", word, id, regions.materials, path);
  }
  for (const auto id : regions.materials.ids)
    if (result.count(id) == 0) {
      if (others.empty())
        throw ParameterError(path + " has no value for material id " + std::to_string(id) +
                                 "; the mesh has " + regions.materials.list() +
                                 ". Name it, or add an entry without ids for all others.",
                             path);
      result[id] = others;
    }
  return result;
}

template class Field<2>;
template class Field<3>;
} // namespace femgpu
