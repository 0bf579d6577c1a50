#ifndef femgpu_linalg_continuation_h
#define femgpu_linalg_continuation_h

#include "linalg/device_system.h"
#include "linalg/nonlinear/continuation_options.h"
#include "linalg/nonlinear/nonlinearity.h"

#include <functional>
#include <memory>
#include <vector>

namespace femgpu::linalg
{
/// Checks the options.
/// @throws ParameterError for unknown names, values out of range, and a scaling other than none
void check(const ContinuationOptions &options);

/**
 * Traces the branch of solutions (x, λ) of A x = b + λ W φ(x) on an executor, with input and
 * results in host memory. Pseudo-arclength continuation passes and locates folds, and computes the
 * solutions for given λ on every part of the branch.
 *
 * Use: to find out for which λ there are solutions, and how many. Needs: for minres a symmetric A
 * and a symmetric positive definite preconditioner (jacobi, chebyshev, fsai); for other A use
 * bicgstab. Cost: per point about 3 corrections of two linear solves each, and one linear solve for
 * the tangent. Memory: 18 vectors, J in addition to A, and the vectors of the linear solver. Fails:
 * if steps become too small; two folds within one step are not detected.
 */
class Continuation
{
public:
  /// Called for each point that is found, with its record and its x.
  using Callback = std::function<void(const BranchRecord &, const std::vector<double> &x)>;
  /// Called after each step, with the tangent at its end, from which trace() can continue.
  using StateCallback = std::function<void(const BranchState &, const std::vector<double> &x_dot)>;

  /// @param communicator connects the ranks if rows are distributed; nullptr: all rows are on this
  /// rank
  /// @throws ParameterError if check(options) does
  Continuation(ExecutorPtr executor, ContinuationOptions options,
               CommunicatorPtr communicator = nullptr);

  /// Starts to transfer the pattern of @p A in a separate thread, while the caller assembles its
  /// values; see LinearSolver::begin_pattern(). Call it before set_system().
  void begin_pattern(const HostCsr &A);

  /**
   * Sets @p A, which must remain valid until the next call of this function, and @p weights: n()
   * non-negative numbers in host memory, not all zero.
   * @throws ParameterError for invalid weights, and the exceptions of LinearSolver::set_matrix()
   */
  void set_system(const HostCsr &A, const double *weights);

  /**
   * Traces the branch from the solution at lambda_start, which Newton's method computes from the
   * initial guess @p x. At the end x is the solution of the last record. @p b and x are in host
   * memory and have n() elements.
   * @param from if given, the branch continues from this state and @p x, with the tangent @p x_dot
   * @throws SolverError if the preconditioner cannot be made; all other failures are outcomes
   */
  ContinuationReport trace(const ReactionTerm &reaction, const double *b, double *x,
                           const Callback &callback = {}, const StateCallback &on_state = {},
                           const BranchState *from = nullptr, const double *x_dot = nullptr);

  const Executor &executor() const
  {
    return *owner;
  }

private:
  void measure(const Buffer<double> &x, std::vector<double> &x_host, BranchRecord &record);

  double sum_over_ranks(double value) const;

  ExecutorPtr owner;
  CommunicatorPtr communicator;
  ContinuationOptions options;
  std::vector<double> normalised_weights; // weights divided by their sum, in the original order
  double weight_sum = 0.;
  Buffer<double> w;
  DeviceSystem system; // last member: its destructor waits for a pending pattern transfer
};
} // namespace femgpu::linalg

#endif
