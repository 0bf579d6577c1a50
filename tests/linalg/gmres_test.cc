#include "linalg/execution/make_executor.h"
#include "linalg/matrices/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace femgpu::linalg::test
{
namespace
{
/// Tests all variants of GMRES.
class GmresTest : public OnBackendWithSolver
{
protected:
  LinearSolverOptions with(const int restart, const std::string &preconditioner,
                           const double tolerance = 1e-10) const
  {
    return method(solver + " restart=" + std::to_string(restart), preconditioner, tolerance);
  }
};

// By hand: A r = (2, 1), α = (r, A r)/(A r, A r) = 2/5.
TEST_P(GmresTest, FirstStepIsThatByHand)
{
  LinearSolverOptions options = method(solver, "identity");
  options.control.max_iterations = 1;
  const auto [report, x] = run(options, dense({{2., -1.}, {1., 2.}}), {1., 0.});
  EXPECT_EQ(to_string(report.outcome), "iteration_limit");
  EXPECT_EQ(report.iterations, 1);
  EXPECT_NEAR(x[0], 0.4, 10. * eps);
  EXPECT_NEAR(x[1], 0., 10. * eps);
  ASSERT_EQ(report.history.size(), 2U);
  EXPECT_NEAR(report.history[1], std::hypot(0.2, 0.4), 10. * eps);
}

TEST_P(GmresTest, EndsAfterAsManyIterationsAsThereAreRows)
{
  for (const int n : {1, 2, 5, 10}) {
    const HostMatrix A = random_dominant(n, 3, 4);
    const std::vector<double> b = random_vector(n, 2);
    const auto [report, x] = run(with(30, "identity", 1e-11), A, b);
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_LE(report.iterations, n + 1);
    EXPECT_LE(residual_norm(A, b, x), 1.001e-11 * norm(b));
  }
}

TEST_P(GmresTest, UnsymmetricSystemsAreSolved)
{
  const std::vector<HostMatrix> matrices = {convection_diffusion(1, 1, 1., 1.),
                                            convection_diffusion(31, 1, 0.5, 0.),
                                            convection_diffusion(8, 4, -3., 1.),
                                            convection_diffusion(33, 1, 5., 0.),
                                            convection_diffusion(60, 50, 0.3, -2.),
                                            random_dominant(100007, 6, 1),
                                            random_dominant(700, 60, 2),
                                            arrow(2000)};
  for (const char *const preconditioner : {"identity", "jacobi", "ilu"})
    for (const HostMatrix &A : matrices) {
      SCOPED_TRACE(std::string(preconditioner) + ", " + std::to_string(A.n) + " rows");
      const std::vector<double> b = random_vector(A.n, 3);
      const auto [report, x] = run(with(40, preconditioner, 1e-11), A, b);
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_LE(residual_norm(A, b, x), 1.001e-11 * norm(b));
      EXPECT_NEAR(report.true_residual, residual_norm(A, b, x), 1e-3 * report.target);
      EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
    }
}

TEST_P(GmresTest, TheResidualNeverGrows)
{
  const ModelProblem problem = generate("convection-diffusion2d:40,5");
  const std::vector<double> history =
      run(with(20, "jacobi", 1e-8), problem.A, problem.b).report.history;
  for (std::size_t k = 1; k < history.size(); ++k)
    EXPECT_LE(history[k], history[k - 1] * (1. + 1e-10)) << k;
}

TEST_P(GmresTest, LengthsOfTheRestart)
{
  const HostMatrix A = convection_diffusion(40, 30, 0.5, 0.25);
  const std::vector<double> b = random_vector(A.n, 6);
  int before = 1 << 30;
  for (const int restart : {1, 2, 7, 8, 9, 33, 200}) {
    const auto [report, x] = run(with(restart, "jacobi", 1e-9), A, b);
    EXPECT_TRUE(report.converged()) << restart << ": " << report.message;
    EXPECT_LE(residual_norm(A, b, x), 1.001e-9 * norm(b));
    EXPECT_GE(report.restarts, (report.iterations - 1) / restart);
    EXPECT_LE(report.restarts, (report.iterations - 1) / restart + 2);
    EXPECT_LE(report.iterations, 1.1 * before); // a longer restart may need slightly more
    before = report.iterations;
  }
}

TEST_P(GmresTest, LimitOfIterationsIsKept)
{
  const HostMatrix A = convection_diffusion(60, 50, 0.3, -2.);
  const std::vector<double> b = random_vector(A.n, 6);
  LinearSolverOptions options = with(8, "jacobi");
  const std::vector<double> full = run(options, A, b).report.history;
  for (const int limit : {0, 1, 7, 8, 9, 16, 17}) {
    options.control.max_iterations = limit;
    const auto [report, x] = run(options, A, b);
    EXPECT_EQ(to_string(report.outcome), "iteration_limit");
    ASSERT_EQ(report.iterations, limit);
    EXPECT_TRUE(std::equal(report.history.begin(), report.history.end(), full.begin()));
    EXPECT_NEAR(residual_norm(A, b, x), full[static_cast<std::size_t>(limit)], 1e-10 * full[0]);
  }
}

// A r = 0: there is no search direction.
TEST_P(GmresTest, NothingToProjectOnBreaksDownAtOnce)
{
  const auto [report, x] = run(method(solver, "identity"), dense({{0., 1.}, {0., 0.}}), {1., 0.});
  EXPECT_EQ(to_string(report.outcome), "breakdown") << report.message;
  EXPECT_EQ(x, (std::vector<double>{0., 0.}));
}

// The residual stagnates until the basis contains all four directions.
TEST_P(GmresTest, ACyclicShiftStagnatesWithAShortRestart)
{
  const HostMatrix A =
      dense({{0., 0., 0., 1.}, {1., 0., 0., 0.}, {0., 1., 0., 0.}, {0., 0., 1., 0.}});
  const auto [report, x] = run(with(3, "identity"), A, {1., 0., 0., 0.});
  EXPECT_FALSE(report.converged());
  EXPECT_TRUE(report.outcome == Outcome::stagnated || report.outcome == Outcome::breakdown)
      << report.message;
  const auto full = run(with(4, "identity"), A, {1., 0., 0., 0.});
  EXPECT_TRUE(full.report.converged() || solver == "pipelined-gmres") << full.report.message;
}

TEST_P(GmresTest, FloatValuesAreRefinedByRestarts)
{
  const HostMatrix A = convection_diffusion(50, 50, 0.5, 0.5);
  const std::vector<double> b = random_vector(A.n, 1);
  LinearSolverOptions options = method(solver, "jacobi", 1e-12);
  options.format = "csr values=float";
  const auto [report, x] = run(options, A, b);
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_LE(residual_norm(A, b, x), 1.001e-12 * norm(b));
}

INSTANTIATE_TEST_SUITE_P(Backends, GmresTest,
                         testing::Combine(backends_and_two_ranks(), forms_of_gmres()), words);

class FormsOfGmres : public OnBackend
{};

TEST_P(FormsOfGmres, NeedAsManyIterationsForTheSameResidual)
{
  for (const char *const system :
       {"convection-diffusion2d:40,1", "convection-diffusion2d:40,30",
        "convection-diffusion2d:40,1000", "elasticity3d-p1:4", "poisson3d-27pt:12"})
    for (const char *const preconditioner : {"identity", "jacobi", "fsai", "ilu blocks=4"})
      for (const char *const restart : {" restart=10", " restart=30"}) {
        SCOPED_TRACE(std::string(system) + ", " + preconditioner + restart);
        const ModelProblem problem = generate(system);
        const auto run = [&](const std::string &solver) {
          return solve(executor, method(solver + restart, preconditioner, 1e-8), problem.A,
                       problem.b)
              .report;
        };
        const SolveReport reference = run("gmres");
        for (const char *const other :
             {"gmres orthogonalisation=mgs", "gmres orthogonalisation=cgs", "fgmres",
              "pipelined-gmres"}) {
          const SolveReport report = run(other);
          EXPECT_EQ(report.converged(), reference.converged()) << other << ": " << report.message;
          const double range = std::max(2., 0.05 * reference.iterations);
          if (reference.iterations < 500) { // counts of long solves depend on rounding
            EXPECT_NEAR(report.iterations, reference.iterations, range) << other;
          }
        }
      }
}

TEST_P(FormsOfGmres, RefuseOtherOptions)
{
  EXPECT_THROW(make_solver("gmres restart=0", executor->backend()), ParameterError);
  EXPECT_THROW(make_solver("gmres restart=257", executor->backend()), ParameterError);
  EXPECT_THROW(make_solver("gmres orthogonalisation=qr", executor->backend()), ParameterError);
  EXPECT_THROW(make_solver("pipelined-gmres orthogonalisation=mgs", executor->backend()),
               ParameterError);
}

INSTANTIATE_TEST_SUITE_P(Backends, FormsOfGmres, backends(), backend_name);

/// A preconditioner whose diagonal changes with each application.
class ChangingDiagonal final : public PreconditionerOperator
{
public:
  explicit ChangingDiagonal(const Matrix &A) : PreconditionerOperator(A.range())
  {
    for (const double entry : {0.5, 0.2, 1.}) {
      const auto size = static_cast<std::size_t>(n());
      HostMatrix D = diagonal(std::vector<double>(size, entry));
      for (std::size_t i = 0; i < size; i += 3)
        D.values[i] *= 2.;
      diagonals.push_back(std::make_unique<CsrMatrix>(executor(), D.csr()));
    }
  }
  View view() const override
  {
    return diagonals[applications++ % diagonals.size()]->csr_view();
  }

private:
  std::vector<std::unique_ptr<CsrMatrix>> diagonals;
  mutable std::size_t applications = 0;
};

class Changing final : public Preconditioner
{
public:
  void setup(const Matrix &A) override
  {
    diagonal = std::make_unique<ChangingDiagonal>(A);
  }
  void update(const Matrix &A) override
  {
    setup(A);
  }
  Action action() const override
  {
    return diagonal.get();
  }
  SetupReport setup_report() const override
  {
    return {};
  }
  bool is_symmetric() const override
  {
    return false;
  }
  std::string name() const override
  {
    return "changing";
  }
  std::size_t bytes() const override
  {
    return 0;
  }

private:
  std::unique_ptr<ChangingDiagonal> diagonal;
};

TEST(FlexibleGmres, BearsAPreconditionerThatChanges)
{
  const HostMatrix host = convection_diffusion(20, 20, 0.5, 0.5);
  const auto executor = make_executor("host");
  const CsrMatrix A(executor, host.csr());
  const std::vector<double> ones(static_cast<std::size_t>(host.n), 1.);
  const Buffer<double> b(executor, ones.data(), ones.size());
  const auto iterations = [&](const std::string &solver) {
    Changing M;
    M.setup(A);
    Buffer<double> x(executor, ones.size());
    x.fill_zero();
    const SolveReport report =
        make_solver(solver, executor->backend())->solve(A, M, b, x, SolveControl());
    return report.converged() ? report.iterations : 1 << 20;
  };
  const int flexible = iterations("fgmres restart=60");
  EXPECT_LT(flexible, 150);
  EXPECT_GT(iterations("gmres restart=60"), 2 * flexible);
}
} // namespace
} // namespace femgpu::linalg::test
