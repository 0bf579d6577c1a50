#include "expressions/expression_compiler.h"
#include "linalg/execution/host/executor.h"
#include "linalg/nonlinear_solver.h"
#include "tests/linalg/expression_checks.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg::test
{
namespace
{
double value_of(const std::string &text, const double u = 0.)
{
  return compile_expression(text)(u);
}

std::string refusal(const std::string &text, const std::map<std::string, double> &constants = {})
{
  return text_of<ParameterError>([&] { compile_expression(text, {constants, {}}); });
}

std::string reaction_error(const std::string &phi, const std::string &phi_prime,
                           const ReactionRange &range = {})
{
  return text_of<ParameterError>([&] { make_expression_reaction(phi, phi_prime, {}, range); });
}

void expect_contains(const std::string &text, const std::string &substring)
{
  EXPECT_NE(text.find(substring), std::string::npos) << text << "\nlacks " << substring;
}

TEST(Expression, IsAffineWhereItAddsConstantsAndMultiplesOfU)
{
  const auto is = [](const std::string &text, const double constant, const double slope) {
    const auto form = affine_form(compile_expression(text));
    ASSERT_TRUE(form) << text;
    EXPECT_DOUBLE_EQ(form->constant, constant) << text;
    EXPECT_DOUBLE_EQ(form->slope, slope) << text;
  };
  is("u", 0., 1.);
  is("7", 7., 0.);
  is("-(2*u - 3)/4 + u*sin(1)^0", 0.75, 0.5);
  is("(1 + u)*(2 + 3)", 5., 5.);
  is("3 - (1 - (u + u))", 2., 2.);
  for (const char *const text :
       {"u^2", "u*u", "u^1.5", "1/u", "abs(u)", "min(u, 1)", "exp(u)", "1/(u - u)", "2^u"})
    EXPECT_FALSE(affine_form(compile_expression(text))) << text;
}

TEST(Expression, NeitherAssignsNorHasRandomNumbers)
{
  expect_contains(refusal("u=2"), "assigns a value at column 2. Use == to compare");
  expect_contains(refusal("1 + rand()"), "calls rand at column 5");
}

TEST(Expression, GivesWhatCppGives)
{
  const std::vector<std::pair<std::string, std::function<double(double)>>> pairs = {
      {"u", [](double u) { return u; }},
      {"2.5e-1", [](double) { return 0.25; }},
      {" .5 * u ", [](double u) { return 0.5 * u; }},
      {"exp(u)", [](double u) { return std::exp(u); }},
      {"log(u)", [](double u) { return std::log(u); }},
      {"log10(u)", [](double u) { return std::log10(u); }},
      {"sqrt(u)", [](double u) { return std::sqrt(u); }},
      {"abs(-u)", [](double u) { return std::abs(u); }},
      {"sin(u) + cos(u)*tan(u)", [](double u) { return std::sin(u) + std::cos(u) * std::tan(u); }},
      {"asin(u/4) - acos(u/4)", [](double u) { return std::asin(u / 4) - std::acos(u / 4); }},
      {"atan(1/u)", [](double u) { return std::atan(1 / u); }},
      {"sinh(u)/cosh(u) - tanh(u)",
       [](double u) { return std::sinh(u) / std::cosh(u) - std::tanh(u); }},
      {"pow(u, 1.7)", [](double u) { return std::pow(u, 1.7); }},
      {"pow(2, u)", [](double u) { return std::pow(2., u); }},
      {"min(u, 1) + max(u, 1)", [](double u) { return u + 1; }},
      {"u^2", [](double u) { return u * u; }},
      {"u^3", [](double u) { return u * u * u; }},
      {"u^4", [](double u) { return (u * u) * (u * u); }},
      {"u^5", [](double u) { return std::pow(u, 5.); }},
      {"1/(1 + u^2)", [](double u) { return 1 / (1 + u * u); }},
      {"(u + 1)*(u - 1)/(u*(2 - u/5))",
       [](double u) { return (u + 1) * (u - 1) / (u * (2 - u / 5)); }},
      {"e^u - pi", [](double u) { return std::pow(std::exp(1.), u) - std::acos(-1.); }}};
  for (const auto &[text, f] : pairs)
    for (const double u : {0.3, 1., 1.9, 3.7})
      EXPECT_DOUBLE_EQ(value_of(text, u), f(u)) << text << " at " << u;
}

TEST(Expression, HasThePrecedenceOfMuParser)
{
  EXPECT_EQ(value_of("1 + 2*3"), 7.);
  EXPECT_EQ(value_of("(1 + 2)*3"), 9.);
  EXPECT_EQ(value_of("8 - 3 - 2"), 3.);
  EXPECT_EQ(value_of("8 - u - 2", 3.), 3.);
  EXPECT_EQ(value_of("8/4/2"), 1.);
  EXPECT_EQ(value_of("8/u/2", 4.), 1.);
  EXPECT_EQ(value_of("2^3^2"), 512.);
  EXPECT_EQ(value_of("u^3^2", 2.), 512.);
  EXPECT_EQ(value_of("-2^2"), -4.);
  EXPECT_EQ(value_of("-u^2", 2.), -4.);
  EXPECT_EQ(value_of("2^-u", 1.), 0.5);
  EXPECT_EQ(value_of("2^-1*4"), 2.);
  EXPECT_EQ(value_of("2*-u + 1", 3.), -5.);
  EXPECT_EQ(value_of("--u", 3.), 3.);
  EXPECT_EQ(value_of("+u - -u", 3.), 6.);
  EXPECT_EQ(value_of("-u*-u", 3.), 9.);
}

TEST(Expression, KnowsNamedConstants)
{
  const ExpressionDefinitions constants = {{{"sigma", 5.67e-8}, {"T0", 293.}, {"e", 1.6e-19}}, {}};
  const double u = 312.5;
  EXPECT_DOUBLE_EQ(compile_expression("sigma*(T0^4 - u^4)", constants)(u),
                   5.67e-8 * (293. * 293. * 293. * 293. - u * u * u * u));
  EXPECT_EQ(compile_expression("e", constants)(u), 1.6e-19);
}

TEST(Expression, KnowsTablesAsFunctionsThatAreLinearBetweenTheirPoints)
{
  const ExpressionDefinitions tables = {{}, {{"k", {{300., 60.}, {400., 40.}, {800., 30.}}}}};
  const ExpressionReaction reaction = make_expression_reaction("2*k(u - 1)", "", tables);
  for (const auto &[u, value, slope] : {std::array<double, 3>{251., 120., 0.},
                                        {301., 120., -0.4},
                                        {351., 100., -0.4},
                                        {601., 70., -0.05},
                                        {2001., 60., 0.}}) {
    EXPECT_NEAR(reaction.value(u), value, 1e-12) << u;
    if (u != 301.) {
      EXPECT_NEAR(reaction.derivative(u), slope, 1e-14) << u;
    }
  }
  EXPECT_NEAR(compile_expression("k(300 + 50)", tables)(0.), 50., 1e-12);
  expect_contains(text_of<ParameterError>([&] { compile_expression("k(u, 1)", tables); }),
                  "')' at the end of 'k'");
  expect_contains(text_of<ParameterError>([&] { compile_expression("q(u)", tables); }), "if, k)");
}

TEST(Expression, ComputesWhatIsConstantWhenItIsCompiled)
{
  EXPECT_EQ(compile_expression("2*(3 + exp(0))^2 - 1").size, 1);
  EXPECT_EQ(compile_expression("sin(pi/2)*u").size, 2);
  EXPECT_EQ(compile_expression("u^(1 + 1)").size, 2);
  EXPECT_EQ(compile_expression("u^(1 + 1)").operations[1], ExpressionOperation::square);
  EXPECT_EQ(compile_expression("3 + 2*u").size, 3); // the constant 3 needs no load instruction
}

TEST(Expression, KeepsNaN)
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const char *const text : {"min(u, 1)", "min(1, u)", "max(u, 1)", "max(1, u)", "u^2"})
    EXPECT_TRUE(std::isnan(value_of(text, nan))) << text;
}

