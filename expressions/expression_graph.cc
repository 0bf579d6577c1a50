#include "expressions/expression_graph.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace femgpu::linalg
{
using Operation = ExpressionOperation;

int ExpressionGraph::add(const Node &node)
{
  std::uint64_t bits = 0;
  std::memcpy(&bits, &node.value, sizeof bits);
  const Key key = {node.operation,   node.variable,    bits,
                   node.operands[0], node.operands[1], node.operands[2]};
  const auto [found, is_new] = numbers.emplace(key, size());
  if (is_new)
    nodes.push_back(node);
  return found->second;
}

int ExpressionGraph::constant(const double value)
{
  Node node;
  node.value = value;
  return add(node);
}

int ExpressionGraph::variable(const int number)
{
  Node node;
  node.variable = number;
  return add(node);
}

int ExpressionGraph::apply(const Operation operation, const int a, const int b, const int c)
{
  if (operation == Operation::select && (*this)[a].is_constant())
    return (*this)[a].value != 0. ? b : c;
  Node node;
  node.operation = operation;
  node.operands = {a, b, c};
  const ExpressionGraph &graph = *this;
  const bool is_known = std::all_of(node.operands.begin(), node.operands.end(),
                                    [&](const int k) { return k < 0 || graph[k].is_constant(); });
  if (!is_known)
    return add(node);
  const double first = graph[a].value, second = b < 0 ? 0. : graph[b].value;
  return constant(linalg::apply(operation, first, second));
}

int ExpressionGraph::power(const int a, const int b)
{
  if (is(b, 2.))
    return apply(Operation::square, a);
  if (is(b, 3.))
    return apply(Operation::cube, a);
  if (is(b, 4.))
    return apply(Operation::fourth_power, a);
  return apply(Operation::power, a, b);
}

bool ExpressionGraph::is(const int node, const double value) const
{
  return (*this)[node].is_constant() && (*this)[node].value == value;
}

// Operations for derivatives. They simplify their results, because many operands are 0 or 1.

int ExpressionGraph::sum(const int a, const int b)
{
  return is(a, 0.) ? b : is(b, 0.) ? a : apply(Operation::add, a, b);
}

int ExpressionGraph::difference(const int a, const int b)
{
  return is(b, 0.) ? a : is(a, 0.) ? apply(Operation::negate, b) : apply(Operation::subtract, a, b);
}

int ExpressionGraph::product(const int a, const int b)
{
  if (is(a, 0.) || is(b, 0.))
    return constant(0.);
  return is(a, 1.) ? b : is(b, 1.) ? a : apply(Operation::multiply, a, b);
}

int ExpressionGraph::quotient(const int a, const int b)
{
  return is(a, 0.) || is(b, 1.) ? a : apply(Operation::divide, a, b);
}

int ExpressionGraph::derivative(const int node, const int variable)
{
  if (const auto found = derivatives.find({node, variable}); found != derivatives.end())
    return found->second;
  const int result = derivative_of(node, variable);
  derivatives[{node, variable}] = result;
  return result;
}

int ExpressionGraph::derivative_of(const int node, const int variable)
{
  const Node root = (*this)[node]; // a copy, because adding nodes invalidates references
  const auto [a, b, c] = root.operands;
  if (root.operation == Operation::load)
    return constant(root.variable == variable ? 1. : 0.);
  const int da = derivative(a, variable), db = b < 0 ? -1 : derivative(b, variable);
  switch (root.operation) {
  case Operation::negate:
    return difference(constant(0.), da);
  case Operation::add:
    return sum(da, db);
  case Operation::subtract:
    return difference(da, db);
  case Operation::multiply:
    return sum(product(da, b), product(a, db));
  case Operation::divide:
    return quotient(difference(da, product(node, db)), b);
  case Operation::power:
    return derivative_of_power(node, da, db);
  case Operation::select: {
    const int dc = derivative(c, variable);
    return db == dc ? db : apply(Operation::select, a, db, dc);
  }
  case Operation::min:
    return da == db ? da : apply(Operation::select, apply(Operation::less, a, b), da, db);
  case Operation::max:
    return da == db ? da : apply(Operation::select, apply(Operation::less, b, a), da, db);
  case Operation::atan2: {
    const int squares = sum(apply(Operation::square, a), apply(Operation::square, b));
    return quotient(difference(product(b, da), product(a, db)), squares);
  }
  default:
    return is(da, 0.) ? da : product(slope_of_function(node), da);
  }
}

int ExpressionGraph::derivative_of_power(const int node, const int da, const int db)
{
  const int a = (*this)[node].operands[0], b = (*this)[node].operands[1];
  const int base_term =
      is(da, 0.) ? da : product(product(b, power(a, difference(b, constant(1.)))), da);
  const int exponent_term = is(db, 0.) ? db : product(product(node, apply(Operation::log, a)), db);
  return sum(base_term, exponent_term);
}

/// Returns the node of f'(a) for the @p node of f(a), where f has one operand.
int ExpressionGraph::slope_of_function(const int node)
{
  const Operation operation = (*this)[node].operation;
  const int a = (*this)[node].operands[0], one = constant(1.);
  const auto of = [this](const Operation function, const int k) { return apply(function, k); };
  const auto scaled = [this](const double factor, const int k) {
    return product(constant(factor), k);
  };
  constexpr double two_over_root_pi = 1.1283791670955125739, ln_2 = 0.69314718055994530942,
                   ln_10 = 2.3025850929940456840;
  switch (operation) {
  case Operation::square:
    return scaled(2., a);
  case Operation::cube:
    return scaled(3., of(Operation::square, a));
  case Operation::fourth_power:
    return scaled(4., of(Operation::cube, a));
  case Operation::abs:
    return of(Operation::sign, a);
  case Operation::sqrt:
    return quotient(constant(0.5), node);
  case Operation::exp:
    return node;
  case Operation::log:
    return quotient(one, a);
  case Operation::log2:
    return quotient(one, scaled(ln_2, a));
  case Operation::log10:
    return quotient(one, scaled(ln_10, a));
  case Operation::sin:
    return of(Operation::cos, a);
  case Operation::cos:
    return of(Operation::negate, of(Operation::sin, a));
  case Operation::tan:
    return sum(one, of(Operation::square, node));
  case Operation::asin:
    return quotient(one, of(Operation::sqrt, difference(one, of(Operation::square, a))));
  case Operation::acos:
    return quotient(constant(-1.), of(Operation::sqrt, difference(one, of(Operation::square, a))));
  case Operation::atan:
    return quotient(one, sum(one, of(Operation::square, a)));
  case Operation::sinh:
    return of(Operation::cosh, a);
  case Operation::cosh:
    return of(Operation::sinh, a);
  case Operation::tanh:
    return difference(one, of(Operation::square, node));
  case Operation::asinh:
    return quotient(one, of(Operation::sqrt, sum(of(Operation::square, a), one)));
  case Operation::acosh:
    return quotient(one, of(Operation::sqrt, difference(of(Operation::square, a), one)));
  case Operation::atanh:
    return quotient(one, difference(one, of(Operation::square, a)));
  case Operation::erf:
  case Operation::erfc: {
    const double factor = operation == Operation::erf ? two_over_root_pi : -two_over_root_pi;
    return scaled(factor, of(Operation::exp, of(Operation::negate, of(Operation::square, a))));
  }
  default: // step functions and comparisons
    return constant(0.);
  }
}
int ExpressionGraph::degree(const int node, const int variable) const
{
  std::vector<int> degrees; // operands precede their results
  for (int number = 0; number <= node; ++number) {
    const Node &current = (*this)[number];
    const auto of = [&](const int operand) {
      const int of_operand = current.operands[static_cast<std::size_t>(operand)];
      return of_operand < 0 ? 0 : degrees[static_cast<std::size_t>(of_operand)];
    };
    const int a = of(0), b = of(1), c = of(2);
    int result = a + b + c > 0 ? 2 : 0;
    switch (current.operation) {
    case Operation::load:
      result = current.variable == variable ? 1 : 0;
      break;
    case Operation::negate:
    case Operation::add:
    case Operation::subtract:
      result = std::max(a, b);
      break;
    case Operation::multiply:
      result = std::min(2, a + b);
      break;
    case Operation::divide:
      result = b == 0 ? a : 2;
      break;
    case Operation::select:
      result = a == 0 ? std::max(b, c) : 2;
      break;
    default:
      break;
    }
    degrees.push_back(result);
  }
  return degrees.back();
}
} // namespace femgpu::linalg
