#include "linalg/nonlinear/expression_reaction.h"
#include "linalg/nonlinear_solver.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

namespace femgpu::linalg::test
{
namespace
{
/// The matrix formats, one for each kind of product kernel.
constexpr const char *all_formats[] = {"csr",
                                       "csr values=float",
                                       "ellr-t threads=2",
                                       "ellr-t values=float",
                                       "sell",
                                       "sell values=float",
                                       "sell columns=short",
                                       "sell columns=short values=float",
                                       "bsr block=3",
                                       "bsr block=3 values=float",
                                       "bsell block=3",
                                       "bsell block=3 values=float",
                                       "coo"};

/// The preconditioners, one for each kind of action of M⁻¹: a diagonal, a CSR matrix, blocks, and
/// an action that is computed before the kernel of the solver.
constexpr const char *all_preconditioners[] = {"jacobi", "fsai", "block-jacobi block=3",
                                               "chebyshev degree=2"};

/// Tests each solver with all formats and preconditioners, so that the code of every combination
/// runs.
class EveryFormatTest : public OnBackendWithSolver
{};

TEST_P(EveryFormatTest, AndPreconditionerGivesTheSolution)
{
  const ModelProblem problem = generate("elasticity3d-p1:4");
  const HostMatrix &A = problem.A;
  const std::vector<double> x = random_vector(A.n, 3), b = multiply(A, x);
  for (const char *const format : all_formats)
    for (const char *const preconditioner : all_preconditioners) {
      SCOPED_TRACE(std::string(format) + ", " + preconditioner);
      LinearSolverOptions options = method(solver, preconditioner, 1e-10);
      options.format = format;
      options.control.execution = Execution::graph;
      const Solved solved = run(options, A, b);
      ASSERT_TRUE(solved.report.converged()) << solved.report.message;
      EXPECT_LE(residual_norm(A, b, solved.x), 1.01e-10 * norm(b));
    }
}

/// Tests methods that are not Krylov solvers but multiply by A in kernels of their own.
class EveryFormatOnBackend : public OnBackend
{};

TEST_P(EveryFormatOnBackend, IsSmoothedByMultigrid)
{
  const ModelProblem problem = generate("elasticity3d-p1:4");
  for (const char *const format : all_formats)
    for (const char *const multigrid : {"multigrid coarsest=40", "multigrid values=double"}) {
      LinearSolverOptions options = method("cg", multigrid, 1e-9);
      options.format = format;
      const Solved solved = solve(executor, options, problem.A, problem.b);
      EXPECT_TRUE(solved.report.converged()) << format << ": " << solved.report.message;
      EXPECT_LE(residual_norm(problem.A, problem.b, solved.x), 1.01e-9 * norm(problem.b)) << format;
    }
}

TEST_P(EveryFormatOnBackend, IsMultipliedByRichardsonsIteration)
{
  HostMatrix A = generate("elasticity3d-p1:4").A;
  for (int i = 0; i < A.n; ++i) // a large diagonal makes the iteration converge
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      A.values[k] *= A.columns[k] == i ? 5. : 1.;
  const std::vector<double> x = random_vector(A.n, 2), b = multiply(A, x);
  for (const char *const format : all_formats)
    for (const char *const preconditioner : {"jacobi", "sai"}) {
      LinearSolverOptions options = method("richardson", preconditioner, 1e-10);
      options.format = format;
      const Solved solved = solve(executor, options, A, b);
      ASSERT_TRUE(solved.report.converged()) << format << ": " << solved.report.message;
      EXPECT_LE(residual_norm(A, b, solved.x), 1.01e-10 * norm(b)) << format;
    }
}

TEST_P(EveryFormatOnBackend, IsMultipliedByTwoStagePreconditioners)
{
  const ModelProblem problem = generate("elasticity3d-p1:4");
  for (const char *const format : all_formats) {
    LinearSolverOptions options = method("bicgstab", "two-stage outer=2 blocks=2", 1e-9);
    options.format = format;
    const Solved solved = solve(executor, options, problem.A, problem.b);
    SCOPED_TRACE(format);
    ASSERT_TRUE(solved.report.converged()) << solved.report.message;
    EXPECT_LE(residual_norm(problem.A, problem.b, solved.x), 1.01e-9 * norm(problem.b));
  }
}

TEST_P(EveryFormatOnBackend, IsChosenByAuto)
{
  const ModelProblem problem = generate("elasticity3d-p1:4");
  for (const char *const format : {"auto", "auto values=float"}) {
    LinearSolverOptions options = method("cg", "jacobi", 1e-9);
    options.format = format;
    const Solved solved = solve(executor, options, problem.A, problem.b);
    EXPECT_TRUE(solved.report.converged()) << format << ": " << solved.report.message;
  }
}

/// Tests Newton's method and nonlinear conjugate gradients, with compiled and with interpreted
/// reaction terms.
TEST_P(EveryFormatOnBackend, IsMultipliedByNonlinearMethods)
{
  const HostMatrix A = laplacian_3d(6, 6, 6);
  const std::vector<double> b(static_cast<std::size_t>(A.n)), w(b.size(), 1. / 49.);
  const auto solved = [&](const char *const format, const char *const preconditioner,
                          const ReactionTerm &reaction, const char *const nlcg = "nlcg") {
    NonlinearSolverOptions options;
    options.method = nlcg;
    options.linear = method("cg", preconditioner);
    options.linear.format = format;
    options.control.relative_tolerance = 1e-9;
    NonlinearSolver solver(executor, options);
    std::vector<double> x(b.size());
    solver.set_system(A.csr(), w.data(), false);
    const SolveReport report = solver.solve({reaction, 4.}, b.data(), x.data());
    EXPECT_TRUE(report.converged()) << format << ", " << preconditioner << ": " << report.message;
    return x;
  };
  const ReactionTerm reactions[] = {ExponentialReaction{},
                                    make_expression_reaction("exp(u)", "exp(u)")};
  const std::vector<double> reference = solved("csr", "jacobi", reactions[0]);
  for (const ReactionTerm &reaction : reactions) {
    for (const char *const format : all_formats)
      EXPECT_LT(relative_difference(solved(format, "jacobi", reaction), reference), 1e-7) << format;
    for (const char *const preconditioner : all_preconditioners)
      for (const char *const nlcg : {"nlcg", "nlcg beta=polak-ribiere"})
        EXPECT_LT(relative_difference(solved("csr", preconditioner, reaction, nlcg), reference),
                  1e-7);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, EveryFormatOnBackend, backends(), backend_name);

INSTANTIATE_TEST_SUITE_P(
    Solvers, EveryFormatTest,
    testing::Combine(backends(),
                     testing::Values("cg", "pipelined-cg", "chronopoulos-gear-cg", "minres",
                                     "bicgstab", "pipelined-bicgstab", "bicgstab-l", "idr", "gmres",
                                     "gmres orthogonalisation=mgs", "fgmres", "pipelined-gmres",
                                     "ca-gmres s=4")),
    words);
} // namespace
} // namespace femgpu::linalg::test
