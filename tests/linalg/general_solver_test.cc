#include "tests/linalg/on_backend.h"

#include <cmath>
#include <limits>

namespace femgpu::linalg::test
{
namespace
{
/// Tests the properties that all variants of BiCGStab and GMRES must have.
class GeneralSolverTest : public OnBackendWithSolver
{};

TEST_P(GeneralSolverTest, IndefiniteSystemsAreSolved)
{
  const HostMatrix A = diagonal({1., -1., 2., -3., 5.});
  const auto [report, x] = run(method(solver, "identity"), A, {1., 1., 2., 3., 4.});
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_NEAR(x[3], -1., 1e-9);
}

TEST_P(GeneralSolverTest, RepeatsAreBitIdentical)
{
  const HostMatrix A = convection_diffusion(97, 89, 1., 0.5);
  const std::vector<double> b = random_vector(A.n, 8);
  const Solved first = run(method(solver, "jacobi"), A, b);
  EXPECT_TRUE(first.report.converged()) << first.report.message;
  const Solved again = run(method(solver, "jacobi"), A, b);
  EXPECT_EQ(again.x, first.x);
  EXPECT_EQ(again.report.history, first.report.history);
}

TEST_P(GeneralSolverTest, ZeroRightHandSideAndExactGuessTakeNoIterations)
{
  const HostMatrix A = convection_diffusion(10, 10, 1., 1.);
  const std::vector<double> solution = integer_vector(100, 4), b = multiply(A, solution);
  const auto exact = run(method(solver, "jacobi"), A, b, solution);
  EXPECT_TRUE(exact.report.converged());
  EXPECT_EQ(exact.report.iterations, 0);
  EXPECT_EQ(exact.x, solution);
  const auto zero = run(method(solver, "jacobi"), A, std::vector<double>(100), solution);
  EXPECT_TRUE(zero.report.converged());
  EXPECT_EQ(zero.x, std::vector<double>(100));
}

// For r = b, (r, A r) = 1 + 2 - 1 - 2 = 0: BiCGStab with r* = r divides by zero in its first step.
TEST_P(GeneralSolverTest, FirstStepThatBreaksDownIsRepeatedInAnotherWay)
{
  const HostMatrix A =
      dense({{1., 3., 0., 1.}, {-3., 2., 1., 0.}, {0., -1., -1., 4.}, {-1., 0., -4., -2.}});
  const auto [report, x] = run(method(solver, "identity"), A, {1., 1., 1., 1.});
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_LE(residual_norm(A, {1., 1., 1., 1.}, x), 2.01e-10);
}

TEST_P(GeneralSolverTest, NotFiniteNumbersAreFound)
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const char *const preconditioner : preconditioners)
    for (const std::size_t entry : {0, 1, 150, 297}) {
      HostMatrix A = laplacian_1d(100);
      A.values[entry] = nan;
      EXPECT_EQ(run(method(solver, preconditioner), A, std::vector<double>(100, 1.)).report.outcome,
                Outcome::not_finite);
      std::vector<double> b(100, 1.);
      b[entry % 100] = nan;
      EXPECT_EQ(run(method(solver, preconditioner), laplacian_1d(100), b).report.outcome,
                Outcome::not_finite);
    }
}

/// Returns a permuted diagonal with a few other entries of very different sizes, like matrices from
/// the simulation of chemical plants (flow sheets).
HostMatrix flow_sheet(const int n, const unsigned int seed)
{
  const std::vector<double> random = random_vector(20 * n, seed);
  std::vector<std::vector<double>> rows(n, std::vector<double>(n));
  auto next = random.begin();
  for (int i = 0; i < n; ++i) {
    rows[i][(7 * i + 3) % n] = 1.;
    for (int k = 0; k < i % 4; ++k, next += 3)
      rows[i][static_cast<int>((0.5 + 0.499 * next[0]) * n)] =
          next[1] * std::pow(10., 3. * next[2]);
  }
  return dense(rows);
}

// With the preconditioner sai, M is singular, and the recurrences grow to infinity.
TEST_P(GeneralSolverTest, FiniteDataNeverEndAsNotFinite)
{
  for (const unsigned int seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    const HostMatrix A = flow_sheet(60, seed);
    const std::vector<double> b = multiply(A, std::vector<double>(60, 1.));
    LinearSolverOptions options = method(solver, "sai", 1e-8);
    options.control.max_iterations = 3000;
    const auto [report, x] = run(options, A, b);
    EXPECT_NE(to_string(report.outcome), "not_finite") << seed << ": " << report.message;
    EXPECT_LE(residual_norm(A, b, x), (1. + 1e-10) * norm(b));
  }
}

TEST_P(GeneralSolverTest, SingularInconsistentSystemDoesNotConverge)
{
  for (const int n : {2, 3, 50, 1000})
    for (const char *const preconditioner : preconditioners) {
      std::vector<double> tilted = random_vector(n, 3);
      tilted[0] += 0.5 * n;
      LinearSolverOptions options = method(solver, preconditioner);
      options.control.max_iterations = 2000;
      const SolveReport report = run(options, neumann_1d(n), tilted).report;
      EXPECT_FALSE(report.converged()) << report.message;
    }
}

TEST_P(GeneralSolverTest, ToleranceBelowRoundingIsNotCalledConverged)
{
  const HostMatrix A = convection_diffusion(50, 50, 0.5, 0.5);
  const std::vector<double> b = random_vector(A.n, 1);
  LinearSolverOptions options = method(solver, "jacobi", 1e-18);
  options.control.max_iterations = 5000;
  const auto [report, x] = run(options, A, b);
  EXPECT_EQ(to_string(report.outcome), "converged_to_rounding") << report.message;
  EXPECT_LT(report.true_residual, 1e-12 * norm(b)) << report.message;
}

INSTANTIATE_TEST_SUITE_P(Backends, GeneralSolverTest,
                         testing::Combine(backends_and_two_ranks(), general_solvers()), words);
INSTANTIATE_TEST_SUITE_P(BackendsAndWide, GeneralSolverTest,
                         testing::Combine(backends_and_two_ranks(), wide_solvers()), words);
INSTANTIATE_TEST_SUITE_P(BackendsAndGmres, GeneralSolverTest,
                         testing::Combine(backends_and_two_ranks(), forms_of_gmres()), words);

class SkewSymmetricSystem : public OnBackendWithSolver
{};

// For a skew-symmetric A, (t, r) = (A r, r) = 0: no multiple of A r reduces the residual.
TEST_P(SkewSymmetricSystem, IsSolvedByMethodsThatDoNotMinimiseOverOnePower)
{
  HostMatrix A = laplacian_1d(20);
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      A.values[k] = A.columns[k] - i;
  const std::vector<double> b = random_vector(A.n, 3);
  const auto [report, x] = run(method(solver, "identity", 1e-8), A, b);
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_LE(residual_norm(A, b, x), 1.001e-8 * norm(b));
}

INSTANTIATE_TEST_SUITE_P(Backends, SkewSymmetricSystem,
                         testing::Combine(backends_and_two_ranks(),
                                          testing::Values("idr", "idr s=1", "idr s=8",
                                                          "bicgstab-l")),
                         words);
} // namespace
} // namespace femgpu::linalg::test
