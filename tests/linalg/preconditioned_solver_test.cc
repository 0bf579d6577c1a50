#include "linalg/linear_solver.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace femgpu::linalg::test
{
namespace
{
class PreconditionedSolverTest : public OnBackend
{
protected:
  LinearSolver automatic(const std::string &solver) const
  {
    LinearSolverOptions options;
    options.solver = solver;
    options.preconditioner = "auto";
    options.control.relative_tolerance = 1e-8;
    return {executor, options};
  }
};

std::string remarks(const SolveReport &report)
{
  return report.method.setup.remarks;
}

/// Returns @p factor (A + @p shift I), where A is a Laplacian with n² rows.
HostMatrix shifted(const int n, const double shift, const double factor)
{
  HostMatrix A = laplacian_2d(n, n);
  for (double &value : A.values)
    value = factor * (value > 0. ? value + shift : value);
  return A;
}

TEST_P(PreconditionedSolverTest, TakesJacobiWhereThatIsQuick)
{
  const ModelProblem problem = generate("poisson2d-5pt:40");
  LinearSolver solver = automatic("cg");
  solver.set_matrix(problem.A.csr(), false);
  std::vector<double> x(problem.b.size());
  const SolveReport report = solver.solve(problem.b.data(), x.data());
  EXPECT_TRUE(report.converged());
  EXPECT_EQ(report.method.preconditioner, "jacobi");
  EXPECT_EQ(remarks(report), "");
}

/// Returns the iteration limit after which @p report switched the preconditioner, or 0.
int patience_in(const SolveReport &report)
{
  const std::string before = "after ";
  return remarks(report).rfind(before, 0) == 0
             ? std::atoi(remarks(report).substr(before.size()).c_str())
             : 0;
}

TEST_P(PreconditionedSolverTest, TakesMultigridByGivenProlongationsAfterJacobi)
{
  HostMatrix A = laplacian_1d(20001);
  auto coarser = std::make_shared<CoarserUnknowns>();
  HostProlongation &P = coarser->prolongation; // linear interpolation from every second point
  P.n_columns = A.n / 2;
  for (int i = 0; i < A.n; ++i) {
    for (int j = std::max(0, i / 2 - 1); j <= std::min(i / 2, P.n_columns - 1); ++j)
      if (std::abs(2 * j + 1 - i) <= 1) {
        P.columns.push_back(j);
        P.values.push_back(2 * j + 1 == i ? 1. : 0.5);
      }
    P.row_starts.push_back(static_cast<int>(P.columns.size()));
  }
  Unknowns unknowns;
  unknowns.coarser = LazyCoarserUnknowns([coarser] { return coarser; });
  A.unknowns = std::make_shared<const Unknowns>(unknowns);
  LinearSolver solver = automatic("cg");
  solver.set_matrix(A.csr(), false);
  const std::vector<double> b(static_cast<std::size_t>(A.n), 1.);
  std::vector<double> x(b.size());
  const SolveReport report = solver.solve(b.data(), x.data());
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_GE(patience_in(report), 200) << remarks(report);
  EXPECT_NE(remarks(report).find("1 level by given prolongations"), std::string::npos)
      << remarks(report);
}

TEST_P(PreconditionedSolverTest, TakesMultigridAtOnceWhereJacobiIsForecastToTakeLonger)
{
  const bool is_on_host = executor->backend() == BackendKind::host;
  const ModelProblem problem = generate(is_on_host ? "poisson2d-5pt:300" : "poisson2d-5pt:1500");
  LinearSolver solver = automatic("pipelined-cg");
  solver.set_matrix(problem.A.csr(), false);
  std::vector<double> x(problem.b.size());
  const SolveReport report = solver.solve(problem.b.data(), x.data());
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_EQ(report.method.preconditioner, "multigrid");
  EXPECT_LT(report.iterations, 30);
  EXPECT_EQ(remarks(report).rfind(is_on_host
                                      ? "because jacobi would take about 540 iterations; V-cycle"
                                      : "because jacobi would take about 2700 iterations; V-cycle",
                                  0),
            0U)
      << remarks(report);
}

TEST_P(PreconditionedSolverTest, TakesMultigridWhenSolvesTogetherHaveLostWhatItCosts)
{
  const bool is_on_host = executor->backend() == BackendKind::host;
  HostMatrix A = generate(is_on_host ? "poisson2d-5pt:150" : "poisson2d-5pt:400").A;
  A.unknowns = default_unknowns; // no nodes_along_body: JacobiForecast::iterations is 0
  const std::vector<double> b(static_cast<std::size_t>(A.n), 1.);
  LinearSolver solver = automatic("pipelined-cg");
  int n_with_jacobi = 0, n_iterations = 0;
  for (int k = 0; k < 12; ++k) {
    solver.set_matrix(A.csr(), k > 0);
    std::vector<double> x(b.size());
    const SolveReport report = solver.solve(b.data(), x.data());
    EXPECT_TRUE(report.converged()) << report.message;
    n_iterations += report.iterations;
    if (report.method.preconditioner == "multigrid") {
      EXPECT_GE(n_iterations, patience_in(report));
      break;
    }
    ++n_with_jacobi;
  }
  EXPECT_GE(n_with_jacobi, 2);
  EXPECT_LE(n_with_jacobi, 10);
}

TEST_P(PreconditionedSolverTest, TakesMultigridAtOnceWhereMaterialsDiffer)
{
  for (const double factor : {1e3, 1e5}) {
    SCOPED_TRACE(factor);
    ModelProblem problem = generate("poisson2d-5pt:20");
    for (int i = 0; i < problem.A.n; ++i) // the lower half gets another material
      for (int k = problem.A.row_starts[i]; k < problem.A.row_starts[i + 1]; ++k)
        if (i < problem.A.n / 2 && problem.A.columns[k] < problem.A.n / 2)
          problem.A.values[k] *= factor;
    LinearSolver solver = automatic("pipelined-cg");
    solver.set_matrix(problem.A.csr(), false);
    std::vector<double> x(problem.b.size());
    const SolveReport report = solver.solve(problem.b.data(), x.data());
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_EQ(report.method.preconditioner, factor > 1e4 ? "multigrid" : "jacobi");
    EXPECT_EQ(remarks(report).find("because diagonal entries differ") == 0, factor > 1e4)
        << remarks(report);
  }
}

TEST_P(PreconditionedSolverTest, TakesMultigridWhereJacobiIsSlowAndKeepsIt)
{
  HostMatrix A = laplacian_1d(30001);
  A.unknowns = default_unknowns; // no nodes_along_body: JacobiForecast::iterations is 0
  const std::vector<double> b(static_cast<std::size_t>(A.n), 1.);
  LinearSolver solver = automatic("pipelined-cg");
  std::vector<int> shown;
  solver.control().progress = [&](const int iteration, double /* norm */) {
    shown.push_back(iteration);
  };
  solver.set_matrix(A.csr(), false);
  std::vector<double> x(b.size());
  const SolveReport first = solver.solve(b.data(), x.data());
  EXPECT_TRUE(first.converged()) << first.message;
  EXPECT_EQ(first.method.preconditioner, "multigrid");
  EXPECT_GE(patience_in(first), 500) << remarks(first);
  EXPECT_GT(first.iterations, patience_in(first));
  EXPECT_LT(first.iterations, patience_in(first) + 60);
  EXPECT_EQ(first.history.size(), static_cast<std::size_t>(first.iterations) + 1);
  EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end()));
  EXPECT_NEAR(first.initial_residual, first.rhs_norm, 1e-10 * first.rhs_norm);

  solver.set_matrix(A.csr(), true);
  std::vector<double> again(b.size());
  const SolveReport second = solver.solve(b.data(), again.data());
  EXPECT_TRUE(second.converged());
  EXPECT_LT(second.iterations, 60);

  const HostMatrix negative = shifted(60, 0., -1.); // multigrid cannot be set up
  solver.set_matrix(negative.csr(), false);
  x.assign(static_cast<std::size_t>(negative.n), 0.);
  const SolveReport third = solver.solve(b.data(), x.data());
  EXPECT_EQ(third.outcome, Outcome::indefinite_preconditioner);
  EXPECT_EQ(remarks(third).rfind("jacobi permanently: ", 0), 0U) << remarks(third);
}

