#include "linalg/execution/host/executor.h"
#include "linalg/execution/make_executor.h"
#include "linalg/linear_solver.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * Tests that a failure on one rank reaches all other ranks instead of leaving them waiting.
 */
namespace femgpu::linalg::test
{
namespace
{
constexpr int n_ranks = 3, failing = 1;

/// A distributed matrix with a solver on each rank; the solver on rank `failing` fails.
class PartsThatFail : public testing::Test
{
protected:
  PartsThatFail()
      : A(laplacian_2d(20, 21)), starts{0, 130, 271, A.n}, matrices(cut_matrix(A, starts))
  {}

  /// Sets @p bad on rank `failing` and the rows of A on the other ranks, and expects the same error
  /// on all ranks. Then checks that they solve with A. Returns the error message.
  template <class Expected>
  std::string fail_and_recover(const std::string &preconditioner, const LocalMatrix &bad)
  {
    std::vector<std::string> messages(n_ranks);
    std::vector<double> x(static_cast<std::size_t>(A.n));
    run_on_ranks(n_ranks, [&](const int p, const auto &communicator) {
      LinearSolver solver(std::make_shared<HostExecutor>(1), method("bicgstab", preconditioner),
                          communicator);
      messages[p] = text_of<Expected>([&] { set(solver, p == failing ? bad : matrices[p], true); });
      solve_and_check(solver, p, x);
      set(solver, matrices[p], true);
      EXPECT_EQ(text_of<Expected>([&] { set(solver, p == failing ? bad : matrices[p], true); }),
                messages[p]);
      solve_and_check(solver, p, x);
    });
    for (const std::string &message : messages)
      EXPECT_EQ(message, messages[failing]);
    return messages[failing];
  }

  static void set(LinearSolver &solver, const LocalMatrix &local, const bool same_pattern)
  {
    HostCsr own = local.rows.csr();
    own.ghosts = &local.ghosts;
    solver.set_matrix(own, same_pattern);
  }

  void solve_and_check(LinearSolver &solver, const int p, std::vector<double> &x) const
  {
    const std::vector<double> b = random_vector(A.n, 3);
    set(solver, matrices[p], true);
    std::fill(x.begin() + matrices[p].begin, x.begin() + matrices[p].end, 0.);
    const SolveReport report = solver.solve(b.data() + starts[p], x.data() + starts[p]);
    EXPECT_TRUE(report.converged()) << report.message;
  }

  /// Returns the rows of rank `failing` with row @p row multiplied by @p factor.
  LocalMatrix with_row(const int row, const double factor) const
  {
    LocalMatrix local = matrices[failing];
    for (int k = local.rows.row_starts[row]; k < local.rows.row_starts[row + 1]; ++k)
      local.rows.values[k] *= factor;
    return local;
  }

