#include "linalg/mpi/distributed_linear_solver.h"
#include "tests/linalg/test_matrices.h"
#include "tests/ranks/ranks.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace femgpu::linalg::test
{
namespace
{
/// Returns the rows of A from @p first to @p end, with global columns.
HostMatrix rows_between(const HostMatrix &A, const int first, const int end)
{
  HostMatrix rows;
  for (int i = first; i < end; ++i) {
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      rows.add(A.columns[k], A.values[k]);
    rows.end_row();
  }
  return rows;
}

/// Returns the elements of @p v that belong to this rank's rows.
/// @param starts first row of each rank, then the number of rows
std::vector<double> own_elements(const std::vector<double> &v, const std::vector<int> &starts)
{
  return {v.begin() + starts[own_rank()], v.begin() + starts[own_rank() + 1]};
}

class DistributedSolver : public testing::Test
{
protected:
  HostMatrix own_rows() const
  {
    return rows_between(A, starts[own_rank()], starts[own_rank() + 1]);
  }
  /// Solves from 0 and checks the residual.
  SolveReport solve(DistributedLinearSolver &solver) const
  {
    std::vector<double> x(own_elements(problem.b, starts).size());
    SolveReport report = solver.solve(own_elements(problem.b, starts).data(), x.data());
    std::vector<double> all_x(problem.b.size());
    std::copy(x.begin(), x.end(), all_x.begin() + starts[own_rank()]);
    MPI_Allreduce(MPI_IN_PLACE, all_x.data(), static_cast<int>(all_x.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    EXPECT_LE(residual_norm(A, problem.b, all_x), 1.01 * report.target);
    return report;
  }

  const ModelProblem problem = generate("elasticity3d-p1:8");
  HostMatrix A = problem.A;
  const std::vector<int> starts = rank_starts(A, 3);
};

TEST_F(DistributedSolver, TransfersOnlyNewValues)
{
  DistributedLinearSolver solver(MPI_COMM_WORLD, "host", methods("cg", "jacobi"));
  solver.set_rows(own_rows());
  const SolveReport first = solve(solver);
  EXPECT_TRUE(first.converged()) << first.message;
  solver.set_rows(own_rows());
  EXPECT_EQ(solve(solver).costs.setup_seconds, 0.);
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      A.values[k] *= A.columns[k] == i ? 1.5 : 1.;
  solver.set_rows(own_rows());
  const SolveReport updated = solve(solver);
  EXPECT_TRUE(updated.converged()) << updated.message;
  EXPECT_LT(updated.iterations, first.iterations);
  EXPECT_EQ(solver.n_patterns(), 1);

  DistributedLinearSolver fresh(MPI_COMM_WORLD, "host", methods("cg", "jacobi"));
  fresh.set_rows(own_rows());
  EXPECT_EQ(solve(fresh).iterations, updated.iterations);
}

TEST_F(DistributedSolver, SetsANewPatternIfOneRankHasOne)
{
  DistributedLinearSolver solver(MPI_COMM_WORLD, "host", methods("cg", "jacobi"));
  solver.set_rows(own_rows());
  HostMatrix other;
  for (int i = 0; i < A.n; ++i) {
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      if (i > 2 || A.columns[k] == i)
        other.add(A.columns[k], A.values[k]);
    other.end_row();
  }
  for (int i = 3; i < A.n; ++i) // keep the matrix symmetric
    for (int k = other.row_starts[i]; k < other.row_starts[i + 1]; ++k)
      other.values[k] *= other.columns[k] > 2 ? 1. : 0.;
  A = other;
  solver.set_rows(own_rows());
  EXPECT_TRUE(solve(solver).converged());
  EXPECT_EQ(solver.n_patterns(), 2);
}

TEST_F(DistributedSolver, UsesTheRigidBodyModesOfEachRank)
{
  const std::vector<double> &all = problem.A.unknowns->coordinates;
  const auto iterations = [&](const bool with_modes) {
    HostMatrix rows = own_rows();
    Unknowns unknowns;
    unknowns.per_node = 3;
    unknowns.n_near_null = with_modes ? 6 : 3;
    for (int i = starts[own_rank()]; i < starts[own_rank() + 1]; ++i)
      for (int c = 0; c < unknowns.n_near_null; ++c) {
        const int a = (c + 1) % 3, b = (c + 2) % 3, of = i % 3;
        const double *const x = all.data() + 3 * static_cast<std::size_t>(i);
        unknowns.near_null.push_back(c < 3     ? (of == c ? 1. : 0.)
                                     : of == a ? -x[b]
                                     : of == b ? x[a]
                                               : 0.);
      }
    rows.unknowns = std::make_shared<const Unknowns>(std::move(unknowns));
    DistributedLinearSolver solver(MPI_COMM_WORLD, "host", methods("cg", "multigrid coarsest=40"));
    solver.set_rows(std::move(rows));
    const SolveReport report = solve(solver);
    EXPECT_TRUE(report.converged()) << report.message;
    return report.iterations;
  };
  EXPECT_LT(iterations(true), 0.8 * iterations(false));
}

TEST_F(DistributedSolver, NeedsANewMatrixAfterAFailure)
{
  DistributedLinearSolver solver(MPI_COMM_WORLD, "host", methods("cg", "multigrid"));
  const HostMatrix good = A;
  for (double &value : A.values)
    value = -value;
  EXPECT_THROW(solver.set_rows(own_rows()), SolverError);
  EXPECT_THROW(solver.set_rows(own_rows()), SolverError); // does not take them for unchanged
  A = good;
  solver.set_rows(own_rows());
  EXPECT_TRUE(solve(solver).converged());
}

TEST(DistributedSolverOfOneProcess, NeedsNoCommunicator)
{
  const ModelProblem problem = generate("poisson2d-5pt:20");
  DistributedLinearSolver solver(MPI_COMM_NULL, "host", methods("cg", "jacobi"));
  std::vector<double> x(problem.b.size());
  for (int k = 0; k < 2; ++k) {
    solver.set_rows(problem.A);
    const SolveReport report = solver.solve(problem.b.data(), x.data());
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_EQ(report.costs.setup_seconds > 0., k == 0);
  }
  EXPECT_EQ(solver.n_patterns(), 1);
}
} // namespace
} // namespace femgpu::linalg::test
