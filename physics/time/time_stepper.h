#ifndef femgpu_physics_time_time_stepper_h
#define femgpu_physics_time_time_stepper_h

#include "physics/time/stage_solver.h"
#include "physics/time/step_record.h"
#include "physics/time/time_parameters.h"
#include "physics/time/time_scheme.h"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/// The state of a transient analysis between two steps.
struct TimeState
{
  double t = 0.;
  double step = 0.;                 ///< length of the next step, unless an output time is nearer
  double earlier_step = 0.;         ///< length of the last step; 0 before the first one
  FeVector u;                       ///< with ghost values
  FeVector rate;                    ///< ∂u/∂t
  FeVector earlier_rate;            ///< ∂u/∂t before the last step; empty before the first step
  double lowest = 0., highest = 0.; ///< the range of all values of u so far
  std::size_t n_steps = 0;          ///< accepted steps
  std::size_t steps_on_mesh = 0;    ///< those since the mesh last changed
  bool has_rate = false;            ///< whether `rate` was computed on this mesh

  /// Drops what does not move to a new mesh.
  void forget_mesh()
  {
    rate.reinit(u);
    earlier_rate.reinit(0);
    earlier_step = 0.;
    steps_on_mesh = 0;
    has_rate = false;
  }
};

/**
 * Advances the solution of a transient problem. The length of a step is given, or it follows from
 * the estimated local error (Hairer and Wanner, Solving Ordinary Differential Equations II, IV.8);
 * it changes only if the new length is shorter or at least 1.3 times as long, because a change
 * costs a set-up. A step whose solve fails is repeated with half its length.
 */
template <int dim>
class TimeStepper
{
public:
  /// All arguments must outlive this object.
  TimeStepper(const TimeParameters &parameters, const Discretization<dim> &discretization,
              StageSolver<dim> &stages, TimeState &state);

  /**
   * Collective. Computes the rate of the state, from two short steps of backward Euler and linear
   * extrapolation of their rates, which damps fast modes. The solution does not advance.
   * advance() calls this function on each new mesh.
   * @param stop the argument of the next advance(), whose matrix already serves here
   * @return the report of the last solve
   */
  linalg::SolveReport start(double stop, std::map<std::string, double> &seconds);

  /**
   * Collective. Makes one accepted step towards @p stop, which it reaches but does not pass.
   * @param on_attempt is called for each step that was tried, also if it was rejected
   * @return the report of the last solve; not converged if even the shortest step failed, in which
   * case the state is unchanged
   */
  linalg::SolveReport advance(double stop, std::map<std::string, double> &seconds,
                              const std::function<void(const StepRecord &)> &on_attempt);

private:
  /// Returns the number of equal steps from the time of the state to @p stop.
  double n_steps_to(double stop) const;
  linalg::SolveReport attempt(double length, StepRecord &record,
                              std::map<std::string, double> &seconds);
  std::optional<double> estimated_error(double length) const;
  void extend_range(const FeVector &u);
  void accept(double length, double t);

  const TimeParameters &parameters;
  const Discretization<dim> &discretization;
  StageSolver<dim> &stages;
  TimeState &state;
  const TimeScheme &scheme;
  std::vector<FeVector> rates; ///< k_1, k_2, ...
  FeVector base, u;            ///< w and U of the last stage
};
} // namespace femgpu

#endif