/// Returns the finite-difference matrix of a clamped beam, whose rows are 1 -4 6 -4 1.
HostMatrix beam(const int n)
{
  HostMatrix A;
  A.n = n;
  for (int i = 0; i < n; ++i) {
    for (int j = std::max(0, i - 2); j <= std::min(n - 1, i + 2); ++j) {
      A.columns.push_back(j);
      A.values.push_back(i == j ? 6. : std::abs(i - j) == 1 ? -4. : 1.);
    }
    A.row_starts.push_back(static_cast<int>(A.columns.size()));
  }
  return A;
}

TEST_P(PreconditionedSolverTest, TakesFsaiForStructuresOfUnknownShape)
{
  HostMatrix A = generate("elasticity3d-p1:17").A;
  A.unknowns = default_unknowns;
  LinearSolver solver = automatic("pipelined-cg");
  solver.set_matrix(A.csr(), false);
  const std::vector<double> b(static_cast<std::size_t>(A.n), 1.);
  std::vector<double> x(b.size());
  const SolveReport report = solver.solve(b.data(), x.data());
  EXPECT_TRUE(report.converged()) << report.message;
  const bool is_on_host = executor->backend() == BackendKind::host;
  // A GPU allows more Jacobi iterations, so that Jacobi converges.
  EXPECT_EQ(report.method.preconditioner, is_on_host ? "fsai" : "jacobi");
  EXPECT_EQ(patience_in(report), is_on_host ? 200 : 0) << remarks(report);
}