TEST(Expression, ErrorsNameTheColumnAndWhatWasExpected)
{
  const std::vector<std::array<std::string, 3>> cases = {
      {"", "column 1, where it ends", "a number, u"},
      {"exp(u", "column 6, where it ends", "')' at the end of 'exp'"},
      {"(u + 1", "column 7, where it ends", "or ')'"},
      {"2*u)", "column 4, at ')'", "an operator (+ - * / ^ < <= > >= == != && || ?) or the end"},
      {"2 u", "column 3, at 'u'", "an operator"},
      {"2*", "column 3, where it ends", "a number, u"},
      {"u + *2", "column 5, at '*'", "a number, u"},
      {"u + x", "column 5, at 'x'", "u, pi, e or a function (abs, sqrt"},
      {"exp u", "column 5, at 'u'", "'(' after 'exp'"},
      {"exp(u, 2)", "column 6, at ','", "')' at the end of 'exp'"},
      {"pow(u)", "column 6, at ')'", "argument 2 of 'pow'"},
      {"1e999*u", "column 1, at '1'", "double precision"},
      {".", "column 1, at '.'", "a number"},
      {"u + log(-1)", "column 5, at 'l'", "finite"},
      {"u*(1/0)", "column 5, at '/'", "finite value, but the constants give infinity"},
      {"210 GPa", "column 5, at 'G'", "numbers must not have units"},
      {"u < 1 ? 2", "column 10, where it ends", "an operator or ':'"},
      {"if(u, 1)", "column 8, at ')'", "argument 3 of 'if'"},
      {"atan2(u)", "column 8, at ')'", "argument 2 of 'atan2'"},
      {"min()", "column 5, at ')'", "a number, u"}};
  for (const auto &[text, location, expected] : cases) {
    const std::string message = refusal(text);
    expect_contains(message, "'" + text + "'");
    expect_contains(message, location);
    expect_contains(message, expected);
  }
  expect_contains(refusal("T1*u", {{"T0", 1.}}), "u, pi, e, T0 or a function");
}

