#ifndef femgpu_linalg_nonlinear_nonlinear_method_h
#define femgpu_linalg_nonlinear_nonlinear_method_h

#include "linalg/execution/memory/buffer.h"
#include "linalg/nonlinear/nonlinearity.h"
#include "linalg/operators/matrix.h"
#include "linalg/solvers/linear_solver_options.h"
#include "linalg/solvers/report.h"

namespace femgpu::linalg
{
/// A x = b + λ W φ(x) in the memory of A's executor; refers to what must outlive it.
struct NonlinearSystem
{
  const Matrix &A;         ///< symmetric positive definite for nlcg
  const Buffer<double> &w; ///< weights, not negative
  const Buffer<double> &b;
  Nonlinearity phi;
};

/// A method for A x = b + λ W φ(x).
class NonlinearMethod
{
public:
  virtual ~NonlinearMethod() = default;

  /// Prepares for a new system, or for new values of A in the same pattern.
  virtual void setup(const NonlinearSystem &system, bool same_pattern) = 0;

  /**
   * Solves the system that setup() has seen; b and λ may be others. The residual is
   * r = b + λ W φ(x) − A x; control.reference rhs stands for its norm at x = 0.
   * @param x the initial guess; at the end the last iterate, whatever the outcome
   */
  virtual SolveReport solve(const NonlinearSystem &system, Buffer<double> &x,
                            const SolveControl &control) = 0;
};
} // namespace femgpu::linalg

#endif
