#ifndef femgpu_physics_results_h
#define femgpu_physics_results_h

#include "linalg/solvers/report.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace femgpu
{
/// Norms of u.
struct SolutionNorms
{
  double L2 = 0.;
  double H1 = 0.; ///< L2 norm of the gradient
};

/// Norms of u − u_exact.
struct ErrorNorms
{
  double L2 = 0.;
  double H1 = 0.;   ///< L2 norm of the gradient
  double Linf = 0.; ///< maximum at sample points, most of which lie between nodes

  double exact_L2 = 0., exact_H1 = 0.; ///< the same norms of u_exact
};

/// An estimate of a solution's error.
struct ErrorEstimate
{
  double error = 0.; ///< (Σ_K η_K²)^(1/2) with the indicators η_K of all cells
  double size = 0.;  ///< the L2 norm of the flux σ, the reference for relative errors
  std::optional<double> effectivity; ///< estimated error / true error, if the latter is known

  double relative() const
  {
    return error / size;
  }
};

/// A number that is reported in each cycle.
struct Quantity
{
  std::string name;
  double value;
  /// Whether the value converges as the mesh is refined. Locations of extrema need not converge;
  /// defects consist of rounding and solver errors.
  bool has_limit = true;
  bool is_nonnegative = false; ///< whether the value is never negative, like a norm
};

/// Returns a quantity that cannot be negative.
inline Quantity nonnegative_quantity(std::string name, const double value)
{
  return {std::move(name), value, /* has_limit */ true, /* is_nonnegative */ true};
}

/**
 * Measures of the accuracy of a solve. The reduced system A x = b is the one without constrained
 * dofs. Neither ‖b‖ nor the energy norm of x is a sound reference: both grow with the contrast of
 * coefficients, with penalties and with offsets of Dirichlet data. The energy and the internal
 * forces of the problem that includes the constrained dofs do not grow. With the diagonal D of A,
 * the norm of v in D⁻¹ is (vᵀ D⁻¹ v)^(1/2).
 */
struct Accuracy
{
  /// The energy E(u) = Σ_e u_eᵀ K_e u_e + Σ_i q_i² / d_i, with the cells e, the diagonal entries
  /// d_i of D, and the net exchange q_i at dof i (Evaluation::exchange).
  double energy = 0.;
  /// The norm ‖s‖ in D⁻¹ with s_i = Σ_e |K_e u_e|_i + |q_i|.
  double internal_forces = 0.;
  /// The residual norm ‖b + λ W φ(x) − A x‖ in D⁻¹.
  double residual = 0.;
  /// A bound on the residual due to rounding: 8 √m 2⁻⁵³ ‖|A| |x| + |b|‖ in D⁻¹, with m entries in
  /// the longest row.
  double rounding = 0.;

  /// Returns the factor by which the residual must be multiplied to become @p tolerance times the
  /// internal forces; 1 or more if the residual is already small enough.
  double residual_reduction(const double tolerance) const
  {
    return residual == 0. ? 1. : tolerance * internal_forces / residual;
  }
  /// Returns whether the estimated @p energy_error is at most @p tolerance times the energy norm.
  /// A residual at rounding level is accepted, too, because the estimate refers to an earlier
  /// iterate. A negative @p energy_error means that there is no estimate.
  bool has_small_error(const double tolerance, const double energy_error) const
  {
    return is_at_rounding() ||
           (energy_error >= 0. && energy_error <= tolerance * std::sqrt(energy));
  }
  /// Returns whether the residual is at rounding level.
  bool is_at_rounding() const
  {
    return residual <= rounding;
  }
  /// Returns whether internal forces consist of rounding only, as in a body at constant
  /// temperature.
  bool has_no_flow() const
  {
    return internal_forces <= rounding && is_at_rounding();
  }
};

/// A summary of the solve in one cycle.
struct SolveSummary
{
  linalg::SolveReport report;       ///< report of the linear or nonlinear solve
  int nonlinear_iterations = 0;     ///< 0 for linear problems
  int linear_iterations = 0;        ///< total; 0 for methods without linear systems
  std::optional<Accuracy> accuracy; ///< absent if it was not measured
};
} // namespace femgpu

#endif