TEST(Expression, RefusesConstantsThatItCannotUse)
{
  for (const char *const name : {"u", "exp", "", "1a", "a b"})
    expect_contains(refusal("u", {{name, 1.}}), "is not a valid name for a constant");
  expect_contains(refusal("u", {{"a", std::nan("")}}), "finite");
}

TEST(Expression, RefusesWhatIsTooLongOrTooDeep)
{
  std::string sum = "u", nested = "u";
  for (int k = 0; k < ExpressionProgram::max_instructions; ++k)
    sum += "+u";
  for (int k = 0; k < ExpressionProgram::max_stack_depth; ++k)
    nested = "1/(1+sin(u)/" + nested + ")";
  expect_contains(refusal(sum), "more than 128 instructions");
  expect_contains(refusal(nested), "more than 16 intermediate values");
  std::string constants = "0.5";
  for (int k = 0; k <= ExpressionProgram::n_constants; ++k)
    constants = "u*(" + constants + "+" + std::to_string(k) + "*u)";
  expect_contains(refusal(constants), "different constants");
  expect_contains(refusal(std::string(600, '(') + "u" + std::string(600, ')')),
                  "more than 450 nested parentheses");
  expect_contains(refusal(std::string(10001, ' ')),
                  "10001 characters, more than the limit of 10000");
  EXPECT_EQ(value_of(std::string(400, '(') + "u" + std::string(400, ')'), 7.), 7.);
}

TEST(ExpressionReaction, ChecksTheDerivative)
{
  const std::string message = reaction_error("u^3", "2*u^2");
  expect_contains(message, "'2*u^2' is not the derivative of 'u^3'");
  expect_contains(message, "at u = -0.97");
  expect_contains(message, "it is 1.89");
  expect_contains(message, "give 2.84");
  expect_contains(reaction_error("exp(u)", "1.00001*exp(u)"), "is not the derivative");
  expect_contains(reaction_error("sqrt(u + 2)", "log(-1 - u^2)"), "it is nan");
  expect_contains(reaction_error("exp(u", "exp(u)"), "column 6");
  expect_contains(reaction_error("exp(u)", "exp(v)"), "column 5");
}

TEST(ExpressionReaction, AcceptsRightDerivativesInTheirRanges)
{
  EXPECT_NO_THROW(make_expression_reaction("exp(u/(1 + 0.1*u))", "exp(u/(1 + 0.1*u))/(1 + 0.1*u)^2",
                                           {}, {0., 50.}));
  EXPECT_NO_THROW(
      make_expression_reaction("sigma*u^4", "4*sigma*u^3", {{{"sigma", 5.67e-8}}, {}}, {1., 3e3}));
  EXPECT_NO_THROW(make_expression_reaction("log(u)", "1/u")); // log(u) is finite only for u > 0
  EXPECT_NO_THROW(make_expression_reaction("1/u", "-1/u^2")); // 1/u has a pole
  EXPECT_NO_THROW(make_expression_reaction("abs(u)", "u/abs(u)"));
  EXPECT_NO_THROW(make_expression_reaction("sin(200*u)", "200*cos(200*u)"));
  EXPECT_NO_THROW(make_expression_reaction("exp(300*u)", "300*exp(300*u)", {}, {-1., 1.}));
  EXPECT_NO_THROW(make_expression_reaction("3", "0"));
  EXPECT_NO_THROW(make_expression_reaction("1e9 + u", "1"));
}

