#include "linalg/batch_solver.h"
#include "linalg/execution/make_executor.h"
#include "linalg/nonlinear_solver.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <cmath>
#include <limits>

namespace femgpu::linalg::test
{
namespace
{
using Richardson = OnBackendWithSolver;

// By hand: r = (1, 2), M⁻¹r = (1/4, 2/3), A M⁻¹r = (1 + 2/3, 1/4 + 2).
TEST_P(Richardson, FirstStepIsThatByHand)
{
  LinearSolverOptions options = method(solver, "jacobi");
  options.control.max_iterations = 1;
  const auto [report, x] = run(options, dense({{4., 1.}, {1., 3.}}), {1., 2.});
  EXPECT_EQ(report.outcome, Outcome::iteration_limit);
  EXPECT_EQ(report.iterations, 1);
  EXPECT_NEAR(x[0], 0.25, eps);
  EXPECT_NEAR(x[1], 2. / 3., eps);
  EXPECT_NEAR(report.history.at(1), std::hypot(2. / 3., 0.25), 10. * eps);
}

TEST_P(Richardson, SolvesWhatJacobiMakesAContraction)
{
  for (const HostMatrix &A : {diagonal({2.}), random_dominant(31, 4, 1), random_dominant(700, 6, 2),
                              random_dominant(5000, 6, 3), convection_diffusion(12, 11, 3., -2.)})
    for (const Execution execution : {Execution::graph, Execution::automatic}) {
      SCOPED_TRACE(A.n);
      const std::vector<double> b = random_vector(A.n, 4);
      LinearSolverOptions options = method(solver, "jacobi");
      options.control.execution = execution;
      const Solved solved = run(options, A, b);
      ASSERT_TRUE(solved.report.converged()) << solved.report.message;
      EXPECT_LE(residual_norm(A, b, solved.x), 1.001e-10 * norm(b));
      const Solved again = run(options, A, b);
      EXPECT_EQ(again.x, solved.x);
      EXPECT_EQ(again.report.history, solved.report.history);
    }
}

TEST_P(Richardson, TellsThatItDivergesAndKeepsTheGuess)
{
  const HostMatrix A = laplacian_2d(20, 20); // eigenvalues up to 8
  const std::vector<double> b = random_vector(A.n, 5), guess = random_vector(A.n, 6);
  const Solved solved = run(method(solver, "identity"), A, b, guess);
  EXPECT_EQ(to_string(solved.report.outcome), "diverged") << solved.report.message;
  EXPECT_NE(solved.report.message.find("pipelined-cg, or gmres"), std::string::npos);
  EXPECT_LT(solved.report.iterations, 20);
  EXPECT_EQ(solved.x, guess);
}

TEST_P(Richardson, LimitOfIterationsIsKept)
{
  const HostMatrix A = random_dominant(300, 5, 7);
  const std::vector<double> b = random_vector(A.n, 6);
  for (const char *const preconditioner : {"jacobi", "block-jacobi block=1"}) {
    LinearSolverOptions options = method(solver, preconditioner);
    const SolveReport full = run(options, A, b).report;
    EXPECT_TRUE(full.converged()) << full.message;
    for (const int limit : {0, 1, 7, 8, full.iterations - 1}) {
      options.control.max_iterations = limit;
      const auto [report, x] = run(options, A, b);
      EXPECT_EQ(report.outcome, Outcome::iteration_limit);
      ASSERT_EQ(report.iterations, limit);
      EXPECT_NEAR(residual_norm(A, b, x), full.history[static_cast<std::size_t>(limit)],
                  1e-10 * full.history[0]);
    }
  }
}

TEST_P(Richardson, NeedsNoIterationsWhereNothingIsToBeDone)
{
  const HostMatrix A = random_dominant(100, 5, 8);
  const std::vector<double> solution = integer_vector(100, 4);
  const Solved zero = run(method(solver, "jacobi"), A, std::vector<double>(100), solution);
  EXPECT_TRUE(zero.report.converged());
  EXPECT_EQ(zero.x, std::vector<double>(100));
  EXPECT_EQ(run(method(solver, "jacobi"), diagonal({}), {}).report.iterations, 0);
  std::vector<double> bad(100, 1.);
  bad[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(run(method(solver, "jacobi"), A, bad).report.outcome, Outcome::not_finite);
}

TEST_P(Richardson, BytesOfAnIterationAreThoseCountedByHand)
{
  HostMatrix A = laplacian_1d(100); // 298 entries
  A.values.front() = 3.;            // M is not a multiple of I
  const std::size_t of_matrix = 101 * 4 + 298 * 12, of_vector = 800;
  LinearSolverOptions options = method(solver, "jacobi");
  options.control.max_iterations = 1;
  if (is_distributed())
    GTEST_SKIP() << "counted for all rows";
  EXPECT_EQ(run(options, A, random_vector(100, 1)).report.method.bytes_per_iteration,
            of_matrix + 8 * of_vector);
}

INSTANTIATE_TEST_SUITE_P(Backends, Richardson,
                         testing::Combine(backends_and_two_ranks(),
                                          testing::Values(std::string("richardson"))),
                         words);

class MultigridSolver : public OnBackend
{
protected:
  Solved solved(const std::string &preconditioner, const std::string &problem) const
  {
    const ModelProblem model = generate(problem);
    Solved solved = solve(executor, method("multigrid", preconditioner, 1e-8), model.A, model.b);
    EXPECT_TRUE(solved.report.converged()) << problem << ": " << solved.report.message;
    EXPECT_LE(residual_norm(model.A, model.b, solved.x), 1.001e-8 * norm(model.b));
    return solved;
  }
};

TEST_P(MultigridSolver, TakesIterationsThatHardlyGrow)
{
  const std::string W = "multigrid coarsest=40 cycle=W";
  for (const auto &[coarse, fine] : {std::pair("poisson2d-p1:16", "poisson2d-p1:128"),
                                     std::pair("poisson3d-27pt:8", "poisson3d-27pt:32")})
    EXPECT_LE(solved(W, fine).report.iterations, 1.5 * solved(W, coarse).report.iterations + 2)
        << fine;
}

TEST_P(MultigridSolver, IsThePreconditionerWithItsOptionsOrAuto)
{
  const std::string problem = "poisson2d-9pt:60";
  const Solved automatic = solved("auto", problem), named = solved("multigrid", problem);
  EXPECT_EQ(automatic.x, named.x);
  EXPECT_EQ(automatic.report.iterations, named.report.iterations);
  EXPECT_EQ(automatic.report.method.preconditioner, "multigrid");
  EXPECT_LT(solved("multigrid degree=4", problem).report.iterations, named.report.iterations);
}

TEST_P(MultigridSolver, SolvesTheSystemsOfNewtonsMethod)
{
  const HostMatrix A = laplacian_3d(9, 8, 7);
  const std::vector<double> b(static_cast<std::size_t>(A.n)), w(b.size(), 1. / 100.);
  NonlinearSolverOptions options;
  options.linear = method("multigrid", "multigrid coarsest=20");
  options.control.relative_tolerance = 1e-9;
  NonlinearSolver solver(executor, options);
  std::vector<double> x(b.size());
  solver.set_system(A.csr(), w.data(), false);
  const SolveReport report = solver.solve({ExponentialReaction{}, 4.}, b.data(), x.data());
  EXPECT_TRUE(report.converged()) << report.message;
}

INSTANTIATE_TEST_SUITE_P(Backends, MultigridSolver, backends(), backend_name);

TEST(SolverMultigrid, TakesNoOtherPreconditioner)
{
  const ExecutorPtr host = make_executor("host");
  const LinearSolverOptions options = method("multigrid", "fsai power=2");
  const std::string text = text_of<ParameterError>([&] { LinearSolver(host, options); });
  EXPECT_NE(text.find("does not support preconditioner 'fsai'"), std::string::npos) << text;
  EXPECT_NE(text.find("richardson"), std::string::npos) << text;
  for (const char *const preconditioner : {"jacobi", "auto"})
    EXPECT_EQ(text_of<ParameterError>([&] {
                BatchSolver(host, method("multigrid", preconditioner));
              }).find("Solver 'multigrid'"),
              0U);
}
} // namespace
} // namespace femgpu::linalg::test
