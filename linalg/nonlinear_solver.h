#ifndef femgpu_linalg_nonlinear_solver_h
#define femgpu_linalg_nonlinear_solver_h

#include "linalg/device_system.h"
#include "linalg/nonlinear/nonlinear_method.h"
#include "linalg/solvers/linear_solver_options.h"

#include <memory>
#include <string>

namespace femgpu::linalg
{
/// Which method, as the registries know them, and when it ends.
struct NonlinearSolverOptions
{
  std::string method = "newton"; ///< of the registry, with options
  LinearSolverOptions linear;    ///< of Newton's linear systems; nlcg takes its preconditioner
  SolveControl control;          ///< of the nonlinear iteration
};

/// @throws ParameterError unless the methods that @p options name bear one another
void check(const NonlinearSolverOptions &options);

/// @throws ParameterError if the options have a scaling: φ needs the unknowns as they are
void check_unscaled(const LinearSolverOptions &options);

/**
 * A x = b + λ W φ(x) on an executor, from host memory to host memory: moves A and w there once,
 * solves, and counts seconds. Nothing but b, x and λ moves for another solve.
 */
class NonlinearSolver
{
public:
  /// @param communicator of a part, as LinearSolver takes it. @throws ParameterError for unknown
  /// names and options, and for a scaling other than none
  NonlinearSolver(ExecutorPtr executor, NonlinearSolverOptions options,
                  const CommunicatorPtr &communicator = nullptr);

  /// As LinearSolver::begin_pattern(), before set_system(A, weights, false).
  void begin_pattern(const HostCsr &A);

  /**
   * Takes over @p A, which must stay where it is until the next call, and @p weights (n() of them,
   * host memory, not negative). With @p same_pattern only values move, and the pattern of the call
   * before must stay, too. @throws as LinearSolver::set_matrix; then the system is released
   */
  void set_system(const HostCsr &A, const double *weights, bool same_pattern);

  /// Frees the matrix and what the method has made of it; it must be set anew.
  void release();

  /// Solves; @p b and @p x are host memory of n() elements, x is the initial guess too.
  /// @throws SolverError without a system
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
  void take_over(const HostCsr &A, const double *weights, bool only_values);
  void forget_matrix();

  ExecutorPtr owner;
  NonlinearSolverOptions options;
  std::unique_ptr<NonlinearMethod> method;
  Buffer<double> w, rhs, solution;
  DeviceSystem system; // at the end: its destructor waits for a pattern under way
};
} // namespace femgpu::linalg

#endif