  HostMatrix A;
  std::vector<int> starts;
  std::vector<LocalMatrix> matrices;
};

TEST_F(PartsThatFail, AllHaveTheErrorOfASetUp)
{
  for (const char *const preconditioner :
       {"jacobi", "block-jacobi", "chebyshev", "ilu", "two-stage inner=2", "multigrid",
        "multigrid smoother=block-jacobi", "multigrid coarsest=20"}) {
    SCOPED_TRACE(preconditioner);
    fail_and_recover<SolverError>(preconditioner, with_row(7, 0.));
  }
  const std::string text = fail_and_recover<SolverError>("ic", with_row(7, 2.));
  EXPECT_NE(text.find("symmetric matrix"), std::string::npos) << text;
}

TEST_F(PartsThatFail, AllHaveTheErrorOfParametersThatDoNotFitOnePart)
{
  std::vector<std::string> messages(n_ranks);
  run_on_ranks(n_ranks, [&](const int p, const auto &communicator) { // 130, 141 and 149 rows
    LinearSolver solver(std::make_shared<HostExecutor>(1), method("cg", "multigrid block=10"),
                        communicator);
    messages[p] = text_of<ParameterError>([&] { set(solver, matrices[p], false); });
  });
  EXPECT_NE(messages[0].find("141 rows"), std::string::npos) << messages[0];
  EXPECT_EQ(messages, std::vector<std::string>(n_ranks, messages[0]));
}

/// Lets one rank run out of memory at each stage of a set-up in turn.
TEST_F(PartsThatFail, AllHaveTheErrorOfTooLittleMemory)
{
  constexpr std::size_t n_stages = 30, enough = std::size_t(1) << 30, for_solves = 1 << 20;
  for (const char *const preconditioner : {"jacobi", "ilu", "fsai", "multigrid coarsest=20"}) {
    SCOPED_TRACE(preconditioner);
    const LinearSolverOptions options = method("cg", preconditioner);
    std::size_t peak = 0;
    run_on_ranks(n_ranks, [&](const int p, const auto &communicator) {
      const ExecutorPtr executor = make_executor("host", {1, enough});
      LinearSolver solver(executor, options, communicator);
      set(solver, matrices[p], false);
      if (p == failing)
        peak = executor->peak_bytes();
    });
    std::vector<std::size_t> n_failed(n_ranks);
    std::vector<double> x(static_cast<std::size_t>(A.n));
    run_on_ranks(n_ranks, [&](const int p, const auto &communicator) {
      const ExecutorPtr executor =
          make_executor("host", {1, p == failing ? peak + for_solves : enough});
      for (std::size_t stage = 0; stage < n_stages; ++stage) {
        LinearSolver solver(executor, options, communicator);
        try {
          const std::size_t left = peak * stage / n_stages, free = executor->memory().free;
          const Buffer<char> taken(executor, p == failing ? free - std::min(free, left) : 0);
          set(solver, matrices[p], false);
        }
        catch (const DeviceError &) {
          ++n_failed[p];
        }
        solve_and_check(solver, p, x);
      }
    });
    EXPECT_GT(n_failed[failing], n_stages / 4);
    EXPECT_EQ(n_failed, std::vector<std::size_t>(n_ranks, n_failed[failing]));
  }
}

/// Checks that all ranks decide together between Jacobi and multigrid.
TEST_F(PartsThatFail, AllStayWithJacobiIfOneHasNoMemoryForMultigrid)
{
  ModelProblem problem = generate("poisson2d-5pt:300");
  problem.A.unknowns = default_unknowns; // no nodes_along_body: JacobiForecast::iterations is 0
  const std::vector<LocalMatrix> halves = cut_matrix(problem.A, {0, 45000, 90000});
  std::vector<double> x(problem.b.size());
  run_on_ranks(2, [&](const int p, const auto &communicator) {
    const ExecutorPtr executor = make_executor("host", {1, std::size_t(1) << 30});
    LinearSolver solver(executor, method("cg", "auto"), communicator);
    set(solver, halves[p], false);
    const std::size_t for_vectors = 8 << 20;
    const Buffer<char> taken(executor, p == 1 ? executor->memory().free - for_vectors : 0);
    const SolveReport report = solver.solve(problem.b.data() + halves[p].begin, //
                                            x.data() + halves[p].begin);
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_EQ(report.method.preconditioner, "jacobi");
    EXPECT_NE(report.method.setup.remarks.find("granted"), std::string::npos)
        << report.method.setup.remarks;
  });
}

TEST_F(PartsThatFail, ErrorsThatWereHandledDoNotReturn)
{
  run_on_ranks(n_ranks, [&](const int p, const auto &communicator) {
    const auto fails = [&] {
      if (p == failing)
        throw SolverError("one");
      communicator->max(1.);
    };
    communicator->rethrow_on_all_ranks([&] {
      EXPECT_EQ(text_of<SolverError>([&] { communicator->rethrow_on_all_ranks(fails); }), "one");
      EXPECT_EQ(communicator->max(p), n_ranks - 1.);
    });
    const auto fails_again = [&] {
      communicator->rethrow_on_all_ranks([] {});
      if (p == 0)
        throw ParameterError("two", "solver");
    };
    try {
      communicator->rethrow_on_all_ranks(fails_again);
      ADD_FAILURE();
    }
    catch (const ParameterError &error) {
      EXPECT_STREQ(error.what(), "two");
      EXPECT_EQ(error.parameter(), "solver");
    }
    EXPECT_EQ(communicator->max(p), n_ranks - 1.);
  });
}
} // namespace
} // namespace femgpu::linalg::test
