#include "expressions/expression_parser.h"
#include "physics/base/fields.h"
#include "tests/linalg/exact_number.h"

#include <deal.II/base/config.h>
#include <deal.II/base/function_parser.h>
#include <deal.II/base/numbers.h>
#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace femgpu
{
namespace
{
using dealii::Point;
using dealii::Tensor;

/// Generates random expressions of x, y and z with values of moderate size.
class RandomExpressions
{
public:
  explicit RandomExpressions(const unsigned int seed) : random(seed)
  {}

  std::string make(const int depth)
  {
    if (depth == 0 || below(6) == 0)
      return leaf();
    switch (below(8)) {
    case 0:
    case 1:
      return make(depth - 1) + pick({" + ", " - ", "*"}) + make(depth - 1);
    case 2:
      return "(" + make(depth - 1) + ")" + pick({"^2", "^3", "^4", "*2", " - 1", "/3"});
    case 3:
      return "-" + leaf() + pick({"^2", "*x", " + y"});
    case 4:
      return "if(" + make(depth - 1) + pick({" < ", " > ", " <= ", " >= "}) + leaf() + ", " +
             make(depth - 1) + ", " + make(depth - 1) + ")";
    case 5:
      return pick({"min(", "max(", "atan2(", "sum(", "avg("}) + make(depth - 1) + ", " +
             make(depth - 1) + ")";
    case 6:
      return "(" + make(depth - 1) + ")/(1.5 + sin(" + make(depth - 1) + "))";
    default:
      return pick({"sin(", "cos(", "tanh(", "atan(", "abs(", "exp(-2 - ", "sqrt(1 + x*x + 0*",
                   "erfc(", "sign(", "floor(0.3 + ", "cosh(0.1*", "log(2 + sin("}) +
             make(depth - 1) + ")" + closing;
    }
  }

private:
  int below(const int n)
  {
    return static_cast<int>(random() % static_cast<unsigned int>(n));
  }
  std::string pick(const std::vector<std::string> &words)
  {
    std::string word = words[below(static_cast<int>(words.size()))];
    closing = word == "log(2 + sin(" ? ")" : "";
    return word;
  }
  std::string leaf()
  {
    return pick({"x", "y", "z", "pi", "0.5", "2", "1.25e-1", "3"});
  }

  std::mt19937 random;
  std::string closing;
};

/// A value, and a bound of its difference from the value of another implementation.
struct Bounded
{
  double value = 0., error = 0.;
};

/// Returns the value and the error bound of each node. An operation adds a few units in the last
/// place to the propagated error, its largest change if each operand changes by its own error.
std::vector<Bounded> with_errors(const linalg::ExpressionGraph &graph, const Point<3> &p)
{
  constexpr double units = 8. * std::numeric_limits<double>::epsilon();
  std::vector<Bounded> results;
  for (int number = 0; number < graph.size(); ++number) {
    const linalg::ExpressionGraph::Node &node = graph[number];
    const auto operand = [&](const int k) {
      return node.operands[k] < 0 ? Bounded() : results[node.operands[k]];
    };
    const Bounded a = operand(0), b = operand(1), c = operand(2);
    Bounded result;
    if (node.is_constant()) { // may have been folded
      result = {node.value, units * std::abs(node.value)};
    }
    else if (node.operation == linalg::ExpressionOperation::load) {
      result = {p[node.variable], 0.};
    }
    else if (node.operation == linalg::ExpressionOperation::select) {
      const bool is_sure = a.error < 0.5;
      result = a.value != 0. ? b : c;
      result.error = is_sure ? result.error : std::numeric_limits<double>::max();
    }
    else {
      result.value = linalg::apply(node.operation, a.value, b.value);
      for (const double i : {-1., 0., 1.})
        for (const double j : {-1., 0., 1.}) {
          const double moved =
              linalg::apply(node.operation, a.value + i * a.error, b.value + j * b.error);
          result.error = std::max(result.error, std::abs(moved - result.value));
        }
      result.error = 1.5 * result.error + units * std::abs(result.value);
    }
    results.push_back(result);
  }
  return results;
}

using Exact = linalg::test::ExactNumber<400>;

/// Returns the value of node @p root at x + h e_d, where h = 2^-100 times @p direction.
Exact exact_value(const linalg::ExpressionGraph &graph, const int root, const Point<3> &p,
                  const int d = 0, const double direction = 0.)
{
  std::vector<Exact> values;
  for (int number = 0; number <= root; ++number) {
    const linalg::ExpressionGraph::Node &node = graph[number];
    const auto operand = [&](const int k) {
      return node.operands[k] < 0 ? Exact(0.) : values[node.operands[k]];
    };
    if (node.is_constant())
      values.emplace_back(node.value);
    else if (node.operation == linalg::ExpressionOperation::load)
      values.push_back(apply(linalg::ExpressionOperation::add, Exact(p[node.variable]),
                             Exact(node.variable == d ? direction : 0.).scaled(-100)));
    else if (node.operation == linalg::ExpressionOperation::select)
      values.push_back(operand(static_cast<double>(operand(0)) != 0. ? 1 : 2));
    else
      values.push_back(apply(node.operation, operand(0), operand(1)));
  }
  return values.back();
}

/// Returns the derivative by a central difference whose error is below double precision.
double exact_derivative(const linalg::ExpressionGraph &graph, const int root, const Point<3> &p,
                        const int d)
{
  const Exact difference =
      apply(linalg::ExpressionOperation::subtract, exact_value(graph, root, p, d, 1.),
            exact_value(graph, root, p, d, -1.));
  return static_cast<double>(difference.scaled(99));
}

/// Returns the gradient at one point, computed by value_and_gradient_rows().
template <int dim>
Tensor<1, dim> gradient_of(const Field<dim> &field, const Point<dim> &p, const unsigned int c)
{
  std::vector<double> rows;
  field.value_and_gradient_rows({p}, 1, rows, c);
  Tensor<1, dim> gradient;
  std::copy(rows.begin() + 1, rows.end(), gradient.begin_raw());
  return gradient;
}

// muParser merges sums and multiples of constants, so some bits differ.
TEST(Field, HasTheValuesOfMuParserAndExactDerivatives)
{
  RandomExpressions expressions(7);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> coordinate(-1., 1.);
  int n_values = 0, n_derivatives = 0;
  for (int k = 0; k < 3000; ++k) {
    const std::string text = expressions.make(5);
    if (text.size() > 1000)
      continue;
#ifdef DEAL_II_WITH_MUPARSER
    dealii::FunctionParser<3> reference(1);
    reference.initialize("x,y,z", text, {{"pi", dealii::numbers::PI}});
#endif
    const Field<3> field("Test/Field", {text});
    linalg::ExpressionGraph graph;
    const int root = linalg::parse_expression(text, {{"x", "y", "z"}, {}, ""}, graph);
    const std::array<int, 3> derivatives = {graph.derivative(root, 0), graph.derivative(root, 1),
                                            graph.derivative(root, 2)};
    const auto is_sure = [](const Bounded &x) { return x.error < 1e-6 * (1. + std::abs(x.value)); };
    for (int i = 0; i < 4; ++i) {
      const Point<3> p(coordinate(random), coordinate(random), coordinate(random));
      const std::vector<Bounded> bounded = with_errors(graph, p);
      if (!is_sure(bounded[root]))
        continue;
      ++n_values;
      const double error = bounded[root].error + 1e-300;
      EXPECT_NEAR(field.value(p), static_cast<double>(exact_value(graph, root, p)), error)
          << text << " at " << p;
#ifdef DEAL_II_WITH_MUPARSER
      EXPECT_NEAR(field.value(p), reference.value(p), error + 1e-15) << text << " at " << p;
#endif
      for (int d = 0; d < 3; ++d)
        if (i == 0 && is_sure(bounded[derivatives[d]])) {
          ++n_derivatives;
          EXPECT_NEAR(gradient_of(field, p, 0)[d], exact_derivative(graph, root, p, d),
                      bounded[derivatives[d]].error + 1e-80)
              << "derivative " << d << " of " << text << " at " << p;
        }
    }
  }
  EXPECT_GE(n_values, 4 * 2000);
  EXPECT_GE(n_derivatives, 3 * 2000);
}

TEST(Field, HasListsWithTheBitsOfSinglePoints)
{
  const Field<2> field("Test/Field", {"sin(pi*x)*exp(-y)", "2", "x*y"});
  std::vector<Point<2>> points;
  for (int i = 0; i < 150; ++i)
    points.emplace_back(0.01 * i, 1. - 0.003 * i);
  const std::size_t n = points.size();
  std::vector<double> values(n), rows;
  for (unsigned int c = 0; c < 3; ++c) {
    field.value_list(points, values, c);
    field.value_and_gradient_rows(points, n, rows, c);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(values[i], field.value(points[i], c));
      EXPECT_EQ(rows[i], values[i]);
      for (unsigned int d = 0; d < 2; ++d)
        EXPECT_EQ(rows[(d + 1) * n + i], gradient_of(field, points[i], c)[d]);
    }
  }
  EXPECT_TRUE(field.is_constant(1));
  EXPECT_FALSE(field.is_constant(0));
  EXPECT_DOUBLE_EQ(gradient_of<2>(field, {0.25, 0.5}, 0)[1],
                   -std::sin(dealii::numbers::PI / 4) * std::exp(-0.5));
}
} // namespace
} // namespace femgpu
