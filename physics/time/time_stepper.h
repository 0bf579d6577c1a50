#ifndef femgpu_physics_time_time_stepper_h
#define femgpu_physics_time_time_stepper_h

#include "physics/time/stage_solver.h"
#include "physics/time/step_record.h"
#include "physics/time/time_parameters.h"
#include "physics/time/time_state.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/**
 * Advances the solution of a transient problem. The length of a step is given, or it follows from
 * the estimated local error (Hairer and Wanner, Solving Ordinary Differential Equations II, IV.8);
 * it changes only if the new length is shorter or at least 1.3 times as long, because a change
 * costs a set-up. A step whose solve fails is repeated with half its length. Subclasses make single
 * steps.
 */
template <int dim>
class TimeStepper
{
public:
  /// All arguments must outlive this object.
  TimeStepper(const TimeParameters &parameters, const Discretization<dim> &discretization,
              StageSolver<dim> &stages, TimeState &state);
  virtual ~TimeStepper() = default;

  /**
   * Collective. Computes the rates of the state. The solution does not advance. advance() calls
   * this function on each new mesh.
   * @param stop the argument of the next advance(), whose matrix already serves here
   * @return the report of the last solve
   */
  virtual linalg::SolveReport start(double stop, std::map<std::string, double> &seconds) = 0;

  /**
   * Collective. Makes one accepted step towards @p stop, which it reaches but does not pass.
   * @param on_attempt is called for each step that was tried, also if it was rejected
   * @return the report of the last solve; not converged if even the shortest step failed, in which
   * case the state is unchanged
   */
  linalg::SolveReport advance(double stop, std::map<std::string, double> &seconds,
                              const std::function<void(const StepRecord &)> &on_attempt);

  /// Returns the acceleration at the time of the state; empty for equations of order 1 in time.
  virtual FeVector acceleration() const
  {
    return {};
  }
  /// Returns (u − w)/τ of the storage term in the state, given its acceleration().
  virtual FeVector inertia(const FeVector & /* acceleration */) const
  {
    return state.rate;
  }
  /// Returns the warnings of start() about initial data.
  const std::vector<std::string> &warnings() const
  {
    return all_warnings;
  }

protected:
  /// Returns the number of equal steps from the time of the state to @p stop.
  double n_steps_to(double stop) const;

  const TimeParameters &parameters;
  const Discretization<dim> &discretization;
  StageSolver<dim> &stages;
  TimeState &state;
  FeVector u; ///< the solution at the end of the step that is tried
  std::vector<std::string> all_warnings;

private:
  /// Returns the order of convergence.
  virtual int order() const = 0;
  /// Computes a step, and stores u at its end. Does not change the state.
  virtual linalg::SolveReport attempt(double length, StepRecord &record,
                                      std::map<std::string, double> &seconds) = 0;
  /// Returns the estimated error of the last attempt relative to the size of u; nullopt if it
  /// cannot be estimated.
  virtual std::optional<double> estimated_error(double length) const = 0;
  /// Moves the state to the end of the last attempt, except for its time and u.
  virtual void accept(double length, StepRecord &record) = 0;
  /// Called after a rejected step.
  virtual void reject()
  {}
  void extend_range(const FeVector &u);
};

/// Returns a stepper for problems of order 1 in time. All arguments must outlive it.
template <int dim>
std::unique_ptr<TimeStepper<dim>>
make_runge_kutta_stepper(const TimeParameters &parameters,
                         const Discretization<dim> &discretization, StageSolver<dim> &stages,
                         TimeState &state);

/// Returns a stepper for problems of order 2 in time. All arguments must outlive it.
template <int dim>
std::unique_ptr<TimeStepper<dim>>
make_second_order_stepper(const TimeParameters &parameters, Discretization<dim> &discretization,
                          StageSolver<dim> &stages, TimeState &state);

/// Collective. Returns max_i |x_i|.
double largest_magnitude(const FeVector &x);
} // namespace femgpu

#endif
