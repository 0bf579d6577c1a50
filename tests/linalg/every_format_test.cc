#include "linalg/generators/registry.h"
#include "tests/linalg/on_backend.h"

namespace femgpu::linalg::test
{
namespace
{
/// One of each kind of matrix that products are made with.
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

/// And of M⁻¹: a diagonal, CSR, blocks, and what is made before.
constexpr const char *all_preconditioners[] = {"jacobi", "fsai", "block-jacobi block=3",
                                               "chebyshev degree=2"};

/// Each solver with all of them, so that no code for a combination goes unrun.
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
