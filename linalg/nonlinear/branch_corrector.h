#ifndef femgpu_linalg_nonlinear_branch_corrector_h
#define femgpu_linalg_nonlinear_branch_corrector_h

#include "linalg/nonlinear/nonlinear_method.h"

#include <memory>
#include <string>

namespace femgpu::linalg
{
/**
 * A point (x, λ) of a branch of solutions of A x = b + λ W φ(x), with the unit tangent (ẋ, λ̇)
 * there, in the memory of an executor. Lengths are those of (x, y) = θ Σ w_i x_i y_i / Σ w_i plus λ
 * μ.
 */
struct BranchPoint
{
  /// Zero, for @p n unknowns. @throws DeviceError without memory
  BranchPoint(const ExecutorPtr &owner, const std::size_t n) : x(owner, n), x_dot(owner, n)
  {
    x.fill_zero();
    x_dot.fill_zero();
  }

  Buffer<double> x, x_dot;
  double lambda = 0., lambda_dot = 0.;
  /// Way from the beginning of the step, along the tangent there; and what (ẋ, λ̇) is multiplied
  /// with to be the derivative by it.
  double sigma = 0., speed = 1.;
};

/// How a point was brought to the branch, or why it was not.
struct Correction
{
  Outcome outcome = Outcome::breakdown;
  std::string message; ///< a sentence, after a failure
  int corrections = 0, linear_iterations = 0;
  double residual = 0., target = 0.; ///< ‖b + λ W φ(x) − A x‖, and what it had to reach

  bool converged() const
  {
    return outcome == Outcome::converged;
  }
};

/// The equations of a branch: what tracing it needs of the backend.
class BranchCorrector
{
public:
  virtual ~BranchCorrector() = default;

  /**
   * Brings @p p to the branch, within the plane at distance @p sigma from @p from across the
   * tangent there. Sets p.sigma to where it is.
   * @param control relative to ‖b‖ + |λ| ‖W φ(x)‖, and how many corrections at most
   * @param least_corrections also where the residual is small enough
   */
  virtual Correction correct(BranchPoint &p, const BranchPoint &from, double sigma,
                             const SolveControl &control, int least_corrections) = 0;

  /// The same for the λ that @p p has. Leaves p.sigma as it is.
  virtual Correction correct_at_lambda(BranchPoint &p, const SolveControl &control,
                                       int least_corrections) = 0;

  /**
   * Finds the unit tangent at @p p, on the side of that of @p before.
   * @param correction that of p, which must be the last one made; its work and failure are added
   */
  virtual void find_tangent(BranchPoint &p, const BranchPoint &before, Correction &correction) = 0;

  /// The cosine of the angle between the tangents at @p p and @p q.
  virtual double cosine(const BranchPoint &p, const BranchPoint &q) = 0;

  /// The length of the chord from @p p to @p q.
  virtual double distance(const BranchPoint &p, const BranchPoint &q) = 0;

  /// x and λ of @p to at to.sigma along the tangent at @p p.
  virtual void predict(const BranchPoint &p, BranchPoint &to) = 0;

  /// x and λ of @p to at to.sigma, by cubic interpolation of values and derivatives at @p p and @p
  /// q.
  virtual void interpolate(const BranchPoint &p, const BranchPoint &q, BranchPoint &to) = 0;
};

template <class Backend>
std::unique_ptr<BranchCorrector> make_corrector_on(const NonlinearSystem &system, double metric,
                                                   const LinearSolverOptions &linear);

/**
 * On the backend of system.A.
 * @param system must outlive it; its λ does not matter
 * @param metric θ / Σ w_i
 * @param linear the solver takes J = A − λ W φ'(x), the preconditioner is made once, from A
 * @throws ParameterError as the registries do; SolverError if the preconditioner cannot be made
 */
std::unique_ptr<BranchCorrector> make_branch_corrector(const NonlinearSystem &system, double metric,
                                                       const LinearSolverOptions &linear);
} // namespace femgpu::linalg

#endif
