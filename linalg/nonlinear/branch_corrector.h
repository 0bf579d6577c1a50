#ifndef femgpu_linalg_nonlinear_branch_corrector_h
#define femgpu_linalg_nonlinear_branch_corrector_h

#include "linalg/nonlinear/nonlinear_method.h"

#include <memory>
#include <string>

namespace femgpu::linalg
{
/// The inner product of points (x, λ) and (y, μ) that defines lengths on a branch: factor Σ w_i x_i
/// y_i + λ μ.
struct BranchMetric
{
  const Buffer<double> &weights; ///< non-negative, not all zero; must outlive users of the metric
  double factor;                 ///< θ / Σ w_i
};

/**
 * A point (x, λ) of a branch of solutions of r(x) = 0, with the unit tangent (ẋ, λ̇) of the branch
 * at this point, in the memory of an executor.
 */
struct BranchPoint
{
  /// Creates a zero point.
  /// @throws DeviceError if memory is insufficient
  explicit BranchPoint(const RowSpace &space) : x(space.make_vector()), x_dot(space.make_vector())
  {
    x.fill_zero();
    x_dot.fill_zero();
  }

  Buffer<double> x, x_dot;
  double lambda = 0., lambda_dot = 0.;
  /// sigma: distance from the start of the step along the tangent there. speed: the factor that
  /// turns (ẋ, λ̇) into the derivative with respect to sigma.
  double sigma = 0., speed = 1.;
};

/// The result of correcting a point.
struct CorrectorResult
{
  Outcome outcome = Outcome::breakdown;
  std::string message; ///< after a failure: a sentence that says why
  int corrections = 0, linear_iterations = 0;
  double residual = 0., target = 0.; ///< ‖r(x)‖, and the value that it had to reach

  bool converged() const
  {
    return outcome == Outcome::converged;
  }
};

/// The operations on points of a branch that depend on the backend; BranchTracer calls them.
class BranchCorrector
{
public:
  virtual ~BranchCorrector() = default;

  /**
   * Corrects the point @p p by Newton's method within the plane that is orthogonal to the tangent
   * at the point @p from and at distance @p sigma from this point, and sets p.sigma to the distance
   * reached. If @p from is nullptr, corrects p at fixed λ, and does not change p.sigma.
   * @param control the maximum number of corrections, and a tolerance relative to ‖c‖ + |λ|
   * ‖∂r/∂λ‖, where c is the constant part of r; for A x = b + λ W φ(x) this is ‖b‖ + |λ| ‖W φ(x)‖
   * @param min_corrections minimum number of corrections, even if the residual is small enough
   */
  virtual CorrectorResult correct(BranchPoint &p, const BranchPoint *from, double sigma,
                                  const SolveControl &control, int min_corrections) = 0;

  /**
   * Finds the unit tangent at @p p that points in the direction of the tangent at @p before.
   * @param correction the result of correct() for @p p, which must have been the last call of
   * correct(); receives the additional work and, if the tangent is not found, the failure
   */
  virtual void find_tangent(BranchPoint &p, const BranchPoint &before,
                            CorrectorResult &correction) = 0;

  /// Returns the cosine of the angle between the tangents at @p p and @p q.
  virtual double cosine(const BranchPoint &p, const BranchPoint &q) = 0;

  /// Returns the length of the chord from @p p to @p q.
  virtual double distance(const BranchPoint &p, const BranchPoint &q) = 0;

  /// Computes x and λ of the point @p to, at distance to.sigma from @p p along the tangent at p.
  virtual void predict(const BranchPoint &p, BranchPoint &to) = 0;

  /// Computes x and λ of the point @p to, at distance to.sigma, by cubic interpolation of the
  /// values and derivatives at @p p and @p q.
  virtual void interpolate(const BranchPoint &p, const BranchPoint &q, BranchPoint &to) = 0;
};

template <class Backend>
std::unique_ptr<BranchCorrector> make_corrector_on(SemilinearEquation &F,
                                                   const BranchMetric &metric,
                                                   const LinearSolverOptions &linear);

/**
 * Makes a corrector on the backend of F.
 * @param F must outlive the corrector, which changes the λ of F
 * @param linear methods for the linear systems with J(x); the preconditioner is made once, from the
 * linear part of F
 * @throws ParameterError for unknown names and options
 * @throws SolverError if the preconditioner cannot be made
 */
std::unique_ptr<BranchCorrector> make_branch_corrector(SemilinearEquation &F,
                                                       const BranchMetric &metric,
                                                       const LinearSolverOptions &linear);
} // namespace femgpu::linalg

#endif
