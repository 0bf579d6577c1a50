#ifndef femgpu_linalg_linear_solver_h
#define femgpu_linalg_linear_solver_h

#include "linalg/linear_solver_options.h"
#include "linalg/matrices/csr_matrix.h"
#include "linalg/preconditioners/preconditioner.h"
#include "linalg/solvers/solver.h"
#include "linalg/transformations/linear_system_transformation.h"

#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/**
 * A linear system on an executor, from host memory to host memory: moves the matrix there once and
 * its values whenever they change, keeps the preconditioner up to date, solves, and counts seconds.
 * Scaling and ordering are done on the way, and undone in the solution.
 */
class LinearSolver
{
public:
  /// @throws ParameterError for unknown names, for options of the preconditioner, and for a
  /// preconditioner or a scaling that the solver does not bear.
  LinearSolver(ExecutorPtr executor, LinearSolverOptions options);

  /**
   * Takes over @p A, which must stay where it is until the next call. With @p same_pattern only the
   * values move; the pattern must be that of the call before. @throws ParameterError if the format
   * cannot hold A, SolverError if the preconditioner cannot be made, DeviceError without memory.
   */
  void set_matrix(const HostCsr &A, bool same_pattern);

  /// Solves A x = b; @p b and @p x are host memory of n() elements, x is the initial guess too.
  SolveReport solve(const double *b, double *x);

  SolveControl &control()
  {
    return options.control;
  }
  const Executor &executor() const
  {
    return *owner;
  }

private:
  void copy_in(const double *b, const double *x);
  void copy_out(double *x);

  ExecutorPtr owner;
  LinearSolverOptions options;
  std::unique_ptr<Solver> solver;
  std::unique_ptr<Preconditioner> preconditioner;
  LinearSystemTransformation transformation;
  HostCsr given; // the system before it was transformed
  std::unique_ptr<CsrMatrix> csr;
  std::unique_ptr<Matrix> matrix; // in the format asked for; refers to csr
  Buffer<double> rhs, solution;
  double transfer_seconds = 0.;
  double format_seconds = 0.;
  double setup_seconds = 0.;
};
} // namespace femgpu::linalg

#endif
