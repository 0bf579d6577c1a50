#ifndef femgpu_linalg_nonlinear_solver_h
#define femgpu_linalg_nonlinear_solver_h

#include "linalg/device_system.h"
#include "linalg/nonlinear/nonlinear_method.h"
#include "linalg/solvers/linear_solver_options.h"

#include <memory>
#include <string>

namespace femgpu::linalg
{
/// The nonlinear method, its linear solver, and its stopping criteria.
struct NonlinearSolverOptions
{
  std::string method = "newton"; ///< name in the registry, with options
  LinearSolverOptions linear;    ///< methods for linear systems; nlcg uses no linear solver
  SolveControl control;          ///< stopping criteria of the nonlinear iteration
};

/// Checks that the methods that @p options name are compatible.
/// @throws ParameterError if they are not
void check(const NonlinearSolverOptions &options);

/// Checks that @p options select no scaling, because φ needs the unscaled unknowns.
/// @throws ParameterError if they select one
void check_unscaled(const LinearSolverOptions &options);

/**
 * Solves A x = b + λ W φ(x) (nonlinear/nonlinearity.h) on an executor, with input and results in
 * host memory. It transfers A and the diagonal w of W once, solves, and measures times. Further
 * solves only transfer b and x.
 */
class NonlinearSolver
{
public:
  /// @param communicator connects the ranks if rows are distributed; nullptr: all rows are on this
  /// rank
  /// @throws ParameterError for unknown names and options, and for a scaling other than none
  NonlinearSolver(ExecutorPtr executor, NonlinearSolverOptions options,
                  const CommunicatorPtr &communicator = nullptr);

  /// Starts to transfer the pattern of @p A in a separate thread, while the caller assembles its
  /// values; see LinearSolver::begin_pattern(). Call it before set_system(A, weights, false).
  void begin_pattern(const HostCsr &A);

  /**
   * Sets @p A, which must remain valid until the next call of this function, and @p weights: n()
   * non-negative numbers in host memory. With @p same_pattern only values are transferred, and the
   * pattern of the previous matrix must remain valid, too.
   * @throws the exceptions of LinearSolver::set_matrix(); the system is then released
   */
  void set_system(const HostCsr &A, const double *weights, bool same_pattern);

  /// Frees the matrix and the data of the method. Set a new system before the next solve().
  void release();

  /// Solves the equation; @p b and @p x are in host memory and have n() elements, and x contains
  /// the initial guess.
  /// @throws SolverError if no system is set
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
