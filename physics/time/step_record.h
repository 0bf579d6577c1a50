#ifndef femgpu_physics_time_step_record_h
#define femgpu_physics_time_step_record_h

#include <cstddef>
#include <optional>
#include <string>

namespace femgpu
{
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
  std::string remark; ///< why the step was rejected or not estimated; empty if there is no reason
};
} // namespace femgpu

#endif
