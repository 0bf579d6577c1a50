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

/// The result of one system of a batch; `message` is empty if the outcome is `converged`.
struct SystemReport : SolveResult
{
  bool solved_separately = false; ///< solved after the batch, because the system is too large for a
                                  ///< block or b is out of range, see PowerOfTwoScaling

  /// Returns ‖b − A x‖ / ‖b‖, or ‖b − A x‖ if b = 0.
  double relative_residual() const
  {
    return rhs_norm > 0. ? true_residual / rhs_norm : true_residual;
  }
};

/// The results and costs of a batch. Times are wall-clock seconds.
struct BatchReport
{
  std::vector<SystemReport> systems;

  MethodReport method; ///< its `execution` describes how systems were assigned to blocks or threads
  double transfer_seconds = 0.; ///< transfer of vectors, and of new matrices with their set-up
  double solve_seconds = 0.;

  int n_converged() const;
  int n_solved_separately() const;
  /// Returns the index of the system with the largest relative residual; -1 if there are no
  /// systems.
  int worst() const;
  double systems_per_second() const;
};

/**
 * Solves many independent linear systems together. On a GPU one thread block solves each system and
 * keeps the system's data on the chip for all iterations; on the host one thread solves each
 * system. (Rupp et al. 2016 name many small systems as a use case of fused kernels.) Input and
 * results are in host memory.
 *
 * Use: hundreds of systems of up to a few thousand rows; sizes and patterns may differ. Needs: a
 * solver made of vector steps (steps/vector_steps.h): cg, pipelined-cg, chronopoulos-gear-cg,
 * minres, bicgstab or pipelined-bicgstab; preconditioner identity or jacobi; format csr. On a GPU a
 * block holds up to 4,096 rows for conjugate gradients and 2,048 for BiCGStab; larger systems are
 * solved one at a time after the others (SystemReport::solved_separately).
 *
 * Each system has its own outcome. A system has converged only if its recomputed true residual has
 * reached the target. The failure of one system does not stop the others. The result of a system is
 * bitwise independent of the other systems and of the number of threads of the host.
 */
class BatchSolver
{
public:
  /// @throws ParameterError for unknown names, and for methods that batches do not support
  BatchSolver(ExecutorPtr executor, LinearSolverOptions options);

  /**
   * Transfers the matrices, which must remain valid until the next call of this function. Systems
   * that share arrays of a pattern or of values in host memory also share them on the device.
   * @throws DeviceError if memory is exhausted
   */
  void set_matrices(const std::vector<HostCsr> &A);

  /**
   * Solves A x = b for all systems. @p b and @p x are in host memory: the vectors of the first
   * system, followed by those of the second, and so on. x contains the initial guesses.
   * @throws DeviceError if memory is exhausted; any other failure is an outcome
   */
  BatchReport solve(const double *b, double *x);

  SolveControl &control()
  {
    return options.control;
  }

private:
  void group_systems();
  void transfer_matrices();
  std::string execution() const;
  MethodReport method_report() const;
  std::string explanation(int system, SolveResult result) const;
  SystemReport solve_separately(int system, const double *b, double *x,
                                double &solve_seconds) const;
  SystemReport continue_at_rounding(int system, const double *b, double *x,
                                    const SystemReport &report, double &solve_seconds) const;

  ExecutorPtr owner;
  LinearSolverOptions options;
  std::shared_ptr<const BatchMethod> method;
  bool uses_diagonal;

  std::vector<HostCsr> matrices;
  std::vector<std::size_t> first_rows; // first row of each system, and number of all rows
  std::vector<int> order;              // systems, ordered by group
  std::vector<BatchGroup> groups;      // used on a GPU only
  std::vector<int> too_large;

  Buffer<int> row_starts, columns;
  Buffer<double> values, rhs, solution;
  Buffer<BatchSystem> systems; // ordered by group
  double transfer_seconds = 0.;
};
} // namespace femgpu::linalg

#endif
