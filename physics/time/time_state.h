#ifndef femgpu_physics_time_time_state_h
#define femgpu_physics_time_time_state_h

#include "physics/discretization.h"
#include "physics/time/step_record.h"

#include <cstddef>
#include <vector>

namespace femgpu
{
/// The state of a transient analysis between two steps: all that the next steps depend on.
struct TimeState
{
  double t = 0.;
  double step = 0.;         ///< length of the next step, unless an output time is nearer
  double earlier_step = 0.; ///< length of the last step; 0 before the first one on a mesh
  FeVector u;               ///< with ghost values
  FeVector rate;            ///< ∂u/∂t; in dynamics the velocity
  /// ∂u/∂t, in dynamics the acceleration, before the last step; empty before the first step.
  FeVector earlier_rate;
  bool has_rates = false; ///< whether the rates, and in dynamics the forces, are of this mesh
  double lowest = 0., highest = 0.; ///< the range of all values of u so far
  std::size_t n_steps = 0;          ///< accepted steps

  // The following members are used in dynamics only.
  FeVector acceleration;
  FeVector forces; ///< of the loads on free dofs in the last stage, see StageSolver::forces()
  FeVector stage, stage_inertia; ///< y and (y − w)/τ of the last stage
  double stage_time = 0.;
  EnergyBalance energy;

  /// Returns the functions that the next step on another mesh needs.
  std::vector<FeVector *> functions()
  {
    return acceleration.size() == 0 ? std::vector<FeVector *>{&u}
                                    : std::vector<FeVector *>{&u, &rate, &acceleration};
  }
};
} // namespace femgpu

#endif
