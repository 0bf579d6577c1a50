#include "linalg/linear_solver.h"
#include "linalg/solvers/registry.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace femgpu::linalg::test
{
namespace
{
using Columns = std::vector<std::vector<double>>;

struct SolvedColumns
{
  std::vector<SolveReport> reports;
  Columns X;

  int most_iterations() const
  {
    int most = 0;
    for (const SolveReport &report : reports)
      most = std::max(most, report.iterations);
    return most;
  }
};

std::vector<double> concatenated(const Columns &columns)
{
  std::vector<double> all;
  for (const std::vector<double> &column : columns)
    all.insert(all.end(), column.begin(), column.end());
  return all;
}

Columns separated(const std::vector<double> &all, const std::size_t n_columns)
{
  Columns columns;
  const auto n = static_cast<std::ptrdiff_t>(all.size() / n_columns);
  for (std::size_t c = 0; c < n_columns; ++c)
    columns.emplace_back(all.begin() + n * static_cast<std::ptrdiff_t>(c),
                         all.begin() + n * static_cast<std::ptrdiff_t>(c + 1));
  return columns;
}

Columns random_columns(const int n, const int n_columns)
{
  return separated(random_vector(n * n_columns, 11), static_cast<std::size_t>(n_columns));
}

/// Tests LinearSolver::solve() for several right-hand sides.
class BlockCgTest : public OnBackend
{
protected:
  SolvedColumns run(const LinearSolverOptions &options, const HostMatrix &A, const Columns &B) const
  {
    LinearSolver solver(executor, options);
    solver.set_matrix(A.csr(), false);
    const std::vector<double> b = concatenated(B);
    std::vector<double> x(b.size());
    SolvedColumns solved;
    solved.reports = solver.solve(b.data(), x.data(), static_cast<int>(B.size()));
    solved.X = separated(x, B.size());
    return solved;
  }

  /// Checks that all columns have converged to the solutions.
  static void expect_solutions(const HostMatrix &A, const Columns &B, const SolvedColumns &solved,
                               const double tolerance = 1e-10)
  {
    ASSERT_EQ(solved.reports.size(), B.size());
    for (std::size_t c = 0; c < B.size(); ++c) {
      const SolveReport &report = solved.reports[c];
      EXPECT_TRUE(report.converged()) << "column " << c << ": " << report.message;
      const double residual = residual_norm(A, B[c], solved.X[c]);
      EXPECT_LE(residual, 1.001 * tolerance * norm(B[c])) << "column " << c;
      EXPECT_NEAR(report.true_residual, residual, 1e-3 * residual + 1e-14 * norm(B[c]));
      EXPECT_NEAR(report.rhs_norm, norm(B[c]), 1e-12 * norm(B[c]));
    }
  }

  /// Returns the largest number of iterations of cg for a single column.
  int worst_single(LinearSolverOptions options, const HostMatrix &A, const Columns &B) const
  {
    options.solver = "cg";
    int most = 0;
    for (const std::vector<double> &b : B)
      most = std::max(most, solve(executor, options, A, b).report.iterations);
    return most;
  }
};

TEST_P(BlockCgTest, SolvesAnyNumberOfColumnsInNoMoreIterationsThanOneByOne)
{
  const HostMatrix A = laplacian_3d(17, 18, 19);
  for (const char *const preconditioner : {"identity", "jacobi", "fsai", "multigrid"}) {
    const LinearSolverOptions options = method("block-cg", preconditioner);
    const Columns all = random_columns(A.n, 20);
    const int single = worst_single(options, A, all);
    for (const int k : {1, 2, 8, 20}) {
      SCOPED_TRACE(std::string(preconditioner) + ", " + std::to_string(k));
      const Columns B(all.begin(), all.begin() + k);
      const SolvedColumns solved = run(options, A, B);
      expect_solutions(A, B, solved);
      EXPECT_LE(solved.most_iterations(), single);
      if (k >= 8 && single > 40) {
        EXPECT_LE(solved.most_iterations(), (k == 8 ? 85 : 70) * single / 100);
      }
      for (const SolveReport &report : solved.reports) {
        EXPECT_EQ(report.method.solver, "block-cg");
        EXPECT_EQ(report.restarts, 0);
        EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
        EXPECT_LE(report.history.back(), report.target);
      }
    }
  }
}

TEST_P(BlockCgTest, MoreColumnsThanABlockAreDivided)
{
  const HostMatrix A = laplacian_3d(9, 10, 11);
  const Columns B = random_columns(A.n, 35);
  const SolvedColumns solved = run(method("block-cg", "jacobi"), A, B);
  expect_solutions(A, B, solved);
  EXPECT_NE(solved.reports[0].method.execution.find("block of 17"), std::string::npos)
      << solved.reports[0].method.execution;
}

TEST_P(BlockCgTest, DependentAndZeroColumnsDoNotBreakItDown)
{
  const HostMatrix A = laplacian_3d(15, 16, 17);
  Columns B = random_columns(A.n, 9);
  B[3] = B[1];
  B[5].assign(B[5].size(), 0.);
  for (std::size_t i = 0; i < B[0].size(); ++i) {
    B[6][i] = B[0][i] + B[1][i];
    B[7][i] = B[2][i] + 1e-6 * B[4][i];
    B[8][i] *= 1e-8;
  }
  for (const char *const preconditioner : {"jacobi", "multigrid"}) {
    const LinearSolverOptions options = method("block-cg", preconditioner);
    const SolvedColumns solved = run(options, A, B);
    expect_solutions(A, B, solved);
    EXPECT_EQ(solved.reports[5].iterations, 0);
    EXPECT_EQ(norm(solved.X[5]), 0.);
    EXPECT_LE(solved.most_iterations(), worst_single(options, A, B));
  }
  const Columns equal(6, B[0]);
  const SolvedColumns solved = run(method("block-cg", "jacobi"), A, equal);
  expect_solutions(A, equal, solved);
  const Columns zero(4, std::vector<double>(B[0].size(), 0.));
  expect_solutions(A, zero, run(method("block-cg", "jacobi"), A, zero));
}

TEST_P(BlockCgTest, ColumnsLeaveTheBlockWhenTheyHaveConverged)
{
  const int n = 20;
  const HostMatrix A = laplacian_3d(n, n, n);
  Columns B = random_columns(A.n, 6);
  for (int i = 0; i < A.n; ++i) { // an eigenvector
    const double pi = std::acos(-1.);
    const auto factor = [&](const int k) { return std::sin(pi * (k % n + 1) / (n + 1)); };
    B[1][static_cast<std::size_t>(i)] = factor(i) * factor(i / n) * factor(i / n / n);
  }
  B[4] = multiply(A, multiply(A, B[1]));
  const SolvedColumns solved = run(method("block-cg", "identity"), A, B);
  expect_solutions(A, B, solved);
  EXPECT_LE(solved.reports[1].iterations, 3);
  EXPECT_LE(solved.reports[4].iterations, 3);
  EXPECT_GE(solved.reports[0].iterations, 40);
}

TEST_P(BlockCgTest, ARepeatedSolveHasTheSameBits)
{
  const HostMatrix A = box_27(12, 13, 14);
  const Columns B = random_columns(A.n, 7);
  const LinearSolverOptions options = method("block-cg", "jacobi");
  const SolvedColumns first = run(options, A, B), second = run(options, A, B);
  EXPECT_TRUE(have_same_bits(concatenated(first.X), concatenated(second.X)));
}

TEST_P(BlockCgTest, AnIndefiniteMatrixIsReportedForEachColumn)
{
  HostMatrix A = laplacian_2d(30, 31);
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      if (A.columns[k] == i)
        A.values[k] -= 0.5;
  const SolvedColumns solved = run(method("block-cg", "identity"), A, random_columns(A.n, 4));
  for (const SolveReport &report : solved.reports)
    EXPECT_EQ(report.outcome, Outcome::indefinite_matrix) << report.message;
}

TEST_P(BlockCgTest, IterationLimitsAndInfiniteColumnsEndOnlyWhatTheyConcern)
{
  const HostMatrix A = laplacian_3d(12, 13, 14);
  Columns B = random_columns(A.n, 5);
  B[2][7] = std::numeric_limits<double>::infinity();
  LinearSolverOptions options = method("block-cg", "jacobi");
  const SolvedColumns solved = run(options, A, B);
  EXPECT_EQ(solved.reports[2].outcome, Outcome::not_finite);
  for (const std::size_t c : {0, 1, 3, 4})
    EXPECT_TRUE(solved.reports[c].converged()) << solved.reports[c].message;
  options.control.max_iterations = 7;
  for (const SolveReport &report : run(options, A, random_columns(A.n, 3)).reports) {
    EXPECT_EQ(report.outcome, Outcome::iteration_limit);
    EXPECT_EQ(report.iterations, 7);
    EXPECT_LT(report.true_residual, report.initial_residual);
  }
  options.control.max_iterations = 0;
  for (const SolveReport &report : run(options, A, random_columns(A.n, 3)).reports)
    EXPECT_EQ(report.iterations, 0);
}

TEST_P(BlockCgTest, RightHandSidesOfAnySizeAreSolved)
{
  const HostMatrix A = laplacian_2d(30, 20);
  Columns B = random_columns(A.n, 4);
  for (std::size_t i = 0; i < B[0].size(); ++i) {
    B[1][i] *= 1e200;
    B[2][i] *= 1e-200;
  }
  const SolvedColumns solved = run(method("block-cg", "jacobi"), A, B);
  for (const SolveReport &report : solved.reports)
    EXPECT_TRUE(report.converged()) << report.message;
}

TEST_P(BlockCgTest, EverySolverSolvesSeveralColumns)
{
  for (const auto &[name, meaning, make, traits] : solvers) {
    if (traits.is_direct && executor->backend() == BackendKind::cuda)
      continue; // DirectTest has these tests, if cuDSS is found
    SCOPED_TRACE(name);
    const HostMatrix A = laplacian_2d(13, 14);
    LinearSolverOptions options = method(name, "auto", 1e-8);
    if (std::string(name) == "richardson")
      options.preconditioner = "multigrid";
    options.scaling = "symmetric";
    options.ordering = "rcm";
    const Columns B = random_columns(A.n, 3);
    const SolvedColumns solved = run(options, A, B);
    for (std::size_t c = 0; c < B.size(); ++c) {
      EXPECT_TRUE(solved.reports[c].converged()) << solved.reports[c].message;
      EXPECT_LE(residual_norm(A, B[c], solved.X[c]), 1e-7 * norm(B[c]));
    }
  }
}

TEST_P(BlockCgTest, TwoRanksSolveTheSameColumns)
{
  const HostMatrix A = laplacian_3d(14, 15, 16);
  const Columns B = random_columns(A.n, 6);
  for (const char *const preconditioner : {"jacobi", "multigrid"}) {
    const LinearSolverOptions options = method("block-cg", preconditioner);
    const SolvedColumns single = run(options, A, B);
    const std::vector<LocalMatrix> matrices = cut_matrix(A, {0, A.n / 3, A.n});
    SolvedColumns solved{{}, Columns(B.size(), std::vector<double>(B[0].size()))};
    std::vector<std::vector<SolveReport>> reports(2);
    run_on_ranks(2, [&](const int p, const auto &communicator) {
      const LocalMatrix &own = matrices[static_cast<std::size_t>(p)];
      LinearSolver solver(make_executor(GetParam()), options, communicator);
      HostCsr rows = own.rows.csr();
      rows.ghosts = &own.ghosts;
      solver.set_matrix(rows, false);
      std::vector<double> b;
      for (const std::vector<double> &column : B)
        b.insert(b.end(), column.begin() + own.begin, column.begin() + own.end);
      std::vector<double> x(b.size());
      reports[static_cast<std::size_t>(p)] =
          solver.solve(b.data(), x.data(), static_cast<int>(B.size()));
      const Columns own_X = separated(x, B.size());
      for (std::size_t c = 0; c < B.size(); ++c)
        std::copy(own_X[c].begin(), own_X[c].end(), solved.X[c].begin() + own.begin);
    });
    solved.reports = reports[0];
    expect_solutions(A, B, solved);
    for (std::size_t c = 0; c < B.size(); ++c) {
      EXPECT_EQ(reports[0][c].iterations, reports[1][c].iterations);
      EXPECT_TRUE(have_same_bits(reports[0][c].history, reports[1][c].history));
      if (std::string(preconditioner) == "jacobi") {
        EXPECT_NEAR(reports[0][c].iterations, single.reports[c].iterations, 2);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, BlockCgTest, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
