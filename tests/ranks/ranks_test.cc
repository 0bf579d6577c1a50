#include "linalg/mpi/distribution.h"
#include "linalg/mpi/long_messages.h"
#include "linalg/nonlinear_solver.h"
#include "tests/linalg/test_matrices.h"
#include "tests/ranks/ranks.h"

#include <algorithm>
#include <cstdlib>

namespace femgpu::linalg::test
{
namespace
{
/// Checks all solvers with the preconditioners of preconditioners(). With every communicator, a
/// solve must take as many iterations as one distributed over threads of the host, and the
/// communicators of a backend must give the same bits if no loop is resident (one kernel for the
/// whole loop).
TEST_P(RanksOn, TakeTheIterationsOfPartsWithAnyCommunicator)
{
  for (const std::string &solver : distributed_solvers()) {
    const ModelProblem problem = problem_for(solver);
    for (const std::string &preconditioner : preconditioners()) {
      LinearSolverOptions options = methods(solver, preconditioner);
      options.control.execution = Execution::graph;
      const SolvedOnRanks expected =
          solve_on_ranks(options, problem.A, problem.b, {}, rank_starts(problem.A));
      std::vector<double> first_x, first_history;
      for (const std::string &name : communicators()) {
        SCOPED_TRACE(solver + " with " + preconditioner + ", " + name);
        std::vector<double> x;
        const SolveReport report = solve(options, problem.A, problem.b, name, x);
        EXPECT_EQ(report.outcome, expected.reports[0].outcome) << report.message;
        EXPECT_LE(std::abs(report.iterations - expected.reports[0].iterations),
                  2 + expected.reports[0].iterations / 5); // triangular solves differ
        EXPECT_EQ(report.method.communicator, name);
        if (executor->backend() == BackendKind::cuda &&
            solver != "ca-gmres") { // ca-gmres reports its blocks instead
          EXPECT_EQ(report.method.execution, name == "peers" ? "graph" : "driven by the host");
        }
        if (report.converged()) {
          EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * report.target);
        }
        if (first_x.empty()) {
          first_x = x;
          first_history = report.history;
        }
        EXPECT_TRUE(have_same_bits(x, first_x));
        EXPECT_TRUE(have_same_bits(report.history, first_history));
      }
    }
  }
}

/// Checks that loops in one kernel per GPU take as many iterations as graphs, also if graphs have
/// run in between, and that they repeat bitwise.
TEST_P(RanksOn, KeepTheirRowsOnTheChip)
{
  const auto names = communicators();
  if (std::find(names.begin(), names.end(), "peers") == names.end())
    GTEST_SKIP() << "no peers";
  const std::string large = "poisson2d-9pt:520", of_a_basis = "pipelined-gmres";
  for (const std::string &system :
       {std::string("poisson2d-5pt:120"), std::string("poisson3d-27pt:30"), large})
    for (const std::string solver : {"cg", "pipelined-cg", "chronopoulos-gear-cg", "minres",
                                     "bicgstab", "pipelined-bicgstab", "pipelined-gmres"}) {
      if (system == large && solver == of_a_basis) // its basis does not fit
        continue;
      SCOPED_TRACE(system + ", " + solver);
      const ModelProblem problem = generate(system);
      LinearSolverOptions options = methods(solver, "jacobi");
      std::vector<double> x, again, of_graph;
      options.control.execution = Execution::automatic;
      const SolveReport report = solve(options, problem.A, problem.b, "peers", x);
      options.control.execution = Execution::graph;
      const SolveReport graph = solve(options, problem.A, problem.b, "peers", of_graph);
      options.control.execution = Execution::automatic;
      solve(options, problem.A, problem.b, "peers", again);
      EXPECT_NE(report.method.execution.find("resident"), std::string::npos)
          << report.method.execution;
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * report.target);
      EXPECT_LE(std::abs(report.iterations - graph.iterations), 2 + graph.iterations / 5);
      EXPECT_TRUE(have_same_bits(x, again));
      EXPECT_GT(report.costs.communication.exchanges,
                static_cast<std::size_t>(report.iterations) / 2);
    }
}

