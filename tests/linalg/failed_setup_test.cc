#include "linalg/execution/make_executor.h"
#include "linalg/linear_solver.h"
#include "linalg/nonlinear_solver.h"
#include "linalg/preconditioners/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * Tests solvers after a failed set-up or the release of their matrix: a solver must refuse to
 * solve, and must accept the next matrix as if it were the first.
 */
namespace femgpu::linalg::test
{
namespace
{
class FailedSetupTest : public OnBackend
{
protected:
  void expect_solution(LinearSolver &solver, const HostMatrix &A) const
  {
    const std::vector<double> b = random_vector(A.n, 3);
    std::vector<double> x(b.size());
    const SolveReport report = solver.solve(b.data(), x.data());
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_LE(residual_norm(A, b, x), 1.01e-10 * norm(b));
  }
};

/// A matrix, and another one with the same pattern for which the set-up of a preconditioner fails.
struct Fault
{
  std::string preconditioner;
  HostMatrix good, bad;
};

HostMatrix with_row(HostMatrix A, const int row, const double factor)
{
  for (int k = A.row_starts[row]; k < A.row_starts[row + 1]; ++k)
    A.values[k] *= factor;
  return A;
}

HostMatrix with_diagonal_entry(HostMatrix A, const int row, const double value)
{
  for (int k = A.row_starts[row]; k < A.row_starts[row + 1]; ++k)
    if (A.columns[k] == row)
      A.values[k] = value;
  return A;
}

std::vector<Fault> faults()
{
  const HostMatrix A = laplacian_2d(20, 20);
  const HostMatrix no_row = with_row(A, 7, 0.), negative = with_diagonal_entry(A, 7, -1.);
  return {{"jacobi", A, with_diagonal_entry(A, 7, 0.)},
          {"block-jacobi", A, no_row},
          {"chebyshev", A, negative},
          {"ilu", A, no_row},
          {"ic", A, with_row(A, 7, 2.)},
          {"two-stage inner=2", A, no_row},
          {"ainv symmetric=yes", A, with_row(A, 7, 2.)},
          {"multigrid", A, negative},
          {"multigrid smoother=block-jacobi", A, no_row},
          {"multigrid coarsest=20", A, negative}};
}

/// Sets, releases and updates matrices in all orders. Frees patterns and values as soon as the
/// solver must no longer read them.
TEST_P(FailedSetupTest, MatricesAreSetReleasedAndUpdatedInAnyOrder)
{
  enum Step
  {
    set_small,
    set_large,
    update,
    release,
    n_choices
  };
  const int n_steps = executor->backend() == BackendKind::host ? 4 : 2;
  const int n_sequences = 1 << (2 * n_steps); // four choices per step
  const auto matrix = [](const bool is_small) {
    return std::make_unique<HostMatrix>(is_small ? laplacian_2d(6, 6) : laplacian_2d(9, 11));
  };
  for (const char *const preconditioner :
       {"jacobi", "block-jacobi", "chebyshev", "sai", "fsai", "ainv", "ilu", "ic", "two-stage",
        "multigrid", "multigrid smoother=fsai", "auto"})
    for (int sequence = 0; sequence < n_sequences; ++sequence) {
      SCOPED_TRACE(std::string(preconditioner) + ", sequence " + std::to_string(sequence));
      LinearSolver solver(executor, method("bicgstab", preconditioner));
      std::unique_ptr<HostMatrix> first = matrix(true), latest; // first of its pattern, latest
      bool is_small = true;
      solver.set_matrix(first->csr(), false);
      for (int rest = sequence, k = 0; k < n_steps; ++k, rest /= n_choices) {
        const auto step = static_cast<Step>(rest % n_choices);
        if (step == release) {
          solver.release();
          latest.reset();
          first.reset();
          const std::vector<double> b(99, 1.);
          std::vector<double> x(b.size());
          EXPECT_THROW(solver.solve(b.data(), x.data()), SolverError);
        }
        else if (step == update && first) { // the solver still reads the pattern of `first`
          auto next =
              std::make_unique<HostMatrix>(with_diagonal_entry(*matrix(is_small), 7, 5. + k));
          solver.set_matrix(next->csr(), true);
          std::vector<double>().swap(first->values);
          latest = std::move(next);
          expect_solution(solver, *latest);
        }
        else {
          is_small = step == update ? is_small : step == set_small;
          auto next = matrix(is_small);
          solver.set_matrix(next->csr(), step == update);
          first = std::move(next);
          latest.reset();
          expect_solution(solver, *first);
        }
      }
    }
}

TEST_P(FailedSetupTest, TakesTheNextMatrixAsTheFirstOne)
{
  for (const auto &[preconditioner, good, bad] : faults()) {
    SCOPED_TRACE(preconditioner);
    LinearSolver solver(executor, method("bicgstab", preconditioner));
    for (const bool has_solved : {false, true, true}) {
      if (has_solved)
        expect_solution(solver, good);
      EXPECT_THROW(solver.set_matrix(bad.csr(), true), SolverError);
      solver.set_matrix(good.csr(), true);
    }
    expect_solution(solver, good);
  }
}

TEST_P(FailedSetupTest, SaysThatThereIsNoMatrix)
{
  const auto [preconditioner, good, bad] = faults().front();
  LinearSolver solver(executor, method("cg", preconditioner));
  std::vector<double> x(static_cast<std::size_t>(good.n));
  const auto refuses = [&] {
    const std::string text = text_of<SolverError>([&] { solver.solve(x.data(), x.data()); });
    EXPECT_NE(text.find("no matrix"), std::string::npos) << text;
  };
  refuses();
  solver.set_matrix(good.csr(), false);
  EXPECT_THROW(solver.set_matrix(bad.csr(), true), SolverError);
  refuses();
  solver.set_matrix(good.csr(), true);
  solver.release();
  refuses();
}

/// Occupies so much memory with other buffers that a set-up fails at each of its stages in turn.
TEST_P(FailedSetupTest, GoesOnWhenThereIsMemoryAgain)
{
  constexpr std::size_t n_stages = 40;
  const HostMatrix A = laplacian_2d(50, 40);
  for (const char *const preconditioner :
       {"jacobi", "block-jacobi", "chebyshev", "ilu", "two-stage inner=2", "sai", "fsai", "ainv",
        "multigrid", "multigrid smoother=fsai coarsest=20"}) {
    const LinearSolverOptions options = method("bicgstab", preconditioner);
    const ExecutorPtr measured = make_executor(GetParam(), {1, std::size_t(1) << 30});
    solve(measured, options, A, random_vector(A.n, 3));
    const std::size_t memory_limit = 2 * measured->peak_bytes();
    const ExecutorPtr limited = make_executor(GetParam(), {1, memory_limit});
    for (const bool has_matrix : {false, true}) {
      SCOPED_TRACE(std::string(preconditioner) + (has_matrix ? ", update" : ", first set-up"));
      std::size_t n_failed = 0;
      for (std::size_t stage = 0; stage < n_stages; ++stage) {
        LinearSolver solver(limited, options);
        if (has_matrix)
          solver.set_matrix(A.csr(), false);
        try {
          const std::size_t left = memory_limit * stage / (2 * n_stages);
          const std::size_t free = limited->memory().free;
          const Buffer<char> taken(limited, free - std::min(free, left));
          solver.set_matrix(A.csr(), true);
        }
        catch (const DeviceError &) {
          ++n_failed;
          solver.set_matrix(A.csr(), true);
        }
        expect_solution(solver, A);
      }
      if (!has_matrix) {
        EXPECT_GT(n_failed, n_stages / 4);
      }
    }
  }
}

TEST_P(FailedSetupTest, PatternsThatWereBegunAreDropped)
{
  const HostMatrix small = laplacian_1d(50), large = laplacian_2d(20, 20);
  LinearSolver solver(executor, method("bicgstab", "jacobi"));
  solver.begin_pattern(large.csr());
  solver.release();
  solver.set_matrix(small.csr(), true);
  expect_solution(solver, small);
  solver.begin_pattern(large.csr());
  EXPECT_THROW(solver.set_matrix(small.csr(), false), SolverError);
  solver.set_matrix(small.csr(), false);
  expect_solution(solver, small);
}

TEST_P(FailedSetupTest, NonlinearSolversDoTheSame)
{
  const auto [preconditioner, good, bad] = faults().front();
  const std::vector<double> weights(static_cast<std::size_t>(good.n), 1e-3);
  const std::vector<double> b = random_vector(good.n, 3);
  for (const char *const name : {"newton", "nlcg"}) {
    SCOPED_TRACE(name);
    NonlinearSolverOptions options;
    options.method = name;
    options.linear = method("cg", preconditioner);
    NonlinearSolver solver(executor, options);
    std::vector<double> x(b.size());
    EXPECT_THROW(solver.solve({ExponentialReaction{}, 1.}, b.data(), x.data()), SolverError);
    if (std::string(name) == "nlcg") {
      EXPECT_THROW(solver.set_system(bad.csr(), weights.data(), true), SolverError);
    }
    for (int repeat = 0; repeat < 2; ++repeat) {
      solver.set_system(good.csr(), weights.data(), true);
      std::fill(x.begin(), x.end(), 0.);
      const SolveReport report = solver.solve({ExponentialReaction{}, 1.}, b.data(), x.data());
      EXPECT_TRUE(report.converged()) << report.message;
      if (std::string(name) == "nlcg" && repeat == 0) {
        EXPECT_THROW(solver.set_system(bad.csr(), weights.data(), true), SolverError);
        EXPECT_THROW(solver.solve({ExponentialReaction{}, 1.}, b.data(), x.data()), SolverError);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, FailedSetupTest, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
