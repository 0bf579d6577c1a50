#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace femgpu::linalg::test
{
namespace
{
/// Returns A − σ I.
HostMatrix shifted(HostMatrix A, const double sigma)
{
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      A.values[k] -= A.columns[k] == i ? sigma : 0.;
  return A;
}

/// Returns eigenvector k = 1...n of laplacian_1d(n), whose eigenvalue is 2 − 2 cos(k π / (n+1)).
std::vector<double> eigenvector(const int n, const int k)
{
  std::vector<double> v;
  for (int i = 1; i <= n; ++i)
    v.push_back(std::sin(i * k * M_PI / (n + 1)));
  return v;
}

class MinRes : public OnBackend
{
protected:
  Solved run(const LinearSolverOptions &options, const HostMatrix &A, const std::vector<double> &b,
             const std::vector<double> &x0 = {}) const
  {
    return solve(executor, options, A, b, x0);
  }

  /// Solves A x = b from x = 0. The preconditioner is set up for another matrix, @p of.
  Solved run_with(const std::string &preconditioner, const HostMatrix &of, const HostMatrix &A,
                  const std::vector<double> &b) const
  {
    const CsrMatrix csr(executor, A.csr()), csr_of(executor, of.csr());
    const auto M = make_preconditioner(preconditioner, executor->backend());
    M->setup(csr_of);
    const Buffer<double> rhs(executor, b.data(), b.size());
    Buffer<double> x(executor, b.size());
    x.fill_zero();
    const auto solver = make_solver("minres", executor->backend());
    SolveReport report = solver->solve(csr, *M, rhs, x, SolveControl());
    return {std::move(report), x.to_host()};
  }

  void expect(const Outcome outcome, const HostMatrix &A, const std::vector<double> &b) const
  {
    for (const char *const preconditioner : preconditioners) {
      const SolveReport report = run(method("minres", preconditioner), A, b).report;
      EXPECT_EQ(to_string(report.outcome), to_string(outcome)) << report.message;
    }
  }
};

// By hand: r = (1, 1), A r = (2, -1), τ = (r, A r) / (A r, A r) = 1/5.
TEST_P(MinRes, FirstStepIsThatByHand)
{
  LinearSolverOptions options = method("minres", "identity");
  options.control.max_iterations = 1;
  const auto [report, x] = run(options, diagonal({2., -1.}), {1., 1.});
  EXPECT_EQ(report.outcome, Outcome::iteration_limit);
  EXPECT_EQ(report.iterations, 1);
  EXPECT_NEAR(x[0], 0.2, 10. * eps);
  EXPECT_NEAR(x[1], 0.2, 10. * eps);
  EXPECT_NEAR(report.history.at(1), std::hypot(0.6, 1.2), 10. * eps);
}

// By hand: p = M⁻¹r = (1, 1), A p = (5, 4), τ = (A p, M⁻¹r) / (A p, M⁻¹A p) = 9 / (139/12).
TEST_P(MinRes, FirstStepWithJacobiIsThatByHand)
{
  LinearSolverOptions options = method("minres", "jacobi");
  options.control.max_iterations = 1;
  const auto [report, x] = run(options, dense({{4., 1.}, {1., 3.}}), {4., 3.});
  EXPECT_NEAR(x[0], 108. / 139., 10. * eps);
  EXPECT_NEAR(x[1], 108. / 139., 10. * eps);
}

TEST_P(MinRes, AwkwardSystemsAreSolvedAsByConjugateGradients)
{
  const std::vector<HostMatrix> matrices = {
      laplacian_1d(1), laplacian_1d(31),         laplacian_1d(32),         laplacian_1d(33),
      arrow(2000),     random_spd(100007, 6, 1), laplacian_3d(12, 11, 10), random_spd(700, 60, 2)};
  for (const char *const preconditioner : {"identity", "jacobi", "fsai", "chebyshev degree=3"})
    for (const HostMatrix &A : matrices) {
      SCOPED_TRACE(std::string(preconditioner) + ", " + std::to_string(A.n) + " rows");
      const std::vector<double> b = random_vector(A.n, 3);
      const Solved solved = run(method("minres", preconditioner, 1e-10), A, b);
      const Solved reference = run(method("cg", preconditioner, 1e-12), A, b);
      EXPECT_TRUE(solved.report.converged()) << solved.report.message;
      EXPECT_LE(residual_norm(A, b, solved.x), 1.001e-10 * norm(b));
      EXPECT_LT(relative_difference(solved.x, reference.x), 1e-7);
      EXPECT_LE(solved.report.iterations, reference.report.iterations + 2);
    }
}

TEST_P(MinRes, NoRowsAreSolvedInNoIterations)
{
  const auto [report, x] = run(method("minres", "jacobi"), diagonal({}), {});
  EXPECT_EQ(report.outcome, Outcome::converged);
  EXPECT_EQ(report.iterations, 0);
}

TEST_P(MinRes, IndefiniteSystemsAreSolvedWhereConjugateGradientsRefuse)
{
  const int n = 200;
  const double between = 1. - std::cos(10. * M_PI / (n + 1)) + 1. - std::cos(11. * M_PI / (n + 1));
  const HostMatrix A = shifted(laplacian_1d(n), between); // ten eigenvalues are negative
  const std::vector<double> b = random_vector(n, 5);
  for (const char *const preconditioner : preconditioners) {
    const Solved solved = run(method("minres", preconditioner), A, b);
    EXPECT_TRUE(solved.report.converged()) << solved.report.message;
    EXPECT_LE(residual_norm(A, b, solved.x), 1.001e-10 * norm(b));
    EXPECT_EQ(run(method("cg", preconditioner), A, b).report.outcome, Outcome::indefinite_matrix);
  }
}

TEST_P(MinRes, IndefiniteSystemsAreSolvedWithAPreconditionerOfAnotherMatrix)
{
  const HostMatrix laplacian = laplacian_2d(40, 30);
  const HostMatrix A = shifted(laplacian, 0.3);
  const std::vector<double> b = random_vector(A.n, 6);
  const int without = run_with("identity", laplacian, A, b).report.iterations;
  for (const char *const preconditioner : {"fsai power=2", "chebyshev", "block-jacobi block=4"}) {
    const Solved solved = run_with(preconditioner, laplacian, A, b);
    EXPECT_TRUE(solved.report.converged()) << solved.report.message;
    EXPECT_LE(residual_norm(A, b, solved.x), 1.001e-10 * norm(b));
    EXPECT_LT(solved.report.iterations, without);
  }
}

TEST_P(MinRes, TakesAsManyIterationsAsThereAreEigenvectorsInTheResidual)
{
  const int n = 50;
  const HostMatrix A = shifted(laplacian_1d(n), 0.1);
  std::vector<double> b(n);
  int count = 0;
  for (const int k : {1, 2, 7, 20, 49}) {
    const std::vector<double> v = eigenvector(n, k);
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] += v[i];
    const Solved solved = run(method("minres", "identity", 1e-9), A, b);
    EXPECT_TRUE(solved.report.converged()) << solved.report.message;
    EXPECT_EQ(solved.report.iterations, ++count);
  }
}

TEST_P(MinRes, NegativeDefiniteSystemsAreSolved)
{
  HostMatrix A = laplacian_2d(10, 10);
  for (double &value : A.values)
    value = -value;
  const std::vector<double> b(100, 1.);
  const Solved solved = run(method("minres", "identity"), A, b);
  EXPECT_TRUE(solved.report.converged()) << solved.report.message;
  EXPECT_EQ(run(method("minres", "jacobi"), A, b).report.outcome,
            Outcome::indefinite_preconditioner);
}

TEST_P(MinRes, SingularConsistentSystemsAreSolved)
{
  std::vector<double> b(200);
  b.front() = 1.;
  b.back() = -1.;
  expect(Outcome::converged, neumann_1d(200), b);
  const Solved solved = run(method("minres", "identity"), diagonal({0., -1., 2.}), {0., 1., 1.});
  EXPECT_TRUE(solved.report.converged()) << solved.report.message;
  EXPECT_EQ(solved.x[0], 0.);
}

TEST_P(MinRes, SystemsWithoutASolutionStagnateAtTheSmallestResidual)
{
  for (const int n : {2, 3, 50, 1000}) {
    std::vector<double> b = random_vector(n, 3);
    b[0] += 0.5 * n;
    for (const std::vector<double> &rhs : {std::vector<double>(b.size(), 1.), b}) {
      const Solved solved = run(method("minres", "identity"), neumann_1d(n), rhs);
      const double sum =
          std::accumulate(rhs.begin(), rhs.end(), 0.); // (rhs, 1); 1 spans the kernel
      const double smallest = std::abs(sum) / std::sqrt(n);
      EXPECT_EQ(to_string(solved.report.outcome), "stagnated") << solved.report.message;
      EXPECT_NEAR(solved.report.true_residual, smallest, 1e-8 * norm(rhs)) << n;
    }
    EXPECT_FALSE(run(method("minres", "jacobi"), neumann_1d(n), b).report.converged());
  }
}

TEST_P(MinRes, IndefinitePreconditionerIsFound)
{
  // At the start, (r, M⁻¹r) is 1 − 4 for the first b and 1 − 1 for the second.
  for (const std::vector<double> &b : {std::vector<double>{1., 2.}, {1., 1.}}) {
    const Solved solved = run(method("minres", "jacobi"), diagonal({1., -1.}), b);
    EXPECT_EQ(to_string(solved.report.outcome), "indefinite_preconditioner")
        << solved.report.message;
    EXPECT_EQ(solved.x, std::vector<double>(2));
  }
  HostMatrix A = shifted(laplacian_1d(100), 0.5);
  A.values[150] = -1.5; // a diagonal entry
  expect(Outcome::converged, shifted(laplacian_1d(100), 0.5), random_vector(100, 2));
  EXPECT_EQ(run(method("minres", "jacobi"), A, random_vector(100, 2)).report.outcome,
            Outcome::indefinite_preconditioner);
}

TEST_P(MinRes, UnsymmetricPreconditionerIsRefusedByName)
{
  const std::string text = text_of<ParameterError>([&] {
    run(method("minres", "sai"), laplacian_1d(3), {1., 1., 1.});
  });
  EXPECT_NE(text.find("'minres'"), std::string::npos) << text;
  EXPECT_NE(text.find("'sai"), std::string::npos) << text;
}

TEST_P(MinRes, NotFiniteNumbersAreFound)
{
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (const std::size_t entry : {0, 1, 150, 297}) {
      HostMatrix A = laplacian_1d(100);
      A.values[entry] = bad;
      expect(Outcome::not_finite, A, std::vector<double>(100, 1.));
      std::vector<double> b(100, 1.);
      b[entry % 100] = bad;
      expect(Outcome::not_finite, laplacian_1d(100), b);
    }
  EXPECT_EQ(run(method("minres", "identity"), diagonal({1e300, 1.}), {1e10, 1.}).report.outcome,
            Outcome::not_finite);
}

TEST_P(MinRes, LimitOfIterationsIsKept)
{
  const HostMatrix A = shifted(laplacian_2d(20, 20), 0.3);
  const std::vector<double> b = random_vector(A.n, 6);
  for (const char *const preconditioner : {"jacobi", "block-jacobi block=2"}) {
    LinearSolverOptions options = method("minres", preconditioner);
    const SolveReport full = run(options, A, b).report;
    EXPECT_TRUE(full.converged()) << full.message;
    EXPECT_EQ(full.history.size(), static_cast<std::size_t>(full.iterations) + 1);
    for (const int limit : {0, 1, 2, 7, 8, 9, full.iterations - 1}) {
      options.control.max_iterations = limit;
      const auto [report, x] = run(options, A, b);
      EXPECT_EQ(report.outcome, Outcome::iteration_limit);
      ASSERT_EQ(report.iterations, limit);
      EXPECT_TRUE(std::equal(report.history.begin(), report.history.end(), full.history.begin()));
      EXPECT_NEAR(residual_norm(A, b, x), full.history[static_cast<std::size_t>(limit)],
                  1e-10 * full.history[0]);
    }
    options.control.max_iterations = full.iterations;
    EXPECT_TRUE(run(options, A, b).report.converged());
  }
}

TEST_P(MinRes, ResidualNeverGrowsWithoutPreconditioner)
{
  const HostMatrix A = shifted(laplacian_2d(30, 20), 0.5);
  const std::vector<double> history =
      run(method("minres", "identity"), A, random_vector(A.n, 7)).report.history;
  for (std::size_t k = 1; k < history.size(); ++k)
    EXPECT_LE(history[k], (1. + 1e-12) * history[k - 1]);
}

TEST_P(MinRes, ZeroRightHandSideAndExactGuessTakeNoIterations)
{
  const HostMatrix A = shifted(laplacian_2d(10, 10), 1.);
  const std::vector<double> solution = integer_vector(100, 4), b = multiply(A, solution);
  const auto exact = run(method("minres", "jacobi"), A, b, solution);
  EXPECT_TRUE(exact.report.converged());
  EXPECT_EQ(exact.report.iterations, 0);
  EXPECT_EQ(exact.x, solution);
  const auto zero = run(method("minres", "jacobi"), A, std::vector<double>(100), solution);
  EXPECT_TRUE(zero.report.converged());
  EXPECT_EQ(zero.x, std::vector<double>(100));
}

TEST_P(MinRes, ToleranceBelowRoundingIsNotCalledConverged)
{
  const HostMatrix A = shifted(laplacian_2d(30, 30), 0.1);
  const std::vector<double> b = random_vector(A.n, 1);
  const auto [report, x] = run(method("minres", "jacobi", 1e-18), A, b);
  EXPECT_EQ(to_string(report.outcome), "converged_to_rounding") << report.message;
  EXPECT_LT(report.true_residual, 1e-12 * norm(b));
}

TEST_P(MinRes, FloatValuesAreRefinedToTheTolerance)
{
  const HostMatrix A = shifted(laplacian_2d(30, 30), 0.1);
  const std::vector<double> b = random_vector(A.n, 1);
  LinearSolverOptions options = method("minres", "jacobi", 1e-11);
  options.format = "csr values=float";
  const auto [report, x] = run(options, A, b);
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_LE(residual_norm(A, b, x), 1.001e-11 * norm(b));
}

TEST_P(MinRes, RepeatsAreBitIdentical)
{
  const HostMatrix A = shifted(laplacian_3d(17, 19, 23), 0.2);
  const std::vector<double> b = random_vector(A.n, 8);
  const Solved first = run(method("minres", "jacobi"), A, b);
  EXPECT_TRUE(first.report.converged()) << first.report.message;
  const Solved again = run(method("minres", "jacobi"), A, b);
  EXPECT_EQ(again.x, first.x);
  EXPECT_EQ(again.report.history, first.report.history);
}

TEST_P(MinRes, BytesOfAnIterationAreThoseCountedByHand)
{
  HostMatrix A = laplacian_1d(100); // 298 entries
  A.values.front() = 3.;            // M is not a multiple of I
  const std::size_t of_matrix = 101 * 4 + 298 * 12, of_vector = 800;
  const std::vector<double> b(100, 1.);
  EXPECT_EQ(run(method("minres", "identity"), A, b).report.method.bytes_per_iteration,
            of_matrix + 14 * of_vector);
  EXPECT_EQ(run(method("minres", "jacobi"), A, b).report.method.bytes_per_iteration,
            of_matrix + 15 * of_vector);
}

INSTANTIATE_TEST_SUITE_P(Backends, MinRes, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
