#ifndef femgpu_tests_linalg_parts_h
#define femgpu_tests_linalg_parts_h

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
/// The rows begin <= i < end of a matrix, as the part that owns them has it.
struct MatrixPart
{
  int begin, end;
  HostMatrix rows; ///< own columns first, from 0 on, then ghosts
  GhostPlan ghosts;
};

/// Cuts a matrix into parts of consecutive rows; part p has those from starts[p] to starts[p + 1].
std::vector<MatrixPart> cut_matrix(const HostMatrix &A, const std::vector<int> &starts);

/// Runs work(part, communicator) for all parts at one time, each in a thread; throws what the first
/// of them has thrown.
void run_parts(int n_parts,
               const std::function<void(int, const std::shared_ptr<const Communicator> &)> &work);

/// One part of a solve: set-up twice, and a solve. @param x the guess of all rows, of which the
/// part's rows are replaced
SolveReport solve_part(const LinearSolverOptions &options, const MatrixPart &part,
                       const std::vector<double> &b, std::vector<double> &x,
                       const CommunicatorPtr &communicator, const ExecutorPtr &executor);

/// What a solve in parts has given back: the report of each part, and x.
struct SolvedInParts
{
  std::vector<SolveReport> reports;
  std::vector<double> x;
};

/// Are all numbers the same, also those that are none?
bool have_same_bits(const std::vector<double> &a, const std::vector<double> &b);

/// Solves A x = b from x0 with each part's rows in a thread, on an executor of its own.
SolvedInParts solve_in_parts(const LinearSolverOptions &options, const HostMatrix &A,
                             const std::vector<double> &b, const std::vector<double> &x0,
                             const std::vector<int> &starts, const std::string &backend = "host");

/// Four parts of very different size, one of them without rows.
std::vector<int> uneven(const HostMatrix &A);

/// A system that a solver takes.
ModelProblem problem_for(const std::string &solver);

/// Every solver of the registry but stationary iterations, which do not converge with any
/// preconditioner (richardson_test.cc).
std::vector<std::string> solvers_with_parts();
} // namespace femgpu::linalg::test

#endif
