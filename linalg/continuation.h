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
/// @throws ParameterError for unknown names, values out of range, and a scaling other than none
void check(const ContinuationOptions &options);

/**
 * The branch of solutions (x, λ) of A x = b + λ W φ(x) on an executor, from host memory to host
 * memory: pseudo-arclength continuation, which passes folds, finds them, and gives the solutions
 * for chosen λ on every branch.
 *
 * Use: to see for which λ there are solutions, and how many. Needs: A symmetric for minres, with a
 * symmetric positive definite preconditioner (jacobi, chebyshev, fsai); else bicgstab. Cost: some 3
 * corrections a point, each two linear solves, and one for its tangent; 18 vectors, J beside A, and
 * the vectors of the linear solver. Fails: where steps become too small; two folds within one step
 * are not seen.
 */
class Continuation
{
public:
  /// Is called with each point that was found, and x there.
  using Callback = std::function<void(const BranchRecord &, const std::vector<double> &x)>;

  /// @param communicator of a part, as LinearSolver takes it. @throws ParameterError as
  /// check(options)
  Continuation(ExecutorPtr executor, ContinuationOptions options,
               CommunicatorPtr communicator = nullptr);

  /// As LinearSolver::begin_pattern(), before set_system().
  void begin_pattern(const HostCsr &A);

  /**
   * Takes over @p A, which must stay where it is until the next call, and @p weights (n() of them,
   * host memory, not negative, not all zero).
   * @throws ParameterError for other weights; as LinearSolver::set_matrix
   */
  void set_system(const HostCsr &A, const double *weights);

  /**
   * Traces the branch from the solution at lambda_start, found by Newton's method from the guess
   * @p x; at the end x is that of the last record. @p b and x are host memory of n() elements.
   * @throws SolverError if the preconditioner cannot be made. All else is an outcome of the report.
   */
  ContinuationReport trace(const Law &law, const double *b, double *x,
                           const Callback &callback = {});

  const Executor &executor() const
  {
    return *owner;
  }

private:
  void measure(const Buffer<double> &x, std::vector<double> &x_host, BranchRecord &record);

  double sum_over_parts(double value) const;

  ExecutorPtr owner;
  CommunicatorPtr communicator;
  ContinuationOptions options;
  std::vector<double> shares; // of the weights, of 1; in the order given
  double weight_sum = 0.;
  Buffer<double> w;
  DeviceSystem system; // at the end: its destructor waits for a pattern under way
};
} // namespace femgpu::linalg

#endif
