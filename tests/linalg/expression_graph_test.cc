#include "expressions/expression_parser.h"
#include "expressions/expression_tape.h"
#include "linalg/base/error.h"
#include "tests/linalg/on_backend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace femgpu::linalg::test
{
namespace
{
const ExpressionNames of_xy = {{"x", "y"}, {}, ""};

/// A compiled expression of x and y with its derivatives.
struct Compiled
{
  explicit Compiled(const std::string &text, const ExpressionNames &names = of_xy)
  {
    const int root = parse_expression(text, names, graph);
    tape = {graph, {root, graph.derivative(root, 0), graph.derivative(root, 1)}, 2};
  }

  std::vector<double> at(const double x, const double y) const
  {
    std::vector<double> result(3);
    const double *const point[] = {&x, &y};
    double *const results[] = {&result[0], &result[1], &result[2]};
    tape.evaluate(point, 1, results);
    return result;
  }

  ExpressionGraph graph;
  ExpressionTape tape;
};

double value_of(const std::string &text, const double x = 0., const double y = 0.)
{
  return Compiled(text).at(x, y)[0];
}

TEST(ExpressionGraph, ChoosesAndCompares)
{
  EXPECT_EQ(value_of("x < 1 ? 2 : 3", 0.), 2.);
  EXPECT_EQ(value_of("x < 1 ? 2 : x < 2 ? 3 : 4", 1.5), 3.);
  EXPECT_EQ(value_of("x < 1 ? y < 1 ? 1 : 2 : 3", 0., 5.), 2.);
  EXPECT_EQ(value_of("if(x >= 0.5, y, -y)", 0.5, 3.), 3.);
  EXPECT_EQ(value_of("if(x, 1, 2)", 0.4), 2.); // deal.II rounds the condition of if()
  EXPECT_EQ(value_of("x ? 1 : 2", 0.4), 1.);   // muParser does not round this condition
  EXPECT_EQ(value_of("1 + 1 < 3"), 1.);
  EXPECT_EQ(value_of("x < y < 2", 5., 1.), 1.); // means (x < y) < 2
  EXPECT_EQ(value_of("x <= 1 && y > 1", 1., 2.), 1.);
  EXPECT_EQ(value_of("x <= 1 && y > 1", 1., 1.), 0.);
  EXPECT_EQ(value_of("1 || 0 && 0"), 1.);
  EXPECT_EQ(value_of("(x == 1) + (x != 1)*2", 1.), 1.);
  EXPECT_EQ(value_of("0.4 | x", 0.3), 0.);
  EXPECT_EQ(value_of("0.6 & x", 0.7), 1.);
  EXPECT_TRUE(std::isnan(value_of("min(x, 1)", std::nan(""))));
  EXPECT_EQ(value_of("if(x < 1, 1, 1/(x - x))", 0.), 1.); // the branch not taken does not matter
}

TEST(ExpressionGraph, KnowsTheFunctionsOfMuParserAndDealII)
{
  EXPECT_EQ(value_of("min(3, 1, 2) + max(1, 5, 2) + sum(1, 2, 3, 4) + avg(1, 2, 6)"), 19.);
  EXPECT_EQ(value_of("int(2.5) + int(-2.5) + rint(2.5) + rint(-2.5)"), 1.);
  EXPECT_EQ(value_of("rint(x)", 0.5 - 1e-16 / 2.), 0.);
  EXPECT_EQ(value_of("rint(x)", 4503599627370497.), 4503599627370497.);
  EXPECT_EQ(value_of("floor(-0.5) + 10*ceil(0.5) + sign(-3)"), 8.);
  EXPECT_DOUBLE_EQ(value_of("atan2(y, x)", -1., 1.), std::atan2(1., -1.));
  EXPECT_DOUBLE_EQ(value_of("cot(x) + sec(x) + csc(x)", 0.7),
                   1 / std::tan(0.7) + 1 / std::cos(0.7) + 1 / std::sin(0.7));
  EXPECT_DOUBLE_EQ(value_of("ln(_e) + log2(8) + _pi"), 4. + std::acos(-1.));
  EXPECT_DOUBLE_EQ(value_of("asinh(x) + acosh(1 + x) + atanh(x) + erf(x)*erfc(x)", 0.3),
                   std::asinh(0.3) + std::acosh(1.3) + std::atanh(0.3) +
                       std::erf(0.3) * std::erfc(0.3));
}

TEST(ExpressionGraph, BearsLongExpressions)
{
  std::string sum = "x", powers = "x", choices = "1";
  while (sum.size() < 9900) {
    sum += "+x*y";
    powers += "^x";
    choices = "x<" + std::to_string(choices.size()) + "?" +
              (choices.size() < 9000 ? choices : "1") + ":y";
  }
  const std::size_t n_products = sum.size() / 4; // each product x y is 1
  EXPECT_DOUBLE_EQ(value_of(sum, 2., 0.5), 2. + static_cast<double>(n_products));
  EXPECT_EQ(value_of(powers, 1.), 1.);
  EXPECT_EQ(value_of(choices, 1e9, 7.), 7.);
}

TEST(ExpressionGraph, HasWhatComesTwiceOnce)
{
  ExpressionGraph graph;
  const int a = parse_expression("sin(x*y) + sin(x*y)^2", of_xy, graph);
  const int size = graph.size();
  EXPECT_EQ(parse_expression("sin(x*y) + sin(x*y)^2", of_xy, graph), a);
  EXPECT_EQ(graph.size(), size);
  EXPECT_FALSE(graph[a].is_constant());
  EXPECT_TRUE(graph[parse_expression("2*sin(1)^3 + (0 < 1 ? 2 : x)", of_xy, graph)].is_constant());
}

/// Returns the derivative of @p f by Richardson extrapolation of central differences.
double slope(const std::function<double(double)> &f)
{
  const auto central = [&](const double h) { return (f(h) - f(-h)) / (2. * h); };
  return (4. * central(5e-4) - central(1e-3)) / 3.;
}

TEST(ExpressionGraph, DifferentiatesEveryFunction)
{
  std::vector<std::string> texts = {"x^2*y^3 - x/y",
                                    "x^y",
                                    "2^(x*y)",
                                    "x^1.7 + y^4",
                                    "(x + y)^-2",
                                    "pow(x, 3)*pow(y, 0.5)",
                                    "atan2(x, y)",
                                    "min(x, y, 1)",
                                    "max(x*y, 0.2)",
                                    "if(x < 0.5, x^2, y^2)",
                                    "x < 0.5 ? sin(x*y) : 1",
                                    "abs(x - y)",
                                    "-x*exp(-x^2 - y^2)",
                                    "7",
                                    "1/(1 + x*x)"};
  for (const Choice &function : expression_functions())
    if (function.name != "if" && function.name != "atan2" && function.name != "pow")
      texts.push_back(function.name + (function.name == "acosh" ? "(1 + x*y)" : "(x*y)"));
  for (const std::string &text : texts) {
    const Compiled f(text);
    for (const auto &[x, y] : {std::pair{0.3, 0.9}, std::pair{0.71, 0.45}}) {
      const double of_x = slope([&, x = x, y = y](const double h) { return f.at(x + h, y)[0]; }),
                   of_y = slope([&, x = x, y = y](const double h) { return f.at(x, y + h)[0]; });
      const std::vector<double> found = f.at(x, y);
      EXPECT_NEAR(found[1], of_x, 1e-9 * (1. + std::abs(of_x))) << text;
      EXPECT_NEAR(found[2], of_y, 1e-9 * (1. + std::abs(of_y))) << text;
    }
  }
}

TEST(ExpressionTape, APointHasTheSameBitsInEveryCompany)
{
  const Compiled f("if(x < y, sin(pi*x)*exp(-y), (x - y)^3/(1 + x^2)) + atan2(y, 1 + x)");
  for (const std::size_t n : {0, 1, 31, 63, 64, 65, 1000}) {
    const std::vector<double> x = random_vector(static_cast<int>(n), 1),
                              y = random_vector(static_cast<int>(n), 2);
    std::vector<std::vector<double>> results(3, std::vector<double>(n + 1, -7.));
    const double *const points[] = {x.data(), y.data()};
    double *const arrays[] = {results[0].data(), results[1].data(), results[2].data()};
    f.tape.evaluate(points, n, arrays);
    for (std::size_t i = 0; i < n; ++i) {
      const std::vector<double> alone = f.at(x[i], y[i]);
      for (int r = 0; r < 3; ++r)
        ASSERT_EQ(results[r][i], alone[r]) << n << " points, " << i;
    }
    for (int r = 0; r < 3; ++r)
      EXPECT_EQ(results[r][n], -7.);
  }
}

TEST(ExpressionTape, KeepsWhatIsNoNumber)
{
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(value_of("exp(x)", -infinity), 0.);
  EXPECT_EQ(value_of("exp(x)", 1e4), infinity);
  EXPECT_EQ(value_of("log(x)", 0.), -infinity);
  EXPECT_EQ(value_of("atan(x)", infinity), std::atan(infinity));
  EXPECT_EQ(value_of("x^y", 0., -1.), infinity);
  EXPECT_EQ(value_of("x^y", -2., 3.), -8.);
  for (const char *const text : {"log(x)", "sqrt(x)", "asin(x)", "x^0.5", "acosh(x)"})
    EXPECT_TRUE(std::isnan(value_of(text, -2.))) << text;
  for (const char *const name : {"sin", "exp", "abs", "erfc", "tanh"})
    EXPECT_TRUE(std::isnan(value_of(std::string(name) + "(x)", std::nan("")))) << name;
}

TEST(ExpressionParser, TellsWhoseExpressionIsWrong)
{
  ExpressionGraph graph;
  try {
    parse_expression("1 + q", {{"x", "y"}, {{{"k", 2.}}, {}}, "Poisson/Coefficient"}, graph);
    FAIL();
  }
  catch (const ParameterError &error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("'1 + q' of Poisson/Coefficient is wrong at column 5, at 'q': expected x, "
                        "y, pi, e, k or a function (abs, sqrt"),
              std::string::npos)
        << text;
  }
}
} // namespace
} // namespace femgpu::linalg::test
