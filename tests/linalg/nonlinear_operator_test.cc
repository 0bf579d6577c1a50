#include "linalg/execution/host/executor.h"
#include "linalg/execution/make_executor.h"
#include "tests/linalg/diffusion_equation.h"
#include "tests/linalg/on_backend.h"

namespace femgpu::linalg::test
{
namespace
{
constexpr int m = 17;

TEST(NonlinearOperator, IsSolvedByItsResidualAndJacobian)
{
  const CsrMatrix A(make_executor("host"), laplacian_1d(m).csr());
  check_methods<HostBackend>(A);
}

TEST(NonlinearOperator, IsTracedByItsDerivativeToo)
{
  const CsrMatrix A(make_executor("host"), laplacian_1d(m).csr());
  check_branch<HostBackend>(A);
}

/// A part of the Laplacian.
CsrMatrix matrix_of(const MatrixPart &part, const std::shared_ptr<const Communicator> &communicator)
{
  const auto executor = std::make_shared<HostExecutor>(1);
  const auto range = std::make_shared<RowSpace>(executor, part.end - part.begin, communicator);
  return {range, std::make_shared<RowSpace>(*range, part.ghosts), part.rows.csr()};
}

TEST(NonlinearOperator, MayBeInParts)
{
  const std::vector<MatrixPart> parts = cut_matrix(laplacian_1d(m), {0, 5, 5, m});
  run_parts(3, [&](const int p, const auto &communicator) {
    const CsrMatrix A = matrix_of(parts[static_cast<std::size_t>(p)], communicator);
    check_methods<HostBackend>(A);
    check_branch<HostBackend>(A);
  });
}

TEST(NonlinearOperator, SemilinearEquationsMayBeInPartsToo)
{
  const HostMatrix whole = laplacian_1d(m);
  const std::vector<MatrixPart> parts = cut_matrix(whole, {0, 5, m});
  for (const std::string method : {"newton", "nlcg"}) {
    std::vector<SolveReport> reports(3);
    const auto solve_with = [&](const CsrMatrix &A, SolveReport &report) {
      LinearSolverOptions linear;
      linear.solver = "cg";
      Buffer<double> w = A.domain()->make_vector(), b = A.domain()->make_vector();
      Buffer<double> x = A.domain()->make_vector();
      const std::vector<double> weights(w.size(), 1. / ((m + 1.) * (m + 1.)));
      w.copy_from_host(weights.data());
      b.fill_zero();
      x.fill_zero();
      const SemilinearEquation equation(A, w, b, {ExponentialLaw{}, 2.});
      const auto solver = make_nonlinear_method(method, linear, BackendKind::host);
      solver->setup(equation, /* same pattern */ false);
      report = solver->solve(equation, x, {});
    };
    solve_with(CsrMatrix(make_executor("host"), whole.csr()), reports[2]);
    run_parts(2, [&](const int p, const auto &communicator) {
      const auto part = static_cast<std::size_t>(p);
      solve_with(matrix_of(parts[part], communicator), reports[part]);
    });
    for (const SolveReport &report : reports) {
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_EQ(report.iterations, reports[2].iterations) << method;
      EXPECT_NEAR(report.rhs_norm, reports[2].rhs_norm, 1e-14);
    }
  }
}
} // namespace
} // namespace femgpu::linalg::test
