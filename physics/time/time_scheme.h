#ifndef femgpu_physics_time_time_scheme_h
#define femgpu_physics_time_time_scheme_h

#include "linalg/base/choice.h"

#include <string>
#include <vector>

namespace femgpu
{
/**
 * A diagonally implicit Runge-Kutta method for c u' = F(t, u) whose last stage is the solution at
 * the end of the step. The rates u' at the stages are k_0, k_1, ..., where k_0 is the rate at the
 * beginning, known from the previous step. Stage i solves
 *
 *   c (U_i − w_i)/τ = F(t + c_i Δt, U_i),   w_i = u + Δt Σ_{j<i} a_ij k_j,   τ = a Δt,
 *
 * and k_i = (U_i − w_i)/τ. All stages have the same a, so that linear problems need one matrix.
 * Source: Hairer and Wanner, Solving Ordinary Differential Equations II, IV.6; Hosea and Shampine,
 * Applied Numerical Mathematics 20 (1996), for tr-bdf2.
 */
struct TimeScheme
{
  struct Stage
  {
    double node;                        ///< c_i
    std::vector<double> explicit_rates; ///< a_ij for j < i
  };

  std::string name;
  int order;       ///< order of convergence
  double diagonal; ///< a
  std::vector<Stage> stages;
  /// e_0, e_1, ...: Δt Σ_j e_j k_j estimates the local error. If empty, the estimate is Δt³
  /// u'''/12, with u''' from the rates at the ends of this step and of the previous one.
  std::vector<double> error_weights;
};

/// Returns the scheme "backward-euler", "crank-nicolson" or "tr-bdf2".
const TimeScheme &time_scheme(const std::string &name);

/**
 * A one-step method for M ü + C u̇ + K u = f with Newmark's relations
 *
 *   u_1 = u_0 + Δt v_0 + Δt² ((1/2 − β) a_0 + β a_1),   v_1 = v_0 + Δt ((1 − γ) a_0 + γ a_1),
 *
 * and the equation M a_m + C v_f + K u_f = f(t_f), where x_m = (1 − α_m) x_1 + α_m x_0 and
 * x_f = (1 − α_f) x_1 + α_f x_0. The acceleration a_1 approximates ü at t_1 + (α_m − α_f) Δt.
 * Source: Chung and Hulbert, Journal of Applied Mechanics 60 (1993), for generalised-α.
 */
struct SecondOrderScheme
{
  double alpha_m, alpha_f, beta, gamma;
};

/// Returns whether the scheme @p name is for equations of order 2 in time.
bool is_second_order(const std::string &name);

/// Returns generalised-α whose spectral radius for Δt → ∞ is @p radius.
SecondOrderScheme generalised_alpha(double radius);

/// Returns the names and descriptions of the schemes.
std::vector<Choice> time_scheme_choices();
} // namespace femgpu

#endif
