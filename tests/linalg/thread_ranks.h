#ifndef femgpu_tests_linalg_thread_ranks_h
#define femgpu_tests_linalg_thread_ranks_h

#include "linalg/base/host_matrix.h"
#include "linalg/operators/row_space.h"
#include "linalg/solvers/linear_solver_options.h"
#include "linalg/solvers/report.h"
#include "solve/generators/registry.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg::test
{
/// The rows begin <= i < end of a matrix, stored on the rank that owns them.
struct LocalMatrix
{
  int begin, end;
  HostMatrix rows; ///< the rows; their local columns are numbered from 0, own columns before ghosts
  GhostPlan ghosts;
};

/// Divides a matrix into subdomains of consecutive rows. Subdomain p has rows starts[p] <= i <
/// starts[p + 1].
std::vector<LocalMatrix> cut_matrix(const HostMatrix &A, const std::vector<int> &starts);

/// Runs work(rank, communicator) for all ranks concurrently, each in a thread. Rethrows the first
/// exception.
void run_on_ranks(
    int n_ranks, const std::function<void(int, const std::shared_ptr<const Communicator> &)> &work);

/// Solves the rows of one of several ranks. Sets the matrix twice, with a new pattern and with
/// the same one, so that the update of the solver is tested, too.
/// @param x the initial guess of all rows; the solution replaces the rows of this rank
SolveReport solve_local(const LinearSolverOptions &options, const LocalMatrix &local,
                        const std::vector<double> &b, std::vector<double> &x,
                        const CommunicatorPtr &communicator, const ExecutorPtr &executor);

/// The result of a distributed solve: the report of each rank, and x with all rows.
struct SolvedOnRanks
{
  std::vector<SolveReport> reports;
  std::vector<double> x;
};

/// Returns whether all numbers are bitwise equal, including NaN.
bool have_same_bits(const std::vector<double> &a, const std::vector<double> &b);

/// Solves A x = b from x0 with one thread and one executor per rank.
SolvedOnRanks solve_on_ranks(const LinearSolverOptions &options, const HostMatrix &A,
                             const std::vector<double> &b, const std::vector<double> &x0,
                             const std::vector<int> &starts, const std::string &backend = "host");

/// Returns the first rows of four subdomains of very different sizes, then A.n. One is empty.
std::vector<int> uneven(const HostMatrix &A);

/// Returns a system that @p solver can solve.
ModelProblem problem_for(const std::string &solver);

/// Returns every solver of the registry except stationary iterations, which do not converge with
/// every preconditioner (richardson_test.cc).
std::vector<std::string> distributed_solvers();
} // namespace femgpu::linalg::test

#endif
