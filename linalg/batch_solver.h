#ifndef femgpu_linalg_batch_solver_h
#define femgpu_linalg_batch_solver_h

#include "linalg/base/host_matrix.h"
#include "linalg/memory/buffer.h"
#include "linalg/solvers/linear_solver_options.h"
#include "linalg/steps/batch.h"

#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg
{
class BatchMethod;

/// How one system of a batch was solved; without a message if it has converged.
struct SystemReport : SolveResult
{
  bool was_alone = false; ///< too large for a block: solved after the others, by itself

  /// ‖b − A x‖ / ‖b‖; without the divisor where b = 0
  double relative_residual() const
  {
    return rhs_norm > 0. ? true_residual / rhs_norm : true_residual;
  }
};

/// What a batch did. Seconds are wall time.
struct BatchReport
{
  std::vector<SystemReport> systems;

  MethodReport method;          ///< execution: how the systems were given to blocks or threads
  double transfer_seconds = 0.; ///< of vectors, and of matrices where they were new; and setups
  double solve_seconds = 0.;

  int n_converged() const;
  int n_alone() const;
  /// Number of the system with the largest relative residual; -1 without systems.
  int worst() const;
  double systems_per_second() const;
};

/**
 * Many independent linear systems, solved together: on a GPU each by one block that keeps it on the
 * chip from the first to the last iteration, on the host each by one thread (Rupp et al. 2016 name
 * many small systems as what fused kernels are for). From host memory to host memory.
 *
 * Use: hundreds of systems of up to a few thousand rows; sizes and patterns may differ. Needs: a
 * solver with vector steps (pipelined-cg, bicgstab, pipelined-bicgstab), preconditioner identity or
 * jacobi, format csr. On a GPU a block holds up to 4,096 rows of conjugate gradients and 2,048 of
 * BiCGStab; a larger system is solved after the others, by itself, and its report says so.
 *
 * Each system has its outcome, and converged is only said of a true residual that was computed
 * anew; one that fails stops no other. What comes out for a system has the same bits whatever the
 * others are, and however many threads the host has.
 */
class BatchSolver
{
public:
  /// @throws ParameterError for unknown names, and for methods that batches cannot use
  BatchSolver(ExecutorPtr executor, LinearSolverOptions options);

  /**
   * Moves the matrices, which must stay where they are until the next call. Systems whose pattern,
   * or whose values, are the same arrays of host memory share them on the device too.
   * @throws DeviceError without memory
   */
  void set_matrices(const std::vector<HostCsr> &A);

  /**
   * Solves A x = b for all systems. @p b and @p x are host memory: the vectors of the first system,
   * then those of the second, and so on. x is the initial guess too.
   * @throws DeviceError without memory. Everything else is an outcome.
   */
  BatchReport solve(const double *b, double *x);

  SolveControl &control()
  {
    return options.control;
  }

private:
  void arrange();
  void move_matrices();
  std::string execution() const;
  MethodReport method_report() const;
  std::string explanation(int system, SolveResult result) const;
  SystemReport solve_alone(int system, const double *b, double *x, double &solve_seconds) const;
  SystemReport settle(int system, const double *b, double *x, const SystemReport &report,
                      double &solve_seconds) const;

  ExecutorPtr owner;
  LinearSolverOptions options;
  std::shared_ptr<const BatchMethod> method;
  bool uses_diagonal;

  std::vector<HostCsr> matrices;
  std::vector<std::size_t> first_rows; // of each system in the vectors of all, and their end
  std::vector<int> order;              // systems, in the order of their groups
  std::vector<BatchGroup> groups;      // of a GPU
  std::vector<int> too_large;

  Buffer<int> row_starts, columns;
  Buffer<double> values, rhs, solution;
  Buffer<BatchSystem> systems; // in order
  double transfer_seconds = 0.;
};
} // namespace femgpu::linalg

#endif
