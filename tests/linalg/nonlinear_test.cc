#include "linalg/nonlinear_solver.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace femgpu::linalg::test
{
namespace
{
/// Discretises −Δu = λ e^u by finite differences on the unit interval, square or cube, u = 0 on the
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
Bratu bratu_3d(const int m)
{
  return {laplacian_3d(m, m, m), m};
}

NonlinearSolverOptions options(const std::string &method, const std::string &preconditioner,
                               const double tolerance = 1e-10)
{
  NonlinearSolverOptions options;
  options.method = method;
  options.linear.solver = "cg";
  options.linear.preconditioner = preconditioner;
  options.control.relative_tolerance = tolerance;
  return options;
}

Solved solve(const ExecutorPtr &executor, const NonlinearSolverOptions &options,
             const Bratu &problem, const double lambda, std::vector<double> x0 = {})
{
  x0.resize(problem.b.size());
  NonlinearSolver solver(executor, options);
  solver.set_system(problem.A.csr(), problem.w.data(), false);
  SolveReport report = solver.solve({ExponentialReaction{}, lambda}, problem.b.data(), x0.data());
  return {std::move(report), std::move(x0)};
}

/// Returns ‖b + λ W e^x − A x‖.
double residual_of(const Bratu &problem, const double lambda, const std::vector<double> &x)
{
  const std::vector<double> Ax = multiply(problem.A, x);
  double rr = 0.;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double r = problem.b[i] + lambda * problem.w[i] * std::exp(x[i]) - Ax[i];
    rr += r * r;
  }
  return std::sqrt(rr);
}

double largest_difference(const std::vector<double> &x, const std::vector<double> &y)
{
  double largest = 0.;
  for (std::size_t i = 0; i < x.size(); ++i)
    largest = std::max(largest, std::abs(x[i] - y[i]));
  return largest;
}

double largest(const std::vector<double> &x)
{
  return *std::max_element(x.begin(), x.end());
}

class NonlinearTest : public OnBackend
{};

TEST_P(NonlinearTest, MethodsAgreeAndTheirResidualsAreTrue)
{
  const Bratu problems[] = {bratu_1d(100), bratu_2d(33), bratu_3d(14)};
  const double lambdas[] = {3., 6., 9.};
  for (int k = 0; k < 3; ++k) {
    const Bratu &problem = problems[k];
    const Solved newton = solve(executor, options("newton", "jacobi"), problem, lambdas[k]);
    ASSERT_TRUE(newton.report.converged()) << newton.report.message;
    EXPECT_LE(newton.report.iterations, 8);
    EXPECT_NEAR(newton.report.true_residual, residual_of(problem, lambdas[k], newton.x),
                1e-3 * newton.report.target + 1e-15);
    for (const std::string method : {"nlcg", "nlcg beta=polak-ribiere", "nlcg sigma=1e-6"})
      for (const std::string preconditioner : {"identity", "jacobi", "fsai", "chebyshev"}) {
        SCOPED_TRACE(method + " with " + preconditioner + " for problem " + std::to_string(k));
        const Solved nlcg = solve(executor, options(method, preconditioner), problem, lambdas[k]);
        ASSERT_TRUE(nlcg.report.converged()) << nlcg.report.message;
        EXPECT_LE(residual_of(problem, lambdas[k], nlcg.x), 1.01 * nlcg.report.target);
        EXPECT_LT(largest_difference(newton.x, nlcg.x), 1e-8);
        EXPECT_GE(nlcg.report.inner.line_search_steps, nlcg.report.iterations);
        EXPECT_LT(nlcg.report.inner.line_search_steps, 2 * nlcg.report.iterations + 10);
        EXPECT_EQ(nlcg.report.history.size(), static_cast<std::size_t>(nlcg.report.iterations) + 1);
      }
  }
}

TEST_P(NonlinearTest, OneDimensionalValueIsReached)
{
  for (const std::string method : {"newton", "nlcg"}) {
    const Solved coarse = solve(executor, options(method, "jacobi"), bratu_1d(127), 1.);
    const Solved fine = solve(executor, options(method, "jacobi"), bratu_1d(255), 1.);
    ASSERT_TRUE(coarse.report.converged() && fine.report.converged());
    // Richardson extrapolation: the error is of second order in h.
    EXPECT_NEAR((4. * largest(fine.x) - largest(coarse.x)) / 3., 0.140539214, 1e-8) << method;
  }
}

TEST_P(NonlinearTest, BeyondTheFoldNothingConverges)
{
  for (const std::string method : {"newton", "nlcg"}) {
    NonlinearSolverOptions o = options(method, "jacobi");
    o.control.max_iterations = 2000;
    const Solved solved = solve(executor, o, bratu_2d(33), 7.5);
    EXPECT_FALSE(solved.report.converged()) << method;
    EXPECT_NE(solved.report.outcome, Outcome::iteration_limit) << solved.report.message;
    EXPECT_TRUE(solved.report.outcome == Outcome::not_finite ||
                std::isfinite(solved.report.true_residual))
        << solved.report.message;
    EXPECT_FALSE(solved.report.message.empty());
  }
}

TEST_P(NonlinearTest, NewtonEndsAtRoundingWhereThatIsAllThereIs)
{
  const Bratu problem = bratu_2d(40);
  const Solved loose = solve(executor, options("newton", "jacobi"), problem, 6.);
  const Solved tight = solve(executor, options("newton", "jacobi", 1e-18), problem, 6.);
  EXPECT_EQ(to_string(tight.report.outcome), "converged_to_rounding") << tight.report.message;
  EXPECT_LT(tight.report.backward_error, 1e-14);
  EXPECT_LT(tight.report.forward_error, 1e-10);
  EXPECT_NE(tight.report.message.find("converged to rounding"), std::string::npos)
      << tight.report.message;
  EXPECT_LT(relative_difference(tight.x, loose.x), 1e-8);
}

TEST_P(NonlinearTest, FarGuessesAreBroughtHomeByTheLineSearch)
{
  const Bratu problem = bratu_2d(31);
  const Solved reference = solve(executor, options("newton", "jacobi"), problem, 1.);
  for (const double guess : {-20., 1., 2.}) {
    for (const std::string method : {"newton", "nlcg", "nlcg beta=polak-ribiere"}) {
      SCOPED_TRACE(method + " from " + std::to_string(guess));
      const Solved solved =
          solve(executor, options(method, "jacobi"), problem, 1., std::vector<double>(961, guess));
      ASSERT_TRUE(solved.report.converged()) << solved.report.message;
      EXPECT_LT(largest_difference(reference.x, solved.x), 1e-8);
    }
  }
}

TEST_P(NonlinearTest, RepeatsAreIdenticalAndASecondSolveNeedsNoSetup)
{
  const Bratu problem = bratu_3d(9);
  for (const std::string method : {"newton", "nlcg"}) {
    NonlinearSolver solver(executor, options(method, "jacobi"));
    solver.set_system(problem.A.csr(), problem.w.data(), false);
    std::vector<double> x(problem.b.size()), y(problem.b.size()), z(problem.b.size());
    solver.solve({ExponentialReaction{}, 5.}, problem.b.data(), x.data());
    solver.solve({ExponentialReaction{}, 5.}, problem.b.data(), y.data());
    solver.set_system(problem.A.csr(), problem.w.data(), true);
    const std::size_t values = copied_bytes(problem.A.values.size() * sizeof(double)),
                      vectors = 4 * z.size() * sizeof(double); // w, b, and x in both directions
    EXPECT_EQ(
        solver.solve({ExponentialReaction{}, 5.}, problem.b.data(), z.data()).costs.transfer.bytes,
        values + vectors);
    EXPECT_EQ(x, y) << method;
    EXPECT_EQ(x, z) << method;
    std::fill(z.begin(), z.end(), 0.);
    solver.begin_pattern(problem.A.csr());
    solver.set_system(problem.A.csr(), problem.w.data(), false);
    solver.solve({ExponentialReaction{}, 5.}, problem.b.data(), z.data());
    EXPECT_EQ(x, z) << method;
  }
}

TEST_P(NonlinearTest, FormatsAndOrderingsGiveTheSameSolution)
{
  const Bratu problem = bratu_3d(10);
  const Solved reference = solve(executor, options("newton", "jacobi"), problem, 6.);
  for (const std::string method : {"newton", "nlcg"})
    for (const std::string format : {"sell", "ellpack-r", "coo", "csr values=float"})
      for (const std::string ordering : {"none", "rcm"}) {
        SCOPED_TRACE(method + ", " + format + ", " + ordering);
        NonlinearSolverOptions o = options(method, "jacobi");
        o.linear.format = format;
        o.linear.ordering = ordering;
        const Solved solved = solve(executor, o, problem, 6.);
        ASSERT_TRUE(solved.report.converged()) << solved.report.message;
        EXPECT_LT(largest_difference(reference.x, solved.x), 1e-8);
      }
}

TEST_P(NonlinearTest, AwkwardSizes)
{
  for (const int m : {1, 31, 32, 33, 1023, 1025})
    for (const std::string method : {"newton", "nlcg"}) {
      const Bratu problem = bratu_1d(m);
      const Solved solved = solve(executor, options(method, "jacobi"), problem, 1.);
      EXPECT_TRUE(solved.report.converged()) << method << ' ' << m << solved.report.message;
    }
}

TEST_P(NonlinearTest, NothingToDoIsDoneAtOnce)
{
  const Bratu problem = bratu_1d(20);
  for (const std::string method : {"newton", "nlcg"}) {
    const Solved zero = solve(executor, options(method, "jacobi"), problem, 0.);
    EXPECT_TRUE(zero.report.converged());
    EXPECT_EQ(zero.report.iterations, 0);
    const Solved first = solve(executor, options(method, "jacobi"), problem, 1.);
    const Solved again = solve(executor, options(method, "jacobi"), problem, 1., first.x);
    EXPECT_EQ(again.report.iterations, 0);
    EXPECT_EQ(again.x, first.x);
  }
}

TEST_P(NonlinearTest, NotFiniteDataAreAnOutcome)
{
  Bratu problem = bratu_1d(20);
  problem.b[3] = std::nan("");
  for (const std::string method : {"newton", "nlcg"})
    EXPECT_EQ(solve(executor, options(method, "jacobi"), problem, 1.).report.outcome,
              Outcome::not_finite);
}

TEST_P(NonlinearTest, WhatCannotBeIsRefused)
{
  const Bratu problem = bratu_1d(20);
  EXPECT_THROW(solve(executor, options("picard", "jacobi"), problem, 1.), ParameterError);
  EXPECT_THROW(solve(executor, options("nlcg beta=hestenes", "jacobi"), problem, 1.),
               ParameterError);
  EXPECT_THROW(solve(executor, options("newton eta=2", "jacobi"), problem, 1.), ParameterError);
  EXPECT_THROW(solve(executor, options("nlcg", "sai"), problem, 1.), ParameterError);
  NonlinearSolverOptions scaled = options("newton", "jacobi");
  scaled.linear.scaling = "symmetric";
  EXPECT_THROW(solve(executor, scaled, problem, 1.), ParameterError);
}

INSTANTIATE_TEST_SUITE_P(Backends, NonlinearTest, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
