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
  double H1 = 0.; ///< of the gradient
};

/// Norms of u − u_exact.
struct ErrorNorms
{
  double L2 = 0.;
  double H1 = 0.;   ///< of the gradient
  double Linf = 0.; ///< the largest at points between the nodes

  double exact_L2 = 0., exact_H1 = 0.; ///< the same norms of u_exact
};

/// What a solution tells about its own error.
struct ErrorEstimate
{
  double error = 0.; ///< (Σ_K η_K²)^(1/2) with the indicators η_K of all cells
  double size = 0.;  ///< the norm in L2 of the flux σ, of which the error is a part
  std::optional<double> effectivity; ///< the estimated over the true error, where that is known

  double relative() const
  {
    return error / size;
  }
};

/// A number that a run reports in each cycle.
struct Quantity
{
  std::string name;
  double value;
  /// Does it converge? Places of extrema need not, and defects are rounding and what solvers leave.
  bool has_limit = true;
  bool is_nonnegative = false; ///< as norms, magnitudes and energies are
};

/// A quantity that cannot be negative.
inline Quantity nonnegative_quantity(std::string name, const double value)
{
  return {std::move(name), value, /* has_limit */ true, /* is_nonnegative */ true};
}

/**
 * The measures by which a linear solve is judged. Neither ‖b‖ nor the energy norm of the reduced
 * system is a sound reference: both grow with the contrast of coefficients, with penalties and with
 * offsets of Dirichlet data. The energy and the internal forces of the unreduced problem do not. D
 * is the diagonal of the reduced matrix A.
 */
struct Accuracy
{
  /// E(u) = Σ_e u_eᵀ K_e u_e + Σ_i q_i² / d_i, where q_i is the net exchange at dof i, ∫ a (g − u)
  /// φ_i of a Robin condition.
  double energy = 0.;
  /// ‖s‖ in D⁻¹ with s_i = Σ_e |K_e u_e|_i + |q_i|.
  double internal_forces = 0.;
  /// ‖b + λ W φ(x) − A x‖ in D⁻¹.
  double residual = 0.;
  /// The part of the residual that rounding explains: 8 √m 2⁻⁵³ ‖|A| |x| + |b|‖ in D⁻¹, m entries
  /// in the longest row.
  double rounding = 0.;

  /// The factor by which the residual must fall to reach @p tolerance relative to the internal
  /// forces; 1 or more if it has.
  double share_to_reach(const double tolerance) const
  {
    return residual == 0. ? 1. : tolerance * internal_forces / residual;
  }
  /// Is the estimated @p energy_error at most @p tolerance relative to the energy norm? A residual
  /// at rounding is small enough, too: the estimate, negative if there is none, is that of an
  /// earlier iterate.
  bool has_small_error(const double tolerance, const double energy_error) const
  {
    return is_at_rounding() ||
           (energy_error >= 0. && energy_error <= tolerance * std::sqrt(energy));
  }
  /// Is the residual what rounding leaves?
  bool is_at_rounding() const
  {
    return residual <= rounding;
  }
  /// Are the internal forces rounding alone, as in a body at one temperature?
  bool shows_no_flow() const
  {
    return internal_forces <= rounding && is_at_rounding();
  }
};

/// How the system of one cycle was solved.
struct SolveSummary
{
  linalg::SolveReport report;       ///< of the linear or of the nonlinear solve
  int nonlinear_iterations = 0;     ///< 0 for linear problems
  int linear_iterations = 0;        ///< all together; 0 for methods that solve no linear systems
  std::optional<Accuracy> accuracy; ///< unless other tolerances have decided
};
} // namespace femgpu

#endif