TEST_P(PreconditionedSolverTest, TakesMultigridWhereFsaiIsNoHelp)
{
  const HostMatrix A = beam(600);
  LinearSolver solver = automatic("pipelined-cg");
  solver.set_matrix(A.csr(), false);
  const std::vector<double> b(static_cast<std::size_t>(A.n), 1.);
  std::vector<double> x(b.size());
  const SolveReport report = solver.solve(b.data(), x.data());
  EXPECT_TRUE(report.converged()) << report.message;
  // Near the end, rounding decides how fast fsai is: on some GPUs it converges, too.
  if (executor->backend() == BackendKind::cuda && report.method.preconditioner == "fsai")
    return;
  EXPECT_EQ(report.method.preconditioner, "multigrid");
  EXPECT_EQ(remarks(report).rfind("fsai ended as iteration_limit; ", 0), 0U) << remarks(report);
}

TEST_P(PreconditionedSolverTest, GoesBackToJacobiWhereMultigridIsNoHelp)
{
  const HostMatrix A = shifted(180, -0.001, 1.); // indefinite
  LinearSolver solver = automatic("minres");
  solver.set_matrix(A.csr(), false);
  const std::vector<double> b = random_vector(A.n, 3);
  std::vector<double> x(b.size());
  const SolveReport report = solver.solve(b.data(), x.data());
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_EQ(report.method.preconditioner, "jacobi");
  if (executor->backend() == BackendKind::cuda)
    return; // CUDA allows more Jacobi iterations than are needed
  EXPECT_GT(report.iterations, 500);
  EXPECT_NE(remarks(report).find("multigrid ended as indefinite_preconditioner"), std::string::npos)
      << remarks(report);
}

TEST_P(PreconditionedSolverTest, StaysWithJacobiWhereMultigridCannotBeMade)
{
  const HostMatrix A = shifted(60, 0., -1.);
  LinearSolver solver = automatic("gmres restart=5");
  solver.set_matrix(A.csr(), false);
  const std::vector<double> b = random_vector(A.n, 3);
  std::vector<double> x(b.size());
  const SolveReport report = solver.solve(b.data(), x.data());
  EXPECT_TRUE(report.converged()) << report.message;
  if (executor->backend() == BackendKind::cuda)
    return; // CUDA allows more Jacobi iterations than are needed
  EXPECT_GT(report.iterations, 500);
  EXPECT_EQ(remarks(report).rfind("jacobi permanently: ", 0), 0U) << remarks(report);
}

TEST_P(PreconditionedSolverTest, StaysWithJacobiForSolversThatNeedADiagonal)
{
  const ModelProblem problem = generate("poisson2d-5pt:64");
  LinearSolver solver = automatic("ca-gmres restart=10 s=5 powers=blocked");
  solver.control().max_iterations = 700;
  solver.set_matrix(problem.A.csr(), false);
  std::vector<double> x(problem.b.size());
  const SolveReport report = solver.solve(problem.b.data(), x.data());
  EXPECT_EQ(report.method.preconditioner, "jacobi");
  if (executor->backend() == BackendKind::cuda)
    return; // CUDA allows more Jacobi iterations than are needed
  EXPECT_NE(remarks(report).find("powers=plain"), std::string::npos) << remarks(report);
}

INSTANTIATE_TEST_SUITE_P(Backends, PreconditionedSolverTest, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
