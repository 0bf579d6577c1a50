#ifndef femgpu_linalg_linear_solver_h
#define femgpu_linalg_linear_solver_h

#include "linalg/device_system.h"
#include "linalg/solvers/preconditioned_solver.h"

#include <string>

namespace femgpu::linalg
{
/// Checks that the methods that @p options name are compatible.
/// @throws ParameterError if they are not, for unknown names, and for invalid options of methods
void check(const LinearSolverOptions &options);

/**
 * Solves a linear system on an executor, with input and results in host memory. It transfers the
 * matrix once and its values whenever they change, keeps the preconditioner up to date, solves, and
 * measures times. It scales and reorders the system, and transforms the solution back.
 *
 * A system may be distributed over ranks: then all functions are collective, vectors contain the
 * rank's owned rows, and reports are the same on all ranks except for seconds and bytes.
 */
class LinearSolver
{
public:
  /// @param communicator connects the ranks if rows are distributed; nullptr: all rows are on this
  /// rank
  /// @throws ParameterError if check(options) does, and for transformations that need all rows on
  /// one rank
  LinearSolver(ExecutorPtr executor, LinearSolverOptions options,
               CommunicatorPtr communicator = nullptr);

  /**
   * Starts to transfer the pattern of a new matrix in a separate thread, overlapped with the
   * assembly of its values. Until set_matrix(A, false) the executor must not be used, and the
   * pattern and coordinates of @p A must remain valid.
   */
  void begin_pattern(const HostCsr &A);

  /**
   * Sets @p A, which must remain valid until the next call of this function. With @p same_pattern
   * only the values are transferred; A must have the pattern of the previous matrix, whose pattern
   * must remain valid, too. If this function throws, the matrix is released: solve() needs another
   * matrix, which is transferred with its pattern even with @p same_pattern.
   * @throws ParameterError if the format cannot hold A
   * @throws SolverError if the preconditioner cannot be made
   * @throws DeviceError if memory is exhausted
   */
  void set_matrix(const HostCsr &A, bool same_pattern);

  /**
   * Solves A x = b; @p b and @p x are in host memory and have n() elements, and x contains the
   * initial guess. The report contains the backward error of x in the original system. Solves that
   * missed their target only because of rounding are reported as such (rounding.h).
   * @throws SolverError if no matrix is set
   */
  SolveReport solve(const double *b, double *x);

  /// Frees the matrix, but not the data of the preconditioner. Set a new matrix before the next
  /// solve().
  void release();

  SolveControl &control()
  {
    return options.control;
  }
  const Executor &executor() const
  {
    return *owner;
  }

private:
  void transfer_and_set_up(const HostCsr &A, bool only_values);
  SolveReport solve_scaled(const double *b, double *x, const SolveControl &control);
  SolveReport solve_once(const double *b, double *x, const SolveControl &control);
  void measure_original(const double *b, const double *x, SolveReport &report);

  bool is_finite_on_all_ranks(const double *x) const;

  ExecutorPtr owner;
  CommunicatorPtr communicator;
  LinearSolverOptions options;
  PreconditionedSolver solver;
  bool is_scaled;
  HostCsr original; // the matrix before scaling and reordering
  Buffer<double> rhs, solution;
  DeviceSystem system; // last member: its destructor waits for a pending pattern transfer
};
} // namespace femgpu::linalg

#endif
