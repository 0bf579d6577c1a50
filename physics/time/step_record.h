#ifndef femgpu_physics_time_step_record_h
#define femgpu_physics_time_step_record_h

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

namespace femgpu
{
/// The energies of a body at the end of a step.
struct EnergyBalance
{
  double kinetic = 0.;    ///< ½ vᵀ M v
  double strain = 0.;     ///< ½ uᵀ K u
  double dissipated = 0.; ///< lost by damping so far
  double work = 0.;       ///< done by loads and moving supports so far
  double initial = 0.;    ///< kinetic and strain energy at t = 0

  /// Returns kinetic + strain + dissipated − work − initial, relative to the largest of them.
  double relative_error() const
  {
    const double largest =
        std::max({kinetic, std::abs(strain), dissipated, std::abs(work), std::abs(initial)});
    return largest > 0. ? (kinetic + strain + dissipated - work - initial) / largest : 0.;
  }
};

/// A step that was tried.
struct StepRecord
{
  std::size_t step =
      0;              ///< 1 for the first accepted step; rejected steps count with their successor
  double t = 0.;      ///< the time at its end
  double length = 0.; ///< Δt
  bool is_accepted = false;
  std::optional<double> error; ///< the estimated local error divided by the tolerance
  int nonlinear_iterations = 0, linear_iterations = 0;
  std::size_t set_ups = 0; ///< set-ups of the preconditioner
  double seconds = 0.;
  std::optional<EnergyBalance> energy; ///< in dynamics, of accepted steps
  std::string remark; ///< why the step was rejected or not estimated; empty if there is no reason
};
} // namespace femgpu

#endif
