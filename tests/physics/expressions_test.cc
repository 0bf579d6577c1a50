#include "linalg/expressions/expression_parser.h"
#include "physics/expressions.h"

#include <deal.II/base/config.h>
#include <deal.II/base/function_parser.h>
#include <deal.II/base/numbers.h>

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

/// Writes expressions of x, y and z at random, whose values are of moderate size.
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

/// A value, and how far another evaluation may be off it.
struct Bounded
{
  double value = 0., error = 0.;
};

/// A running error bound: each operation has an error of some units of the last place, and passes
/// on those of its operands, as it moves between the ends of their ranges.
Bounded with_error(const linalg::ExpressionGraph &graph, const int number, const Point<3> &p)
{
  constexpr double units = 8. * std::numeric_limits<double>::epsilon();
  const linalg::ExpressionGraph::Node &node = graph[number];
  if (node.is_constant())
    return {node.value, units * std::abs(node.value)}; // may have been computed
  if (node.operation == linalg::ExpressionOperation::load)
    return {p[node.variable], 0.};
  std::array<Bounded, 3> of_operands;
  for (int k = 0; k < linalg::n_operands(node.operation); ++k)
    of_operands[k] = with_error(graph, node.operands[k], p);
  const auto &[a, b, c] = of_operands;
  if (node.operation == linalg::ExpressionOperation::select) {
    const bool is_sure = a.error < 0.5;
    return is_sure ? (a.value != 0. ? b : c) : Bounded{b.value, std::numeric_limits<double>::max()};
  }
  Bounded result = {linalg::apply(node.operation, a.value, b.value), 0.};
  for (const double i : {-1., 0., 1.})
    for (const double j : {-1., 0., 1.}) {
      const double moved =
          linalg::apply(node.operation, a.value + i * a.error, b.value + j * b.error);
      result.error = std::max(result.error, std::abs(moved - result.value));
    }
  result.error = 1.5 * result.error + units * std::abs(result.value);
  return result;
}

// muParser merges sums and multiples of constants, so that some bits differ.
TEST(Field, HasTheValuesOfMuParser)
{
#ifndef DEAL_II_WITH_MUPARSER
  GTEST_SKIP() << "this deal.II has no muParser";
#endif
  RandomExpressions expressions(7);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> coordinate(-1., 1.);
  int n_compared = 0;
  for (int k = 0; k < 3000; ++k) {
    const std::string text = expressions.make(5);
    if (text.size() > 1000)
      continue;
    dealii::FunctionParser<3> reference(1);
    reference.initialize("x,y,z", text, {{"pi", dealii::numbers::PI}});
    const Field<3> field("Test/Field", {text});
    linalg::ExpressionGraph graph;
    const int root = linalg::parse_expression(text, {{"x", "y", "z"}, {}, ""}, graph);
    for (int i = 0; i < 4; ++i) {
      const Point<3> p(coordinate(random), coordinate(random), coordinate(random));
      const double expected = reference.value(p);
      const double error = with_error(graph, root, p).error;
      if (!(error < 1e-6 * (1. + std::abs(expected))))
        continue;
      ++n_compared;
      EXPECT_NEAR(field.value(p), expected, error + 1e-15) << text << " at " << p;
    }
  }
  EXPECT_GE(n_compared, 4 * 2000);
}

TEST(Field, HasListsWithTheBitsOfSinglePoints)
{
  const Field<2> field("Test/Field", {"sin(pi*x)*exp(-y)", "2", "x*y"});
  std::vector<Point<2>> points;
  for (int i = 0; i < 150; ++i)
    points.emplace_back(0.01 * i, 1. - 0.003 * i);
  std::vector<double> values(points.size());
  std::vector<dealii::Tensor<1, 2>> gradients(points.size());
  for (unsigned int c = 0; c < 3; ++c) {
    field.value_list(points, values, c);
    field.gradient_list(points, gradients, c);
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ(values[i], field.value(points[i], c));
      EXPECT_EQ(gradients[i], field.gradient(points[i], c));
    }
  }
  EXPECT_TRUE(field.is_constant(1));
  EXPECT_FALSE(field.is_constant(0));
  EXPECT_DOUBLE_EQ(field.gradient({0.25, 0.5}, 0)[1],
                   -std::sin(dealii::numbers::PI / 4) * std::exp(-0.5));
}
} // namespace
} // namespace femgpu
