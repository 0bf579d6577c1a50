#ifndef femgpu_linalg_linear_solver_h
#define femgpu_linalg_linear_solver_h

#include "linalg/device_system.h"
#include "linalg/solvers/preconditioned_solver.h"

#include <string>

namespace femgpu::linalg
{
/// @throws ParameterError unless the methods that @p options name bear one another
void check(const LinearSolverOptions &options);

/**
 * A linear system on an executor, from host memory to host memory: moves the matrix there once and
 * its values whenever they change, keeps the preconditioner up to date, solves, and counts seconds.
 * Scaling and ordering are done on the way, and undone in the solution.
 *
 * It may be one of several parts of a system: then all parts make the same calls, vectors are those
 * of the part's own rows, and reports are the same but for seconds and bytes.
 */
class LinearSolver
{
public:
  /// @param communicator of a part; nullptr: all rows are here. @throws ParameterError for unknown
  /// names, for options of the preconditioner, for a preconditioner or a scaling that the solver
  /// does not bear, and as DeviceSystem
  LinearSolver(ExecutorPtr executor, LinearSolverOptions options,
               CommunicatorPtr communicator = nullptr);

  /**
   * Begins to move the pattern of a new matrix while its values are still being assembled, by a
   * thread of its own. Until set_matrix(A, false) the executor must not be used, and pattern and
   * coordinates of @p A must stay.
   */
  void begin_pattern(const HostCsr &A);

  /**
   * Takes over @p A, which must stay where it is until the next call. With @p same_pattern only the
   * values move; the pattern must be that of the call before, where it must stay, too. @throws
   * ParameterError if the format cannot hold A, SolverError if the preconditioner cannot be made,
   * DeviceError without memory. Then the matrix is released: solve() needs another one, which moves
   * with its pattern whatever @p same_pattern says.
   */
  void set_matrix(const HostCsr &A, bool same_pattern);

  /**
   * Solves A x = b; @p b and @p x are host memory of n() elements, x is the initial guess too. The
   * report has the backward error of x in the system as it was given; a solve that rounding alone
   * has kept from its target is called so (rounding.h). @throws SolverError without a matrix
   */
  SolveReport solve(const double *b, double *x);

  /// Frees the matrix, but not what the preconditioner has made of it; it must be set anew.
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
  void take_over(const HostCsr &A, bool only_values);
  SolveReport solve_in_units(const double *b, double *x, const SolveControl &control);
  SolveReport solve_once(const double *b, double *x, const SolveControl &control);
  void measure_given(const double *b, const double *x, SolveReport &report);

  bool is_finite_everywhere(const double *x) const;

  ExecutorPtr owner;
  CommunicatorPtr communicator;
  LinearSolverOptions options;
  PreconditionedSolver solver;
  bool is_scaled;
  HostCsr given; // the system before it was transformed
  Buffer<double> rhs, solution;
  DeviceSystem system; // at the end: its destructor waits for a pattern under way
};
} // namespace femgpu::linalg

#endif