TEST(ExpressionReaction, RefusesRangesWithoutFiniteValues)
{
  expect_contains(reaction_error("log(u)", "1/u", {-3., -1.}),
                  "not finite anywhere for u from -3 to");
  expect_contains(reaction_error("u", "1", {1., 1.}), "Give two finite numbers");
  expect_contains(reaction_error("u", "1", {0., std::numeric_limits<double>::infinity()}),
                  "Give two finite numbers");
}

TEST(ExpressionReaction, DifferencesKeepTheirDigits)
{
  const ExpressionReaction reaction = make_expression_reaction("exp(u)", "exp(u)");
  const ExponentialReaction exact;
  for (const double u : {-3., 0., 0.7, 4.})
    for (int k = 0; k < 40; ++k)
      for (const double sign : {1., -1.}) {
        const double d = 2. * sign * std::pow(0.37, k);
        const double difference = exact.difference(u, d);
        EXPECT_NEAR(reaction.difference(u, d), difference, 200. * eps * std::abs(difference))
            << u << ' ' << d;
      }
  EXPECT_EQ(reaction.difference(1., 0.), 0.);
}

TEST(ExpressionReaction, DifferencesOfLawsThatTurnAreThoseOfTheValues)
{
  const ExpressionReaction reaction = make_expression_reaction("cos(5*u)", "-5*sin(5*u)");
  const double d = 1.23;
  EXPECT_NEAR(reaction.difference(-d / 2., d), 0., 8. * eps);
  const ExpressionReaction kink = make_expression_reaction("10 + abs(u)", "u/abs(u)");
  EXPECT_EQ(kink.difference(-0.001, 0.003), (10. + 0.002) - (10. + 0.001));
}

TEST(ExpressionReaction, ExcessIsExactForPolynomialsAndOfOrderEight)
{
  const ExpressionReaction polynomial = make_expression_reaction("u^6", "6*pow(u, 5)");
  // At u = 0, the remainder is d^7 / 7.
  EXPECT_NEAR(polynomial.potential_remainder(0., 1.3), std::pow(1.3, 7.) / 7., 1e-14);
  const ExpressionReaction reaction = make_expression_reaction("exp(u)", "exp(u)");
  const auto error = [&](const double d) {
    return std::abs(reaction.potential_remainder(0.2, d) - std::exp(0.2) * (std::expm1(d) - d));
  };
  EXPECT_NEAR(std::log2(error(1.) / error(0.5)), 8., 0.4);
  for (const double d : {1e-3, 1e-6, -1e-9}) {
    const double expected = ExponentialReaction{}.potential_remainder(0.2, d);
    EXPECT_NEAR(reaction.potential_remainder(0.2, d), expected, 10. * eps * expected);
  }
}

class ExpressionReactionOnBackend : public OnBackend
{};

TEST_P(ExpressionReactionOnBackend, SolvesAsTheLawThatItStandsFor)
{
  const HostMatrix A = laplacian_2d(33, 33);
  const auto n = static_cast<std::size_t>(A.n);
  const std::vector<double> w(n, 1. / (34. * 34.)), b(n, 0.);
  for (const char *const method : {"newton", "nlcg"}) {
    NonlinearSolverOptions options;
    options.method = method;
    NonlinearSolver solver(executor, options);
    solver.set_system(A.csr(), w.data(), false);
    const auto solution = [&](const ReactionTerm &reaction) {
      std::vector<double> x(n, 0.);
      const SolveReport report = solver.solve({reaction, 6.}, b.data(), x.data());
      EXPECT_TRUE(report.converged()) << report.message;
      return x;
    };
    const std::vector<double> expected = solution(ExponentialReaction{});
    const ExpressionReaction reaction = make_expression_reaction("exp(u)", "exp(u)");
    const std::vector<double> x = solution(reaction);
    EXPECT_EQ(solution(reaction), x);
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_NEAR(x[i], expected[i], 1e-8) << method;
  }
}

INSTANTIATE_TEST_SUITE_P(, ExpressionReactionOnBackend, backends(), backend_name);

TEST(HostExpressionReaction, GivesTheSameInSteps)
{
  for (const unsigned int n_threads : {1U, 3U})
    check_reactions_in_steps<HostBackend>(std::make_shared<HostExecutor>(n_threads));
}
} // namespace
} // namespace femgpu::linalg::test
