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

/// Returns the names and descriptions of the schemes.
std::vector<Choice> time_scheme_choices();
} // namespace femgpu

#endif
