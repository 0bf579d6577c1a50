#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace femgpu::linalg::test
{
namespace
{
/// Tests both variants of BiCGStab on unsymmetric systems.
class BiCGStabTest : public OnBackendWithSolver
{};

// By hand: r = r* = p = (1, 0), q = (2, 1), α = 1/2, s = (0, -1/2), t = (1/2, -1), ω = 2/5.
TEST_P(BiCGStabTest, FirstStepIsThatByHand)
{
  LinearSolverOptions options = method(solver, "identity");
  options.control.max_iterations = 1;
  const auto [report, x] = run(options, dense({{2., -1.}, {1., 2.}}), {1., 0.});
  EXPECT_EQ(report.outcome, Outcome::iteration_limit);
  EXPECT_EQ(report.iterations, 1);
  EXPECT_NEAR(x[0], 0.5, 10. * eps);
  EXPECT_NEAR(x[1], -0.2, 10. * eps);
  EXPECT_NEAR(report.true_residual, std::hypot(0.2, 0.1), 10. * eps);
}

// By hand, with right preconditioning: p̂ = M⁻¹p = (1/2, 0), q = (1, 1/2), α = 1, s = (0, -1/2),
// ŝ = (0, -1/4), t = (1/4, -1/2), ω = 4/5.
TEST_P(BiCGStabTest, FirstStepWithJacobiIsThatByHand)
{
  LinearSolverOptions options = method(solver, "jacobi");
  options.control.max_iterations = 1;
  const auto [report, x] = run(options, dense({{2., -1.}, {1., 2.}}), {1., 0.});
  EXPECT_NEAR(x[0], 0.5, 10. * eps);
  EXPECT_NEAR(x[1], -0.2, 10. * eps);
  EXPECT_EQ(report.history.size(), 2U);
}

TEST_P(BiCGStabTest, UnsymmetricSystemsAreSolved)
{
  const std::vector<HostMatrix> matrices = {convection_diffusion(1, 1, 1., 1.),
                                            convection_diffusion(31, 1, 0.5, 0.),
                                            convection_diffusion(8, 4, -3., 1.),
                                            convection_diffusion(33, 1, 5., 0.),
                                            convection_diffusion(60, 50, 0.3, -2.),
                                            random_dominant(100007, 6, 1),
                                            random_dominant(700, 60, 2),
                                            arrow(2000)};
  for (const char *const preconditioner : preconditioners)
    for (const HostMatrix &A : matrices) {
      SCOPED_TRACE(std::string(preconditioner) + ", " + std::to_string(A.n) + " rows");
      const std::vector<double> b = random_vector(A.n, 3);
      const auto [report, x] = run(method(solver, preconditioner, 1e-11), A, b);
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_LE(residual_norm(A, b, x), 1.001e-11 * norm(b));
      EXPECT_NEAR(report.true_residual, residual_norm(A, b, x), 1e-3 * report.target);
      EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
    }
}

TEST_P(BiCGStabTest, LimitOfIterationsIsKept)
{
  const HostMatrix A = convection_diffusion(60, 50, 0.3, -2.);
  const std::vector<double> b = random_vector(A.n, 6);
  LinearSolverOptions options = method(solver, "jacobi");
  const std::vector<double> full = run(options, A, b).report.history;
  for (const int limit : {0, 1, 7, 8, 9}) {
    options.control.max_iterations = limit;
    const auto [report, x] = run(options, A, b);
    EXPECT_EQ(report.outcome, Outcome::iteration_limit);
    ASSERT_EQ(report.iterations, limit);
    EXPECT_TRUE(std::equal(report.history.begin(), report.history.end(), full.begin()));
    EXPECT_NEAR(residual_norm(A, b, x), full[static_cast<std::size_t>(limit)], 1e-10 * full[0]);
  }
}

// (t, s) = (A s, s) = 0 for a skew-symmetric A and any r*.
TEST_P(BiCGStabTest, SkewSymmetricMatrixBreaksDown)
{
  const auto [report, x] =
      run(method(solver, "identity"), dense({{0., 1.}, {-1., 0.}}), {1., 2.}, {3., 4.});
  EXPECT_EQ(to_string(report.outcome), "breakdown") << report.message;
  EXPECT_EQ(report.restarts, 4);
  EXPECT_EQ(x, (std::vector<double>{3., 4.}));
}

// By hand: after the first step, r = (0, 0, 1) is orthogonal to r* = (1, 0, 0).
TEST_P(BiCGStabTest, BreakdownAfterAStepStartsAgain)
{
  const HostMatrix A = dense({{1., 0., 0.}, {1., 1., 1.}, {0., -1., 1.}});
  const auto [report, x] = run(method(solver, "identity"), A, {1., 0., 0.});
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_GE(report.restarts, 1);
  EXPECT_LE(residual_norm(A, {1., 0., 0.}, x), 1e-10);
}

TEST_P(BiCGStabTest, SurvivesAResidualThatGrowsByManyPowersOfTen)
{
  const ModelProblem problem = generate("convection-diffusion2d:96,20");
  for (const char *const preconditioner : {"identity", "jacobi", "sai"}) {
    const Solved solved = run(method(solver, preconditioner, 1e-8), problem.A, problem.b);
    EXPECT_TRUE(solved.report.converged()) << preconditioner << ": " << solved.report.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, BiCGStabTest,
                         testing::Combine(backends_and_two_ranks(), general_solvers()), words);

class FormsOfBiCGStab : public OnBackend
{};

TEST_P(FormsOfBiCGStab, NeedAsManyIterationsForTheSameResidual)
{
  for (const HostMatrix &A :
       {convection_diffusion(40, 40, 1., 0.5), random_dominant(5000, 8, 9), box_27(15, 15, 15)})
    for (const char *const preconditioner : preconditioners)
      for (const double tolerance : {1e-8, 1e-12}) {
        SCOPED_TRACE(std::to_string(A.n) + " rows, " + preconditioner);
        const std::vector<double> b = random_vector(A.n, 10);
        const Solved classical =
            solve(executor, method("bicgstab", preconditioner, tolerance), A, b);
        const Solved pipelined =
            solve(executor, method("pipelined-bicgstab", preconditioner, tolerance), A, b);
        const int iterations = classical.report.iterations;
        EXPECT_NEAR(pipelined.report.iterations, iterations, std::max(1., 0.02 * iterations));
        for (const Solved &solved : {classical, pipelined}) {
          EXPECT_TRUE(solved.report.converged()) << solved.report.message;
          EXPECT_LE(residual_norm(A, b, solved.x), 1.001 * tolerance * norm(b));
        }
      }
}

INSTANTIATE_TEST_SUITE_P(Backends, FormsOfBiCGStab, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