/// Solves 4 x_i − x_{i−1} = b_i: each rank needs a row of the previous rank, which needs no row in
/// return.
TEST_P(RanksOn, NeedNotBothHaveGhosts)
{
  HostMatrix A;
  for (int i = 0; i < 30000; ++i) {
    if (i > 0)
      A.add(i - 1, -1.);
    A.add(i, 4.);
    A.end_row();
  }
  const std::vector<double> b = random_vector(A.n, 1);
  for (const std::string &name : communicators())
    for (const char *const solver : {"bicgstab", "pipelined-bicgstab", "pipelined-gmres"})
      for (const Execution execution : {Execution::automatic, Execution::graph}) {
        SCOPED_TRACE(name + ", " + solver);
        LinearSolverOptions options = methods(solver, "jacobi");
        options.control.execution = execution;
        std::vector<double> x;
        const SolveReport report = solve(options, A, b, name, x);
        EXPECT_TRUE(report.converged()) << report.message;
        EXPECT_LE(residual_norm(A, b, x), 1.01 * report.target);
      }
}

/// The last rank has no rows, and launches fewer kernels than the others.
TEST_P(RanksOn, MayHaveNoRows)
{
  const ModelProblem problem = generate("poisson2d-5pt:60");
  const int n = problem.A.n;
  std::vector<int> starts = {0};
  for (int rank = 1; rank < n_ranks(); ++rank)
    starts.push_back(n * rank / std::max(1, n_ranks() - 1));
  starts.push_back(n);
  for (const char *const solver : {"pipelined-cg", "gmres"})
    for (const char *const preconditioner :
         {"jacobi", "chebyshev degree=4", "chebyshev degree=12", "multigrid"})
      for (const std::string &name : communicators()) {
        SCOPED_TRACE(std::string(solver) + " with " + preconditioner + ", " + name);
        LinearSolverOptions options = methods(solver, preconditioner);
        options.control.execution = Execution::graph;
        std::vector<double> x;
        const SolveReport report = solve(options, problem.A, problem.b, name, x, starts);
        EXPECT_TRUE(report.converged()) << report.message;
        EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * report.target);
      }
}

TEST_P(RanksOn, HaveMultigridOfAllRows)
{
  for (const char *const system : {"poisson3d-27pt:14", "elasticity3d-p1:6", "poisson2d-5pt:80"}) {
    const ModelProblem problem = generate(system);
    const int block = problem.A.csr().node_size();
    for (const char *const options : {"multigrid", "multigrid cycle=W smoother=block-jacobi"})
      for (const std::string &name : communicators()) {
        SCOPED_TRACE(std::string(system) + ", " + options + ", " + name);
        std::vector<double> x, again;
        const LinearSolverOptions both = methods("pipelined-cg", options);
        const SolveReport report = solve(both, problem.A, problem.b, name, x, block);
        EXPECT_TRUE(report.converged()) << report.message;
        EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * report.target);
        solve(both, problem.A, problem.b, name, again, block);
        EXPECT_TRUE(have_same_bits(x, again));
      }
  }
}

TEST_P(RanksOn, HaveAMatrixInAnyFormat)
{
  const ModelProblem problem = generate("elasticity3d-p1:5");
  for (const char *const format :
       {"csr", "csr values=float", "ellr-t", "sell columns=short", "coo", "pcsr", "bsr", "bsell"})
    for (const std::string &name : communicators()) {
      SCOPED_TRACE(std::string(format) + ", " + name);
      LinearSolverOptions options = methods("pipelined-cg", "jacobi");
      options.format = format;
      std::vector<double> x;
      const SolveReport report = solve(options, problem.A, problem.b, name, x, /* block */ 3);
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * report.target);
    }
}

