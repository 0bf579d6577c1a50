#ifndef femgpu_linalg_nonlinear_branch_corrector_h
#define femgpu_linalg_nonlinear_branch_corrector_h

#include "linalg/nonlinear/nonlinear_method.h"

#include <memory>
#include <string>

namespace femgpu::linalg
{
/// What lengths of branches are made of: (x, y) = factor Σ w_i x_i y_i, plus λ μ.
struct BranchMetric
{
  const Buffer<double> &weights; ///< not negative, not all zero; must outlive what is made with it
  double factor;                 ///< θ / Σ w_i
};

/**
 * A point (x, λ) of a branch of solutions of r(x) = 0, with the unit tangent (ẋ, λ̇) there, in the
 * memory of an executor.
 */
struct BranchPoint
{
  /// Zero. @throws DeviceError without memory
  explicit BranchPoint(const RowSpace &space) : x(space.make_vector()), x_dot(space.make_vector())
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
  double residual = 0., target = 0.; ///< ‖r(x)‖, and what it had to reach

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
   * tangent there, and sets p.sigma to where it is; without @p from for the λ that p has, and
   * leaves p.sigma as it is.
   * @param control relative to ‖c‖ + |λ| ‖∂r/∂λ‖, c the part of r that depends on nothing,
   *        ‖b‖ + |λ| ‖W φ(x)‖ for A x = b + λ W φ(x); and how many corrections at most
   * @param least_corrections also where the residual is small enough
   */
  virtual Correction correct(BranchPoint &p, const BranchPoint *from, double sigma,
                             const SolveControl &control, int least_corrections) = 0;

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
std::unique_ptr<BranchCorrector> make_corrector_on(SemilinearEquation &F,
                                                   const BranchMetric &metric,
                                                   const LinearSolverOptions &linear);

/**
 * On the backend of F.
 * @param F must outlive it, and has a parameter λ, which changes
 * @param linear the solver takes J(x), the preconditioner is made once, from the linear part of F
 * @throws ParameterError as the registries do; SolverError if the preconditioner cannot be made
 */
std::unique_ptr<BranchCorrector> make_branch_corrector(SemilinearEquation &F,
                                                       const BranchMetric &metric,
                                                       const LinearSolverOptions &linear);
} // namespace femgpu::linalg

#endif
