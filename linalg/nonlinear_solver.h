#ifndef femgpu_linalg_nonlinear_solver_h
#define femgpu_linalg_nonlinear_solver_h

#include "linalg/device_system.h"
#include "linalg/nonlinear/nonlinear_method.h"
#include "linalg/solvers/linear_solver_options.h"

#include <memory>
#include <string>

namespace femgpu::linalg
{
/// The nonlinear method, its linear solver, and when the iteration stops.
struct NonlinearSolverOptions
{
  std::string method = "newton"; ///< name in the registry, with options
  LinearSolverOptions linear;    ///< for Newton's linear systems; nlcg uses its preconditioner
  SolveControl control;          ///< of the nonlinear iteration
};

/// @throws ParameterError unless the methods that @p options name are compatible
void check(const NonlinearSolverOptions &options);

/// @throws ParameterError if the options have a scaling, because φ needs the unscaled unknowns
void check_unscaled(const LinearSolverOptions &options);

/**
 * Solves A x = b + λ W φ(x) on an executor, with input and results in host memory. It transfers A
 * and w once, solves, and measures times. Further solves only transfer b and x.
 */
class NonlinearSolver
{
public:
  /// @param communicator of distributed rows, see LinearSolver
  /// @throws ParameterError for unknown names and options, and for a scaling other than none
  NonlinearSolver(ExecutorPtr executor, NonlinearSolverOptions options,
                  const CommunicatorPtr &communicator = nullptr);

  /// See LinearSolver::begin_pattern(); called before set_system(A, weights, false).
  void begin_pattern(const HostCsr &A);

  /**
   * Sets @p A, which must remain valid until the next call, and @p weights: n() non-negative
   * numbers in host memory. With @p same_pattern only values are transferred, and the pattern of
   * the previous call must remain valid, too.
   * @throws as LinearSolver::set_matrix(); the system is then released
   */
  void set_system(const HostCsr &A, const double *weights, bool same_pattern);

  /// Frees the matrix and what the method has computed from it; a new system must be set.
  void release();

  /// Solves the equation; @p b and @p x are in host memory and have n() elements, and x contains
  /// the initial guess. @throws SolverError without a system
  SolveReport solve(const Nonlinearity &phi, const double *b, double *x);

  SolveControl &control()
  {
    return options.control;
  }
  const Executor &executor() const
  {
    return *owner;
  }

private:
  void transfer_and_set_up(const HostCsr &A, const double *weights, bool only_values);
  void discard_method_data();

  ExecutorPtr owner;
  NonlinearSolverOptions options;
  std::unique_ptr<NonlinearMethod> method;
  Buffer<double> w, rhs, solution;
  DeviceSystem system; // last member: its destructor waits for a pending pattern transfer
};
} // namespace femgpu::linalg

#endif
