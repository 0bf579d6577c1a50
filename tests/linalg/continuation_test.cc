#include "linalg/continuation.h"
#include "linalg/nonlinear/hermite.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace femgpu::linalg::test
{
namespace
{
using Kind = BranchRecord::Kind;

/// Discretises −Δu = λ e^u by finite differences on the unit interval or square, u = 0 on the
/// boundary.
struct Bratu
{
  HostMatrix A;
  std::vector<double> w, b;

  Bratu(HostMatrix A_, const int m)
      : A(std::move(A_)), w(static_cast<std::size_t>(A.n), 1. / ((m + 1.) * (m + 1.))), b(w.size())
  {}
};

Bratu bratu_1d(const int m)
{
  return {laplacian_1d(m), m};
}
Bratu bratu_2d(const int m)
{
  return {laplacian_2d(m, m), m};
}

/// Returns the exact max u on the unit interval, 2 ln cosh t, where t solves t² = λ/8 cosh² t.
/// @param t initial guess of t, which selects the solution
double exact_largest(const double lambda, double t)
{
  for (int k = 0; k < 50; ++k) {
    const double c = std::sqrt(lambda / 8.);
    t -= (t - c * std::cosh(t)) / (1. - c * std::sinh(t));
  }
  return 2. * std::log(std::cosh(t));
}

/// A traced branch of solutions.
struct Branch
{
  ContinuationReport report;
  std::vector<std::vector<double>> solutions; ///< one solution per record
  std::vector<double> last;

  std::vector<BranchRecord> of_kind(const Kind kind) const
  {
    std::vector<BranchRecord> records;
    std::copy_if(report.records.begin(), report.records.end(), std::back_inserter(records),
                 [&](const BranchRecord &record) { return record.kind == kind; });
    return records;
  }

  /// Returns the fold. The branch must have exactly one.
  BranchRecord fold() const
  {
    const auto folds = of_kind(Kind::fold);
    EXPECT_EQ(folds.size(), 1U) << report.message;
    return folds.empty() ? BranchRecord() : folds.front();
  }
};

/// Returns options that trace from λ = 0 around the fold and back to λ = 1/2.
ContinuationOptions around_fold(const std::string &preconditioner = "jacobi")
{
  ContinuationOptions options;
  options.linear.preconditioner = preconditioner;
  options.lambda_end_upper = 0.5;
  return options;
}

class ContinuationTest : public OnBackend
{
protected:
  bool calls_begin_pattern = false; ///< call begin_pattern() before the set-up?

  Branch trace(const ContinuationOptions &options, const Bratu &problem,
               std::vector<double> guess = {},
               const ReactionTerm &reaction = ExponentialReaction{}) const
  {
    Branch branch;
    guess.resize(problem.b.size());
    Continuation continuation(executor, options);
    if (calls_begin_pattern)
      continuation.begin_pattern(problem.A.csr());
    continuation.set_system(problem.A.csr(), problem.w.data());
    branch.report =
        continuation.trace(reaction, problem.b.data(), guess.data(),
                           [&](const BranchRecord & /* record */, const std::vector<double> &x) {
                             branch.solutions.push_back(x);
                           });
    branch.last = std::move(guess);
    EXPECT_EQ(branch.solutions.size(), branch.report.records.size());
    return branch;
  }
};

/// Returns ‖b + λ W e^x − A x‖.
double residual_of(const Bratu &problem, const double lambda, const std::vector<double> &x)
{
  std::vector<double> r = multiply(problem.A, x);
  for (std::size_t i = 0; i < x.size(); ++i)
    r[i] = problem.b[i] + lambda * problem.w[i] * std::exp(x[i]) - r[i];
  return norm(r);
}

/// Extrapolates a quantity with an error of second order from its values for spacings h and h/2.
double extrapolated(const double coarse, const double fine)
{
  return (4. * fine - coarse) / 3.;
}

// The equation of one unknown is 2 x = λ/4 e^x, so λ = 8 x e^(-x), whose maximum is 8/e at x = 1.
TEST_P(ContinuationTest, FoldOfOneUnknownIsThatByHand)
{
  const Branch branch = trace(around_fold(), bratu_1d(1));
  EXPECT_TRUE(branch.report.converged()) << branch.report.message;
  EXPECT_NEAR(branch.fold().lambda, 8. * std::exp(-1.), 1e-9);
  EXPECT_NEAR(branch.fold().largest_u, 1., 1e-4);
  for (std::size_t k = 0; k < branch.solutions.size(); ++k) {
    const double x = branch.solutions[k][0];
    EXPECT_NEAR(branch.report.records[k].lambda, 8. * x * std::exp(-x), 1e-8);
    EXPECT_EQ(branch.report.records[k].norm, x);
  }
}

TEST_P(ContinuationTest, FoldOfTheIntervalIsFound)
{
  const double exact = 3.513830719125162;
  const double coarse = trace(around_fold(), bratu_1d(31)).fold().lambda;
  const double fine = trace(around_fold(), bratu_1d(63)).fold().lambda;
  EXPECT_NEAR((coarse - exact) / (fine - exact), 4., 0.05);
  EXPECT_NEAR(extrapolated(coarse, fine), exact, 2e-6);
}

TEST_P(ContinuationTest, FoldOfTheSquareIsFound)
{
  const double exact = 6.808124423;
  const Branch coarse = trace(around_fold(), bratu_2d(15));
  const Branch fine = trace(around_fold("fsai"), bratu_2d(31));
  EXPECT_NEAR((coarse.fold().lambda - exact) / (fine.fold().lambda - exact), 4., 0.1);
  EXPECT_NEAR(extrapolated(coarse.fold().lambda, fine.fold().lambda), exact, 5e-5);
  EXPECT_NEAR(extrapolated(coarse.fold().largest_u, fine.fold().largest_u), 1.3917, 1e-3);
}

TEST_P(ContinuationTest, TargetsAreSolvedOnBothBranches)
{
  ContinuationOptions options = around_fold();
  options.targets = {3., 1., 5., 0.5, 0.};
  const Branch coarse = trace(options, bratu_1d(63));
  const Branch fine = trace(options, bratu_1d(127));
  const auto a = coarse.of_kind(Kind::target), b = fine.of_kind(Kind::target);
  const double lambdas[] = {0., 0.5, 1., 3., 3., 1., 0.5};
  ASSERT_EQ(a.size(), 7U);
  ASSERT_EQ(b.size(), 7U);
  for (std::size_t k = 0; k < 7; ++k) {
    EXPECT_EQ(a[k].lambda, lambdas[k]);
    EXPECT_EQ(a[k].folds, k < 4 ? 0 : 1);
    if (k > 0) {
      const double exact = exact_largest(lambdas[k], k < 4 ? 0.1 : 3.);
      EXPECT_NEAR(extrapolated(a[k].largest_u, b[k].largest_u), exact, 1e-5 * exact);
    }
  }
  EXPECT_NEAR(extrapolated(a[2].largest_u, b[2].largest_u), 0.140539, 1e-6);
  EXPECT_NEAR(extrapolated(a[5].largest_u, b[5].largest_u), 4.0915, 1e-4);
}

TEST_P(ContinuationTest, EveryPointSatisfiesTheEquation)
{
  Bratu problem = bratu_2d(17);
  problem.b = random_vector(problem.A.n, 3);
  for (double &b : problem.b)
    b = 1e-2 * (1. + b); // positive values of b make u positive
  ContinuationOptions options = around_fold();
  options.targets = {1., 2.};
  const Branch branch = trace(options, problem);
  EXPECT_TRUE(branch.report.converged()) << branch.report.message;
  EXPECT_GT(branch.report.points, 10);
  for (std::size_t k = 0; k < branch.solutions.size(); ++k) {
    const BranchRecord &record = branch.report.records[k];
    const std::vector<double> &x = branch.solutions[k];
    EXPECT_LE(record.residual, record.residual_target);
    EXPECT_NEAR(record.residual, residual_of(problem, record.lambda, x),
                1e-3 * record.residual_target);
    EXPECT_EQ(record.index, static_cast<int>(k));
    double largest = 0.;
    for (const double x_i : x)
      largest = std::max(largest, std::abs(x_i));
    EXPECT_EQ(record.largest_u, largest);
    EXPECT_NEAR(record.norm, norm(x) / std::sqrt(problem.A.n), 1e-12 * record.norm);
    if (k > 0) {
      EXPECT_GT(record.arclength, branch.report.records[k - 1].arclength);
      EXPECT_GT(record.largest_u, branch.report.records[k - 1].largest_u);
    }
    if (record.kind != Kind::fold) {
      EXPECT_EQ(record.lambda_dot > 0., record.folds == 0) << record.lambda;
    }
  }
  EXPECT_EQ(branch.report.records.back().lambda, 0.5);
}

TEST_P(ContinuationTest, PatternThatWasBegunGivesTheSameBits)
{
  const Bratu problem = bratu_2d(9);
  ContinuationOptions options = around_fold();
  options.linear.ordering = "rcm";
  const Branch late = trace(options, problem);
  calls_begin_pattern = true;
  const Branch early = trace(options, problem);
  EXPECT_EQ(early.solutions, late.solutions);
  EXPECT_EQ(early.report.costs.transfer.bytes, late.report.costs.transfer.bytes);
  EXPECT_EQ(early.report.costs.transfer.bytes,
            copied_bytes(problem.A.values.size() * 12 + (problem.w.size() + 1) * 4) +
                3 * problem.w.size() * 8);
}

TEST_P(ContinuationTest, FoldDoesNotDependOnTheWay)
{
  const Bratu problem = bratu_1d(33);
  const double lambda = trace(around_fold(), problem).fold().lambda;
  ContinuationOptions options = around_fold();
  options.largest_step = 0.2;
  EXPECT_NEAR(trace(options, problem).fold().lambda, lambda, 1e-9 * lambda);
  options.theta = 0.2;
  EXPECT_NEAR(trace(options, problem).fold().lambda, lambda, 1e-9 * lambda);
  for (const char *const preconditioner : {"identity", "fsai", "chebyshev"})
    EXPECT_NEAR(trace(around_fold(preconditioner), problem).fold().lambda, lambda, 1e-9 * lambda);
  options = around_fold();
  options.linear.solver = "bicgstab";
  EXPECT_NEAR(trace(options, problem).fold().lambda, lambda, 1e-9 * lambda);
}

TEST_P(ContinuationTest, FormatAndOrderAreThoseAskedFor)
{
  Bratu problem = bratu_2d(12);
  for (std::size_t i = 0; i < problem.b.size(); ++i)
    problem.w[i] *=
        1. + 0.5 * std::sin(static_cast<double>(i)); // symmetry would hide a wrong ordering
  const Branch branch = trace(around_fold(), problem);
  ContinuationOptions options = around_fold("fsai");
  options.linear.format = "sell";
  options.linear.ordering = "rcm";
  const Branch other = trace(options, problem);
  EXPECT_NEAR(other.fold().lambda, branch.fold().lambda, 1e-9 * branch.fold().lambda);
  EXPECT_LT(relative_difference(other.solutions.back(), branch.solutions.back()), 1e-7);
}

TEST_P(ContinuationTest, LawsByExpressionsHaveBranchesToo)
{
  const Bratu problem = bratu_1d(31);
  const Branch branch = trace(around_fold(), problem);
  const ReactionTerm same = make_expression_reaction("exp(u)", "exp(u)");
  EXPECT_NEAR(trace(around_fold(), problem, {}, same).fold().lambda, branch.fold().lambda, 1e-9);
  // One unknown: 2 x = λ/4 (1 + x²), so λ = 8 x / (1 + x²), whose maximum is 4 at x = 1.
  const ReactionTerm square = make_expression_reaction("1 + u^2", "2 * u");
  EXPECT_NEAR(trace(around_fold(), bratu_1d(1), {}, square).fold().lambda, 4., 1e-9);
}

// The equation of one unknown is 2 x = λ/4 e^(x/(1 + x/5)). The folds are at (1 + x/5)² = x, that
// is, x = (15 ± 5 √5)/2 and λ = 8 x e^(-√x).
TEST_P(ContinuationTest, BranchLikeAnSHasTwoFoldsAndThreeSolutions)
{
  const ReactionTerm reaction =
      make_expression_reaction("exp(u/(1 + 0.2*u))", "exp(u/(1 + 0.2*u))/(1 + 0.2*u)^2");
  ContinuationOptions options;
  options.largest_u = 30.;
  options.targets = {3.3};
  const Branch branch = trace(options, bratu_1d(1), {}, reaction);
  EXPECT_TRUE(branch.report.converged()) << branch.report.message;
  const auto folds = branch.of_kind(Kind::fold);
  ASSERT_EQ(folds.size(), 2U) << branch.report.message;
  for (int k = 0; k < 2; ++k) {
    const double x = 0.5 * (15. + (k == 0 ? -5. : 5.) * std::sqrt(5.));
    EXPECT_NEAR(folds[k].lambda, 8. * x * std::exp(-std::sqrt(x)), 1e-8);
    EXPECT_NEAR(folds[k].largest_u, x, 1e-3);
    EXPECT_EQ(folds[k].folds, k);
  }
  const auto targets = branch.of_kind(Kind::target);
  ASSERT_EQ(targets.size(), 3U);
  for (int k = 0; k < 3; ++k) {
    const double x = targets[k].largest_u;
    EXPECT_NEAR(8. * x * std::exp(-x / (1. + 0.2 * x)), 3.3, 1e-7);
    EXPECT_EQ(targets[k].folds, k);
  }
}

TEST_P(ContinuationTest, StepsDoNotDependOnTheMesh)
{
  const Branch coarse = trace(around_fold(), bratu_1d(31));
  const Branch fine = trace(around_fold(), bratu_1d(128));
  EXPECT_NEAR(coarse.report.points, fine.report.points, 1);
  EXPECT_NEAR(coarse.fold().arclength, fine.fold().arclength, 0.02 * fine.fold().arclength);
}

TEST_P(ContinuationTest, BranchCanBeWalkedTheOtherWay)
{
  const Bratu problem = bratu_1d(32);
  ContinuationOptions options = around_fold();
  options.targets = {1.};
  const Branch branch = trace(options, problem);
  ASSERT_EQ(branch.of_kind(Kind::target).size(), 3U) << branch.report.message;

  options.lambda_start = 0.5;
  options.direction = 1.;
  const Branch back = trace(options, problem, branch.solutions.back());
  EXPECT_TRUE(back.report.converged()) << back.report.message;
  EXPECT_NEAR(back.fold().lambda, branch.fold().lambda, 1e-9 * branch.fold().lambda);
  const auto targets = back.of_kind(Kind::target);
  ASSERT_EQ(targets.size(), 3U);
  EXPECT_NEAR(targets[0].largest_u, branch.of_kind(Kind::target)[1].largest_u, 1e-7);
  EXPECT_NEAR(targets[1].largest_u, branch.of_kind(Kind::target)[0].largest_u, 1e-7);

  options = ContinuationOptions();
  options.direction = -1.;
  options.lambda_end = -2.;
  const Branch negative = trace(options, problem);
  EXPECT_TRUE(negative.report.converged()) << negative.report.message;
  EXPECT_EQ(negative.report.records.back().lambda, -2.);
  EXPECT_LT(negative.solutions.back()[15], 0.);
}

TEST_P(ContinuationTest, RepeatsAreBitIdentical)
{
  const Bratu problem = bratu_2d(13);
  const Branch first = trace(around_fold(), problem), again = trace(around_fold(), problem);
  EXPECT_EQ(first.solutions, again.solutions);
  EXPECT_EQ(first.last, again.last);
  ASSERT_EQ(first.report.records.size(), again.report.records.size());
  for (std::size_t k = 0; k < first.report.records.size(); ++k) {
    EXPECT_EQ(first.report.records[k].lambda, again.report.records[k].lambda);
    EXPECT_EQ(first.report.records[k].lambda_dot, again.report.records[k].lambda_dot);
    EXPECT_EQ(first.report.records[k].residual, again.report.records[k].residual);
  }
}

TEST_P(ContinuationTest, EndsAreKept)
{
  const Bratu problem = bratu_1d(31);
  ContinuationOptions options;
  options.max_points = 5;
  const Branch five = trace(options, problem);
  EXPECT_TRUE(five.report.converged()) << five.report.message;
  EXPECT_EQ(five.report.points, 5);
  EXPECT_EQ(five.last, five.solutions.back());

  options.lambda_end_upper = 1.;
  const Branch too_few = trace(options, problem);
  EXPECT_EQ(too_few.report.outcome, Outcome::iteration_limit);
  EXPECT_EQ(too_few.report.records.size(), 6U);

  options = ContinuationOptions();
  options.largest_u = 2.;
  const Branch large = trace(options, problem);
  EXPECT_TRUE(large.report.converged()) << large.report.message;
  EXPECT_GE(large.report.records.back().largest_u, 2.);
  EXPECT_LT(large.report.records[large.report.records.size() - 2].largest_u, 2.);

  options = ContinuationOptions();
  options.lambda_end = 3.;
  const Branch lower = trace(options, problem);
  EXPECT_TRUE(lower.report.converged()) << lower.report.message;
  EXPECT_EQ(lower.report.records.back().lambda, 3.);
  EXPECT_EQ(lower.last, lower.solutions.back());
  EXPECT_NE(lower.report.message.find("lambda = 3"), std::string::npos) << lower.report.message;
}

TEST_P(ContinuationTest, ConjugateGradientsEndAtTheFoldWithTheirOutcome)
{
  ContinuationOptions options = around_fold();
  options.linear.solver = "cg";
  const Branch branch = trace(options, bratu_1d(31));
  EXPECT_EQ(to_string(branch.report.outcome), "indefinite_matrix") << branch.report.message;
  EXPECT_GT(branch.report.records.back().lambda, 3.);
  EXPECT_GT(branch.report.failed_steps, 10);
}

TEST_P(ContinuationTest, StepThatMayNotShrinkFailsWithASentence)
{
  ContinuationOptions options = around_fold();
  options.first_step = options.largest_step = 3.;
  options.smallest_step = 2.;
  const Branch branch = trace(options, bratu_1d(31));
  EXPECT_FALSE(branch.report.converged());
  EXPECT_NE(branch.report.message.find("No step of at least 2"), std::string::npos)
      << branch.report.message;
  EXPECT_EQ(branch.report.points + 1, static_cast<int>(branch.report.records.size()));
}

TEST_P(ContinuationTest, FirstPointThatDoesNotExistFailsWithASentence)
{
  ContinuationOptions options = around_fold();
  options.lambda_start = 10.;
  const Branch branch = trace(options, bratu_1d(31));
  EXPECT_FALSE(branch.report.converged());
  EXPECT_TRUE(branch.report.records.empty());
  EXPECT_NE(branch.report.message.find("first point was not found"), std::string::npos)
      << branch.report.message;
}

TEST_P(ContinuationTest, LinearSolverThatFailsIsNamed)
{
  ContinuationOptions options = around_fold();
  options.linear.control.max_iterations = 3;
  const Branch branch = trace(options, bratu_2d(15));
  EXPECT_EQ(branch.report.outcome, Outcome::iteration_limit);
  EXPECT_NE(branch.report.message.find("minres with jacobi"), std::string::npos)
      << branch.report.message;
}

TEST_P(ContinuationTest, WrongOptionsAreRefused)
{
  const std::vector<std::function<void(ContinuationOptions &)>> faults = {
      [](ContinuationOptions &o) { o.lambda_start = NAN; },
      [](ContinuationOptions &o) { o.direction = 0.; },
      [](ContinuationOptions &o) { o.theta = 0.; },
      [](ContinuationOptions &o) { o.smallest_step = 0.; },
      [](ContinuationOptions &o) { o.first_step = 1e-9; },
      [](ContinuationOptions &o) { o.largest_step = 1e-2; },
      [](ContinuationOptions &o) { o.largest_step = INFINITY; },
      [](ContinuationOptions &o) { o.max_points = 0; },
      [](ContinuationOptions &o) { o.largest_u = 0.; },
      [](ContinuationOptions &o) { o.control.max_iterations = 0; },
      [](ContinuationOptions &o) { o.targets = {INFINITY}; },
      [](ContinuationOptions &o) { o.linear.scaling = "symmetric"; },
      [](ContinuationOptions &o) { o.linear.preconditioner = "sai"; },
      [](ContinuationOptions &o) { o.linear.solver = "newton"; }};
  for (const auto &fault : faults) {
    ContinuationOptions options;
    fault(options);
    EXPECT_FALSE(text_of<ParameterError>([&] { Continuation(executor, options); }).empty());
  }
  Continuation continuation(executor, ContinuationOptions());
  const HostMatrix A = laplacian_1d(3);
  for (const std::vector<double> &w :
       {std::vector<double>{0., 0., 0.}, {1., -1., 1.}, {1., NAN, 1.}, {1., INFINITY, 1.}})
    EXPECT_FALSE(
        text_of<ParameterError>([&] { continuation.set_system(A.csr(), w.data()); }).empty());
}

INSTANTIATE_TEST_SUITE_P(Backends, ContinuationTest, backends(), backend_name);

TEST(HermiteCubicTest, IsTheCubicOfItsValuesAndDerivatives)
{
  const auto p = [](const double s) { return 1. + s * (3. + s * (0.5 - s)); };
  const auto dp = [](const double s) { return 3. + s - 3. * s * s; };
  const HermiteCubic cubic{-0.5, 2., p(-0.5), p(2.), dp(-0.5), dp(2.)};
  for (const double s : {-0.5, 0., 0.7, 1.9, 2.}) {
    EXPECT_NEAR(cubic.value(s), p(s), 1e-14);
    EXPECT_NEAR(cubic.derivative(s), dp(s), 1e-13);
  }
  EXPECT_NEAR(dp(cubic.turning_point()), 0., 1e-13);
  const HermiteCubic rising{0., 1., p(0.), p(1.), dp(0.), dp(1.)};
  EXPECT_NEAR(p(rising.argument_of(2.)), 2., 1e-14);
}
} // namespace
} // namespace femgpu::linalg::test
