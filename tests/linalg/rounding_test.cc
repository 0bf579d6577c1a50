#include "linalg/batch_solver.h"
#include "linalg/solvers/rounding.h"
#include "tests/linalg/on_backend.h"

#include <cmath>

namespace femgpu::linalg::test
{
namespace
{
/// Returns T² with T = tridiag(-1, 2, -1): a simply supported beam, whose condition number grows
/// like n⁴.
HostMatrix beam(const int n)
{
  HostMatrix A;
  for (int i = 0; i < n; ++i) {
    const double stencil[] = {1., -4., i == 0 || i == n - 1 ? 5. : 6., -4., 1.};
    for (int k = -2; k <= 2; ++k)
      if (i + k >= 0 && i + k < n)
        A.add(i + k, stencil[k + 2]);
    A.end_row();
  }
  return A;
}

/// Returns the matrix of a beam without supports. Its kernel contains the rigid motions a + b i.
HostMatrix free_beam(const int n)
{
  std::vector<std::vector<double>> rows(n, std::vector<double>(n));
  const double curvature[] = {1., -2., 1.};
  for (int i = 1; i + 1 < n; ++i)
    for (int k = 0; k < 3; ++k)
      for (int l = 0; l < 3; ++l)
        rows[i - 1 + k][i - 1 + l] += curvature[k] * curvature[l];
  return dense(rows);
}

/// Solves T x = b with T = tridiag(-1, 2, -1) in long double.
std::vector<long double> solve_tridiagonal(std::vector<long double> b)
{
  const std::size_t n = b.size();
  std::vector<long double> diagonal(n, 2.L);
  for (std::size_t i = 1; i < n; ++i) {
    diagonal[i] -= 1.L / diagonal[i - 1];
    b[i] += b[i - 1] / diagonal[i - 1];
  }
  for (std::size_t i = n; i-- > 0;)
    b[i] = (b[i] + (i + 1 < n ? b[i + 1] : 0.L)) / diagonal[i];
  return b;
}

/// Returns ‖x − A⁻¹b‖ / ‖A⁻¹b‖ for a beam with unit load.
double error_of_beam(const std::vector<double> &x)
{
  const auto exact = solve_tridiagonal(solve_tridiagonal(std::vector<long double>(x.size(), 1.L)));
  long double ee = 0.L, xx = 0.L;
  for (std::size_t i = 0; i < x.size(); ++i) {
    ee += (x[i] - exact[i]) * (x[i] - exact[i]);
    xx += exact[i] * exact[i];
  }
  return static_cast<double>(std::sqrt(ee / xx));
}

constexpr int n_beam = 300;

LinearSolverOptions beam_solver(const std::string &solver)
{
  LinearSolverOptions options = method(solver, "jacobi", 1e-12);
  options.control.max_iterations = 100000; // the limit includes all corrections
  return options;
}

class RoundingTest : public OnBackendWithSolver
{};

TEST_P(RoundingTest, SolutionWithAllDigitsThereAreIsDelivered)
{
  const HostMatrix A = beam(n_beam);
  const std::vector<double> b(n_beam, 1.);
  const auto [report, x] = run(beam_solver(solver), A, b);
  EXPECT_EQ(to_string(report.outcome), "converged_to_rounding") << report.message;
  EXPECT_TRUE(report.converged());
  EXPECT_GT(report.true_residual, report.target);
  EXPECT_LE(report.backward_error, rounding_level(5));
  EXPECT_LE(report.forward_error, largest_forward_error);
  const double error = error_of_beam(x);
  EXPECT_LE(error, largest_forward_error);
  EXPECT_GE(report.forward_error, 0.01 * error);
  EXPECT_NE(report.message.find("converged to rounding"), std::string::npos) << report.message;
}

TEST_P(RoundingTest, TargetInReachIsStillConverged)
{
  LinearSolverOptions options = beam_solver(solver);
  options.control.relative_tolerance = 1e-4;
  const auto [report, x] = run(options, beam(n_beam), std::vector<double>(n_beam, 1.));
  EXPECT_EQ(to_string(report.outcome), "converged") << report.message;
  EXPECT_GT(report.backward_error, 0.);
  EXPECT_LT(report.forward_error, 0.);
}

TEST_P(RoundingTest, IterateThatWasStoppedEarlyIsNoSolution)
{
  LinearSolverOptions options = beam_solver(solver);
  const std::vector<double> b(n_beam, 1.);
  const HostMatrix A = beam(n_beam);
  for (const int limit : {1, 50, 300, 1000}) {
    options.control.max_iterations = limit;
    const SolveReport report = run(options, A, b).report;
    EXPECT_EQ(to_string(report.outcome), "iteration_limit") << limit << ": " << report.message;
  }
  const int without_limit = run(beam_solver(solver), A, b).report.iterations;
  options.control.max_iterations = without_limit - 1; // reached during a correction
  EXPECT_LE(run(options, A, b).report.iterations, without_limit - 1);
}

TEST_P(RoundingTest, BodyThatIsNotHeldHasNoSolution)
{
  const int n = 60;
  const HostMatrix A = free_beam(n);
  const std::vector<double> ones(n, 1.);
  std::vector<double> at_end(n);
  at_end.back() = 1.;
  for (const std::vector<double> &b : {ones, at_end, random_vector(n, 7)})
    for (const char *const M : {"identity", "jacobi"}) {
      const SolveReport report = run(method(solver, M, 1e-10), A, b).report;
      EXPECT_FALSE(report.converged()) << report.message;
    }
}

TEST_P(RoundingTest, IncompatibleNeumannDataHaveNoSolution)
{
  for (const double sum : {1e-9, 1e-3, 1.}) {
    std::vector<double> b(500);
    b.front() = 1. + sum;
    b.back() = -1.;
    const SolveReport report = run(method(solver, "jacobi", 1e-12), neumann_1d(500), b).report;
    EXPECT_FALSE(report.converged()) << report.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, RoundingTest, testing::Combine(backends(), spd_solvers()),
                         words);

class RoundingOnBackend : public OnBackend
{};

TEST_P(RoundingOnBackend, ResidualThatStillFallsIsNoSolution)
{
  // Restarts reduce the residual very slowly.
  LinearSolverOptions options = method("gmres restart=2", "identity", 1e-12);
  options.control.max_iterations = 2000;
  const SolveReport report =
      solve(executor, options, laplacian_2d(60, 60), random_vector(3600, 1)).report;
  EXPECT_FALSE(report.converged()) << report.message;
  EXPECT_LT(report.true_residual, report.initial_residual);
}

TEST_P(RoundingOnBackend, BackwardErrorIsThatOfTheSystemBeforeScaling)
{
  HostMatrix A = beam(n_beam);
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      A.values[k] *= std::ldexp(1., (i + A.columns[k]) % 7);
  const std::vector<double> b = random_vector(A.n, 2);
  for (const char *const scaling : {"none", "symmetric"}) {
    LinearSolverOptions options = method("cg", "jacobi", 1e-6);
    options.scaling = scaling;
    const auto [report, x] = solve(executor, options, A, b);
    const SystemNorms norms = measure(A.csr(), b.data(), x.data());
    EXPECT_NEAR(report.backward_error, norms.backward_error(), 1e-3 * norms.backward_error());
    EXPECT_NEAR(report.original.residual, norms.residual, 1e-3 * norms.residual + 1e-14);
  }
}

/// Returns a Laplacian whose rows are scaled by factors from 1 to 1e12, so that the last rows
/// dominate ‖b‖.
HostMatrix graded_rows(const int n)
{
  HostMatrix A = laplacian_1d(n);
  for (int i = 0; i < n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      A.values[k] *= std::pow(10., 12. * i / (n - 1));
  return A;
}

// In row 1, (A x)_1 = −1 + 2·2 − 1 = 2, (|A||x|)_1 = 6 and b_1 = 4, so that
// |b − A x|/(|A||x| + |b|) = 0.2.
TEST_P(RoundingOnBackend, ComponentwiseBackwardErrorIsThatOfTheWorstRow)
{
  const HostMatrix A = laplacian_1d(3);
  const std::vector<double> x = {1., 2., 1.}, b = {0., 4., 0.};
  EXPECT_DOUBLE_EQ(measure(A.csr(), b.data(), x.data()).componentwise, 0.2);
  EXPECT_EQ(
      measure(A.csr(), std::vector<double>(3).data(), std::vector<double>(3).data()).componentwise,
      0.);
}

TEST_P(RoundingOnBackend, ComponentwiseBackwardErrorFindsRowsThatOthersHide)
{
  const HostMatrix A = graded_rows(400);
  const std::vector<double> b = multiply(A, std::vector<double>(400, 1.));
  const auto [report, x] = solve(executor, method("bicgstab", "identity", 1e-8), A, b);
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_GT(report.componentwise_backward_error, 1e-3);
  EXPECT_DOUBLE_EQ(report.componentwise_backward_error,
                   measure(A.csr(), b.data(), x.data()).componentwise);
  const Solved exact =
      solve(executor, method("cg", "identity", 1e-13), laplacian_1d(400), random_vector(400, 1));
  EXPECT_LT(exact.report.componentwise_backward_error, 1e-10);
}

TEST_P(RoundingOnBackend, SystemsOfABatchAreSettledToo)
{
  const HostMatrix stiff = beam(n_beam), simple = laplacian_1d(n_beam);
  BatchSolver solver(executor, beam_solver("pipelined-cg"));
  solver.set_matrices({simple.csr(), stiff.csr(), simple.csr()});
  const auto n = static_cast<std::size_t>(n_beam);
  const std::vector<double> b(3 * n, 1.);
  std::vector<double> x(b.size());
  const BatchReport report = solver.solve(b.data(), x.data());
  EXPECT_EQ(to_string(report.systems[0].outcome), "converged");
  EXPECT_EQ(to_string(report.systems[1].outcome), "converged_to_rounding");
  const std::vector<double> x_stiff(x.data() + n, x.data() + 2 * n);
  EXPECT_LE(error_of_beam(x_stiff), largest_forward_error);
  for (std::size_t k = 0; k < 3; ++k) {
    const HostMatrix &A = k == 1 ? stiff : simple;
    const SystemNorms norms = measure(A.csr(), b.data() + k * n, x.data() + k * n);
    EXPECT_NEAR(report.systems[k].backward_error, norms.backward_error(),
                0.5 * norms.backward_error());
  }
}

/// Returns @p v multiplied by 2 to the power @p exponent.
std::vector<double> times_power(std::vector<double> v, const int exponent)
{
  for (double &value : v)
    value = std::ldexp(value, exponent);
  return v;
}

TEST_P(RoundingOnBackend, SizeOfTheDataChangesNoBitOfTheSolution)
{
  const HostMatrix A = laplacian_2d(20, 20);
  const std::vector<double> b = random_vector(A.n, 3), guess = random_vector(A.n, 4);
  for (const char *const solver : {"pipelined-cg", "cg", "bicgstab", "gmres", "minres"}) {
    const Solved plain = solve(executor, method(solver, "jacobi"), A, b, guess);
    ASSERT_TRUE(plain.report.converged());
    for (const int exponent : {-900, -550, -470, 470, 660, 900}) {
      const Solved scaled = solve(executor, method(solver, "jacobi"), A, times_power(b, exponent),
                                  times_power(guess, exponent));
      SCOPED_TRACE(std::string(solver) + ", 2^" + std::to_string(exponent));
      EXPECT_EQ(scaled.report.outcome, Outcome::converged) << scaled.report.message;
      EXPECT_EQ(scaled.report.iterations, plain.report.iterations);
      EXPECT_EQ(scaled.x, times_power(plain.x, exponent));
      EXPECT_EQ(scaled.report.true_residual, std::ldexp(plain.report.true_residual, exponent));
    }
  }
}

TEST_P(RoundingOnBackend, SizeOfTheDataOfABatchDoesNotMatterEither)
{
  const HostMatrix A = laplacian_1d(50);
  BatchSolver solver(executor, method("pipelined-cg", "jacobi"));
  solver.set_matrices({A.csr(), A.csr(), A.csr()});
  const std::vector<double> ones(50, 1.);
  std::vector<double> b, x(150);
  for (const int exponent : {0, -560, 640}) {
    const std::vector<double> scaled = times_power(ones, exponent);
    b.insert(b.end(), scaled.begin(), scaled.end());
  }
  const BatchReport report = solver.solve(b.data(), x.data());
  EXPECT_EQ(report.n_converged(), 3);
  for (int i = 0; i < 50; ++i) {
    EXPECT_NEAR(std::ldexp(x[50 + i], 560), x[i], 1e-8 * x[i]);
    EXPECT_NEAR(std::ldexp(x[100 + i], -640), x[i], 1e-8 * x[i]);
  }
}

TEST_P(RoundingOnBackend, GuessBeyondAllNumbersIsDropped)
{
  const HostMatrix A = laplacian_1d(50);
  const std::vector<double> b(50, 1.), far_guess(50, 1e200);
  const auto [report, x] = solve(executor, method("cg", "jacobi"), A, b, far_guess);
  EXPECT_EQ(report.outcome, Outcome::converged) << report.message;
  EXPECT_LE(residual_norm(A, b, x), 1.01e-10 * norm(b));
}

INSTANTIATE_TEST_SUITE_P(Backends, RoundingOnBackend, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