TEST_P(RanksOn, SolveNonlinearProblems)
{
  const ModelProblem problem = generate("poisson2d-5pt:40");
  const std::vector<int> starts = rank_starts(problem.A);
  const LocalMatrix local = cut_matrix(problem.A, starts)[static_cast<std::size_t>(own_rank())];
  const auto n = static_cast<std::size_t>(local.rows.n);
  const std::vector<double> weights(n, 1. / 41. / 41.), b(n);
  const std::pair<const char *, const char *> pairs[] = {
      {"newton", "multigrid"}, {"newton", "fsai power=2"}, {"nlcg", "jacobi"},
      {"nlcg", "ilu"},         {"nlcg", "fsai"},           {"nlcg", "fsai power=2"}};
  for (const auto &[method, preconditioner] : pairs) {
    std::vector<double> first;
    for (const std::string &name : communicators()) {
      SCOPED_TRACE(std::string(method) + " with " + preconditioner + ", " + name);
      NonlinearSolverOptions options;
      options.method = method;
      options.linear = methods("pipelined-cg", preconditioner);
      options.control.relative_tolerance = 1e-9;
      NonlinearSolver solver(executor, options, communicator(name));
      HostCsr A = local.rows.csr();
      A.ghosts = &local.ghosts;
      solver.set_system(A, weights.data(), false);
      std::vector<double> x(n);
      const SolveReport report = solver.solve({ExponentialReaction{}, 4.}, b.data(), x.data());
      EXPECT_TRUE(report.converged()) << report.message;
      if (first.empty())
        first = x;
      EXPECT_TRUE(have_same_bits(x, first));
    }
  }
}

TEST_P(RanksOn, RefuseACommunicatorThatCannotBe)
{
  if (executor->backend() == BackendKind::cuda)
    GTEST_SKIP() << "has peers";
  for (const std::string name : {"peers", "nccl"})
    try {
      make_communicator(MPI_COMM_WORLD, executor, name);
      FAIL();
    }
    catch (const ParameterError &error) {
      EXPECT_NE(std::string(error.what())
                    .find("Communicator '" + name +
                          "' is unavailable: not all solver groups have a GPU. Use communicator "
                          "auto or mpi."),
                std::string::npos)
          << error.what();
    }
  EXPECT_EQ(make_communicator(MPI_COMM_WORLD, executor, "auto")->name(), "mpi");
  EXPECT_THROW(check_communicator("pigeons"), ParameterError);
}

INSTANTIATE_TEST_SUITE_P(Backends, RanksOn, testing::Values("host", "cuda"),
                         [](const auto &info) { return info.param; });

TEST(LongMessages, AreGatheredInPieces)
{
  for (const std::size_t n : {0, 1, 6, 7, 8, 20}) {
    std::vector<unsigned char> mine(n), all(n * static_cast<std::size_t>(n_ranks()));
    for (std::size_t k = 0; k < n; ++k)
      mine[k] = static_cast<unsigned char>(10 * static_cast<std::size_t>(own_rank()) + k);
    allgather_equal(mine.data(), n, all.data(), MPI_COMM_WORLD, 7);
    for (std::size_t k = 0; k < all.size(); ++k)
      EXPECT_EQ(all[k], 10 * (k / n) + k % n);
  }
}

/// Lets one rank fail during a collective operation.
TEST_P(RanksOn, ThrowTheErrorOfOneOfThem)
{
  for (const std::string &name : communicators()) {
    const CommunicatorPtr comm = communicator(name);
    for (const int failing : {0, n_ranks() - 1}) {
      std::string text;
      try {
        comm->rethrow_on_all_ranks([&] {
          comm->max(1.);
          if (own_rank() == failing)
            throw DeviceError("no memory on rank " + std::to_string(failing));
          std::vector<double> sums(100);
          comm->sum(sums.data(), 100);
        });
      }
      catch (const DeviceError &error) {
        text = error.what();
      }
      EXPECT_EQ(text, "no memory on rank " + std::to_string(failing));
      EXPECT_EQ(comm->max(own_rank()), n_ranks() - 1.);
    }
  }
}

TEST(BalancedRows, BeginWherePartsOfAnOrderDoIfThatIsNear)
{
  HostMatrix A = laplacian_1d(1000);
  EXPECT_NEAR(balanced_rows(A.csr(), 2)[1], 500, 1);
  Unknowns unknowns;
  unknowns.part_starts = {0, 250, 520, 740, 1000};
  A.unknowns = std::make_shared<const Unknowns>(unknowns);
  EXPECT_EQ(balanced_rows(A.csr(), 2), (std::vector<int>{0, 520, 1000}));
  EXPECT_EQ(balanced_rows(A.csr(), 4), unknowns.part_starts);
  unknowns.part_starts = {0, 330, 670, 1000};
  A.unknowns = std::make_shared<const Unknowns>(unknowns);
  EXPECT_NEAR(balanced_rows(A.csr(), 2)[1], 500, 1) << "a third and two would not be balanced";
}
} // namespace
} // namespace femgpu::linalg::test
