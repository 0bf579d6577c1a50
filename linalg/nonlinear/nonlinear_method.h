#ifndef femgpu_linalg_nonlinear_nonlinear_method_h
#define femgpu_linalg_nonlinear_nonlinear_method_h

#include "linalg/memory/buffer.h"
#include "linalg/nonlinear/semilinear_equation.h"
#include "linalg/solvers/linear_solver_options.h"
#include "linalg/solvers/report.h"

namespace femgpu::linalg
{
/// A method for A x = b + λ W φ(x).
class NonlinearMethod
{
public:
  virtual ~NonlinearMethod() = default;

  /// Prepares for a new equation or, if @p same_pattern, for new values of A in the same pattern.
  virtual void setup(const SemilinearEquation &F, bool same_pattern) = 0;

  /**
   * Solves the equation of the last setup(); b, W, λ and φ may have changed since. The reference
   * `rhs` of control.reference means ‖r(0)‖.
   * @param x the initial guess; receives the best iterate, as in Solver::solve()
   */
  virtual SolveReport solve(const SemilinearEquation &F, Buffer<double> &x,
                            const SolveControl &control) = 0;
};
} // namespace femgpu::linalg

#endif
