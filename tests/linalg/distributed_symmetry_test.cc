#include "linalg/execution/host/executor.h"
#include "linalg/sparse/symmetry.h"

#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <memory>
#include <vector>

/**
 * @file
 * Tests the symmetry check of a distributed matrix, including entries that couple subdomains.
 */
namespace femgpu::linalg::test
{
namespace
{
/// Returns the result of the symmetry check on each rank.
std::vector<int> answers(const HostMatrix &A, const std::vector<int> &starts)
{
  const std::vector<LocalMatrix> matrices = cut_matrix(A, starts);
  std::vector<int> found(matrices.size());
  run_on_ranks(static_cast<int>(matrices.size()), [&](const int p, const auto &communicator) {
    const auto rank = static_cast<std::size_t>(p);
    const ExecutorPtr executor = std::make_shared<HostExecutor>(1);
    const auto range = std::make_shared<RowSpace>(executor, matrices[rank].rows.n, communicator);
    const CsrMatrix own(range, std::make_shared<RowSpace>(*range, matrices[rank].ghosts),
                        matrices[rank].rows.csr());
    found[rank] = equals_transpose<HostBackend>(own) ? 1 : 0;
  });
  return found;
}

double &entry(HostMatrix &A, const int i, const int j)
{
  const auto begin = A.columns.begin() + A.row_starts[i];
  return A.values[std::find(begin, A.columns.begin() + A.row_starts[i + 1], j) - A.columns.begin()];
}

HostMatrix without_entry(const HostMatrix &A, const int i, const int j)
{
  HostMatrix result;
  for (int row = 0; row < A.n; ++row) {
    for (int k = A.row_starts[row]; k < A.row_starts[row + 1]; ++k)
      if (row != i || A.columns[k] != j)
        result.add(A.columns[k], A.values[k]);
    result.end_row();
  }
  result.unknowns = A.unknowns;
  return result;
}

const std::vector<std::vector<int>> cuts = {{0, 1, 35}, {0, 14, 35}, {0, 7, 7, 21, 28, 35}};

TEST(PartsOfSymmetry, SymmetricMatricesAre)
{
  HostMatrix A = laplacian_2d(7, 5);
  entry(A, 13, 14) *= 1. + 1e-15; // a difference of rounding, which must be ignored
  for (const std::vector<int> &starts : cuts)
    EXPECT_EQ(answers(A, starts), std::vector<int>(starts.size() - 1, 1));
  const HostMatrix other = random_spd(300, 20, 3);
  EXPECT_EQ(answers(other, uneven(other)), std::vector<int>(4, 1));
}

// Row 0 is coupled with rows 1 and 7, and row 13 with row 20. Couplings across borders of
// subdomains must be compared, too.
TEST(PartsOfSymmetry, OneEntryThatCouplesPartsIsCompared)
{
  const HostMatrix A = laplacian_2d(7, 5);
  for (const auto &[i, j] : {std::pair{0, 7}, {7, 0}, {13, 20}, {20, 13}, {0, 1}}) {
    HostMatrix other = A;
    entry(other, i, j) *= 1. + 1e-9;
    for (const std::vector<int> &starts : cuts) {
      EXPECT_EQ(answers(other, starts), std::vector<int>(starts.size() - 1, 0)) << i << ", " << j;
      EXPECT_EQ(answers(without_entry(A, i, j), starts), std::vector<int>(starts.size() - 1, 0))
          << i << ", " << j;
    }
  }
}

TEST(PartsOfSymmetry, TheScaleIsThatOfTheLargerRow)
{
  HostMatrix A = laplacian_2d(7, 5);
  entry(A, 7, 7) = 1e5;
  entry(A, 0, 7) = -1. - 1e-9;
  for (const std::vector<int> &starts : cuts)
    EXPECT_EQ(answers(A, starts), std::vector<int>(starts.size() - 1, 1));
}

TEST(PartsOfSymmetry, MultigridDoesNotSmoothProlongationsIfOnlyTheCouplingOfPartsIsUnsymmetric)
{
  ModelProblem problem = generate("poisson2d-5pt:40");
  for (int j = 0; j < 40; ++j)
    entry(problem.A, 800 + j, 760 + j) *= 0.5;
  for (const std::vector<int> &starts : {std::vector<int>{0, 1600}, {0, 800, 1600}}) {
    const auto [reports, x] =
        solve_on_ranks(method("bicgstab", "multigrid"), problem.A, problem.b, {}, starts);
    for (const SolveReport &report : reports) {
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_NE(report.method.setup.remarks.find("unsymmetric"), std::string::npos)
          << report.method.setup.remarks;
    }
  }
}
} // namespace
} // namespace femgpu::linalg::test
