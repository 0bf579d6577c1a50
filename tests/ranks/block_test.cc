#include "linalg/linear_solver.h"
#include "linalg/matrices/multi_product.h"
#include "linalg/operators/csr_matrix.h"
#include "tests/linalg/test_matrices.h"
#include "tests/ranks/ranks.h"

#include <cstddef>
#include <memory>

namespace femgpu::linalg::test
{
namespace
{
/// Returns the rows of @p own of @p n_columns columns of length @p n.
std::vector<double> own_rows(const std::vector<double> &columns, const std::size_t n,
                             const LocalMatrix &own)
{
  std::vector<double> rows;
  for (std::size_t begin = 0; begin < columns.size(); begin += n) {
    const auto column = columns.begin() + static_cast<std::ptrdiff_t>(begin);
    rows.insert(rows.end(), column + own.begin, column + own.end);
  }
  return rows;
}

TEST_P(RanksOn, MultiplySeveralVectors)
{
  const HostMatrix A = box_27(9, 10, 11);
  const auto n = static_cast<std::size_t>(A.n);
  const LocalMatrix own = cut_matrix(A, rank_starts(A))[static_cast<std::size_t>(own_rank())];
  for (const std::string &name : communicators())
    for (const int k : {1, 2, 3, 8, 17}) {
      SCOPED_TRACE(name + ", " + std::to_string(k));
      const auto range = std::make_shared<RowSpace>(executor, own.rows.n, communicator(name));
      const CsrMatrix own_A(range, std::make_shared<RowSpace>(*range, own.ghosts), own.rows.csr());
      const std::vector<double> x = random_vector(A.n * k, 5);
      const std::vector<double> own_x = own_rows(x, n, own);
      MultiVector<double> X(own_A.domain(), k), Y(own_A.range(), k);
      const auto own_n = static_cast<std::size_t>(own.rows.n);
      X.copy_columns_from_host(own_x.data(), own_n);
      multiply(own_A, X, Y);
      std::vector<double> y(own_x.size());
      Y.copy_columns_to_host(y.data(), own_n);
      for (int c = 0; c < k; ++c) {
        const std::vector<double> column(x.begin() + A.n * c, x.begin() + A.n * (c + 1));
        const std::vector<double> expected = own_rows(multiply(A, column), n, own);
        for (std::size_t i = 0; i < own_n; ++i)
          ASSERT_NEAR(y[own_n * static_cast<std::size_t>(c) + i], expected[i], 1e-13);
      }
    }
}

TEST_P(RanksOn, SolveSeveralRightHandSidesWithAnyCommunicator)
{
  const HostMatrix A = laplacian_3d(14, 15, 16);
  const auto n = static_cast<std::size_t>(A.n);
  const LocalMatrix own = cut_matrix(A, rank_starts(A))[static_cast<std::size_t>(own_rank())];
  constexpr int n_columns = 5;
  const std::vector<double> b = own_rows(random_vector(A.n * n_columns, 5), n, own);
  for (const char *const preconditioner : {"jacobi", "multigrid"}) {
    std::vector<double> first_x;
    for (const std::string &name : communicators()) {
      SCOPED_TRACE(name + ", " + preconditioner);
      LinearSolver solver(executor, methods("block-cg", preconditioner), communicator(name));
      HostCsr rows = own.rows.csr();
      rows.ghosts = &own.ghosts;
      solver.set_matrix(rows, false);
      std::vector<double> x(b.size());
      for (const SolveReport &report : solver.solve(b.data(), x.data(), n_columns)) {
        EXPECT_TRUE(report.converged()) << report.message;
        EXPECT_LE(report.original.residual, 1.01 * report.target);
      }
      if (first_x.empty())
        first_x = x;
      EXPECT_TRUE(have_same_bits(x, first_x));
    }
  }
}
} // namespace
} // namespace femgpu::linalg::test
