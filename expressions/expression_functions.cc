#include "expressions/expression_functions.h"

#include <algorithm>
#include <iterator>

namespace femgpu::linalg
{
using Operation = ExpressionOperation;

namespace
{
template <Operation operation>
int apply_to(ExpressionGraph &graph, const Arguments &arguments)
{
  return graph.apply(operation, arguments[0], arguments.size() > 1 ? arguments[1] : -1);
}

/// Applies the operation to the first two arguments, then to the result and each further argument.
template <Operation operation>
int accumulate(ExpressionGraph &graph, const Arguments &arguments)
{
  int result = arguments[0];
  for (std::size_t k = 1; k < arguments.size(); ++k)
    result = graph.apply(operation, result, arguments[k]);
  return result;
}

template <Operation operation>
int reciprocal(ExpressionGraph &graph, const Arguments &arguments)
{
  return graph.apply(Operation::divide, graph.constant(1.), graph.apply(operation, arguments[0]));
}

int mean(ExpressionGraph &graph, const Arguments &arguments)
{
  return graph.apply(Operation::divide, accumulate<Operation::add>(graph, arguments),
                     graph.constant(static_cast<double>(arguments.size())));
}

/// Returns floor(a), or 1 more if a − floor(a) is at least 1/2. floor(a + 1/2) would be wrong where
/// the sum is rounded.
int nearest_integer(ExpressionGraph &graph, const Arguments &arguments)
{
  const int a = arguments[0], below = graph.apply(Operation::floor, a);
  const int rest = graph.apply(Operation::subtract, a, below);
  return graph.apply(Operation::add, below,
                     graph.apply(Operation::less_equal, graph.constant(0.5), rest));
}

bool is_logical(const Operation operation)
{
  return operation == Operation::less || operation == Operation::less_equal ||
         operation == Operation::equal || operation == Operation::not_equal ||
         operation == Operation::logical_and || operation == Operation::logical_or;
}

int make_conditional(ExpressionGraph &graph, const Arguments &arguments)
{
  return graph.apply(Operation::select, condition(graph, arguments[0]), arguments[1], arguments[2]);
}

int make_power(ExpressionGraph &graph, const Arguments &arguments)
{
  return graph.power(arguments[0], arguments[1]);
}

constexpr ExpressionFunction functions[] = {
    {"abs", 1, apply_to<Operation::abs>, "absolute value"},
    {"sqrt", 1, apply_to<Operation::sqrt>, "square root"},
    {"exp", 1, apply_to<Operation::exp>, "exponential function"},
    {"log", 1, apply_to<Operation::log>, "natural logarithm"},
    {"ln", 1, apply_to<Operation::log>, "natural logarithm"},
    {"log2", 1, apply_to<Operation::log2>, "logarithm to base 2"},
    {"log10", 1, apply_to<Operation::log10>, "logarithm to base 10"},
    {"sin", 1, apply_to<Operation::sin>, "sine"},
    {"cos", 1, apply_to<Operation::cos>, "cosine"},
    {"tan", 1, apply_to<Operation::tan>, "tangent"},
    {"cot", 1, reciprocal<Operation::tan>, "cotangent"},
    {"sec", 1, reciprocal<Operation::cos>, "secant"},
    {"csc", 1, reciprocal<Operation::sin>, "cosecant"},
    {"asin", 1, apply_to<Operation::asin>, "inverse sine"},
    {"acos", 1, apply_to<Operation::acos>, "inverse cosine"},
    {"atan", 1, apply_to<Operation::atan>, "inverse tangent"},
    {"atan2", 2, apply_to<Operation::atan2>, "atan2(y, x) is the polar angle of the point (x, y)"},
    {"sinh", 1, apply_to<Operation::sinh>, "hyperbolic sine"},
    {"cosh", 1, apply_to<Operation::cosh>, "hyperbolic cosine"},
    {"tanh", 1, apply_to<Operation::tanh>, "hyperbolic tangent"},
    {"asinh", 1, apply_to<Operation::asinh>, "inverse hyperbolic sine"},
    {"acosh", 1, apply_to<Operation::acosh>, "inverse hyperbolic cosine"},
    {"atanh", 1, apply_to<Operation::atanh>, "inverse hyperbolic tangent"},
    {"erf", 1, apply_to<Operation::erf>, "error function"},
    {"erfc", 1, apply_to<Operation::erfc>, "1 - erf"},
    {"pow", 2, make_power, "pow(a, b) is a^b"},
    {"min", variadic, accumulate<Operation::min>, "minimum of the arguments"},
    {"max", variadic, accumulate<Operation::max>, "maximum of the arguments"},
    {"sum", variadic, accumulate<Operation::add>, "sum of the arguments"},
    {"avg", variadic, mean, "arithmetic mean of the arguments"},
    {"sign", 1, apply_to<Operation::sign>, "sign: -1, 0 or 1"},
    {"floor", 1, apply_to<Operation::floor>, "largest integer that is not greater"},
    {"ceil", 1, apply_to<Operation::ceil>, "smallest integer that is not less"},
    {"int", 1, apply_to<Operation::round>, "nearest integer; halves are rounded away from zero"},
    {"rint", 1, nearest_integer, "nearest integer; halves are rounded up"},
    {"if", 3, make_conditional, "if(c, a, b) is a if c is not 0, else b"}};
} // namespace

int condition(ExpressionGraph &graph, const int node)
{
  return is_logical(graph[node].operation) ? node : graph.apply(Operation::round, node);
}

const ExpressionFunction *find_function(const std::string &name)
{
  const auto *const found =
      std::find_if(std::begin(functions), std::end(functions),
                   [&](const ExpressionFunction &f) { return f.name == name; });
  return found == std::end(functions) ? nullptr : found;
}

std::string function_names()
{
  std::string names;
  for (const ExpressionFunction &function : functions)
    names += (names.empty() ? "" : ", ") + std::string(function.name);
  return names;
}

int interpolate(ExpressionGraph &graph, const ValueTable &table, const int a)
{
  int result = graph.constant(table.front().second);
  for (std::size_t k = 0; k + 1 < table.size(); ++k) {
    const auto [x0, y0] = table[k];
    const auto [x1, y1] = table[k + 1];
    const int low = graph.constant(x0);
    const int within =
        graph.apply(Operation::min, graph.apply(Operation::max, a, low), graph.constant(x1));
    const int term = graph.apply(Operation::multiply, graph.constant((y1 - y0) / (x1 - x0)),
                                 graph.apply(Operation::subtract, within, low));
    result = graph.apply(Operation::add, result, term);
  }
  return result;
}

std::vector<Choice> expression_functions()
{
  std::vector<Choice> choices;
  for (const ExpressionFunction &function : functions)
    choices.push_back({function.name, function.meaning});
  return choices;
}
} // namespace femgpu::linalg
