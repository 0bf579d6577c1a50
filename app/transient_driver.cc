#include "app/driver.h"
#include "app/record_archive.h"
#include "app/table.h"
#include "app/time_report.h"
#include "linalg/base/error.h"
#include "physics/estimators.h"
#include "physics/time/time_stepper.h"

#include <deal.II/numerics/vector_tools_interpolate.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
constexpr double seconds_between_saves = 10.;

/// Writes the solutions of a transient analysis at its output times.
template <int dim>
class TimeOutput
{
public:
  TimeOutput(Cycle<dim> &cycle, const TimeState &state,
             const std::unique_ptr<TimeStepper<dim>> &stepper)
      : cycle(cycle), state(state), stepper(stepper)
  {
    for (const CycleRecord &earlier : cycle.study.cycles)
      n_measured += static_cast<unsigned int>(earlier.history->points.size());
    n_measured += static_cast<unsigned int>(cycle.record.history->points.size());
    if (cycle.parameters.study.cycles > 1 && !cycle.restored)
      cycle.output.begin_series("_cycle" + std::to_string(cycle.record.cycle), cycle.communicator);
  }

  /// Collective. Evaluates and writes the solution of the state. The outcome of the record is
  /// `not_finite` if data cannot be evaluated at a node. @pre the clock shows the time of the state
  void write()
  {
    cycle.watch.lap();
    cycle.console.begin_phase("output");
    // The storage term of fluxes and balance is that of the state's rate.
    const double tau =
        state.earlier_step > 0. ? state.earlier_step : cycle.parameters.time.first_step();
    const FeVector acceleration = stepper->acceleration(), inertia = stepper->inertia(acceleration);
    FeVector before;
    const auto set_storage = [&](const FeVector &u) {
      before = u;
      before.add(-tau, inertia);
      before.update_ghost_values();
      cycle.problem.set_storage(Storage{tau, &before, cycle.parameters.time.has_lumped_mass(),
                                        &state.rate, &acceleration});
    };
    std::optional<Evaluation> damped; // with the forces of damping
    if (const double beta = cycle.parameters.time.stiffness_damping; beta > 0.) {
      FeVector u = state.u;
      u.add(beta, state.rate);
      u.update_ghost_values();
      set_storage(u);
      damped = evaluate(cycle.problem, cycle.discretization, u);
    }
    set_storage(state.u);
    DiscreteSolution<dim> solution(cycle.problem, cycle.discretization, state.u,
                                   damped ? &*damped : nullptr);
    CycleRecord &record = cycle.record;
    const MeasuredValues measured = evaluate_solution(cycle, solution);
    if (cycle.problem.order_in_time() == 2)
      for (const Quantity &quantity : quantities_of(state.energy))
        record.quantities.push_back(quantity);
    if (state.n_steps == 0) // initial data do not determine a rate, and so no fluxes
      remove_fluxes(solution, record.quantities);
    TimeHistory &history = *record.history;
    const auto index = static_cast<unsigned int>(history.points.size());
    history.points.push_back({index, state.n_steps, state.t, record.quantities, record.errors});
    record.seconds["estimate"] += cycle.watch.lap();
    if (cycle.parameters.output.write_vtu)
      try {
        cycle.output.write(index, state.t, solution, cycle.indicators, /* has converged */ true);
      }
      catch (const ParameterError &error) { // thrown on all ranks: data are invalid at a node
        record.solve.report.outcome = linalg::Outcome::not_finite;
        record.solve.report.message = error.what();
      }
    if (!cycle.measurements.empty())
      cycle.output.write_measurements(
          n_measured++,
          {{"cycle", std::to_string(record.cycle)}, {"time", *general(state.t, digits_of_time)}},
          measured, cycle.communicator);
    cycle.problem.set_storage({});
    record.seconds["output"] += cycle.watch.lap();
  }

private:
  static void remove_fluxes(DiscreteSolution<dim> &solution, std::vector<Quantity> &quantities)
  {
    for (const Quantity &flux : solution.flux_quantities())
      quantities.erase(std::remove_if(quantities.begin(), quantities.end(),
                                      [&](const Quantity &q) { return q.name == flux.name; }),
                       quantities.end());
  }
  Cycle<dim> &cycle;
  const TimeState &state;
  const std::unique_ptr<TimeStepper<dim>> &stepper;
  unsigned int n_measured = 0;
};

/// Collective. Adapts the mesh to u of the state, which is moved to the new mesh.
template <int dim>
void adapt(Cycle<dim> &cycle, TimeState &state)
{
  if (cycle.indicators.size() == 0 && cycle.parameters.study.is_by_estimate())
    estimate_error(Estimator::kelly, cycle.problem, cycle.discretization, state.u,
                   cycle.indicators);
  cycle.adapt(state.functions());
  cycle.discretization.constraints().distribute(state.u);
  state.u.update_ghost_values();
  state.has_rates = false;
  state.earlier_step = 0.;
}

/// Returns the functions of the state that belong to the present mesh.
std::vector<FeVector *> functions_of(TimeState &state, const int order_in_time)
{
  std::vector<FeVector *> functions = {&state.u};
  if (order_in_time == 2 || state.has_rates)
    functions.push_back(&state.rate);
  if (state.earlier_step > 0.)
    functions.push_back(&state.earlier_rate);
  if (order_in_time == 2)
    functions.push_back(&state.acceleration);
  if (order_in_time == 2 && state.has_rates)
    functions.insert(functions.end(), {&state.forces, &state.stage, &state.stage_inertia});
  return functions;
}

DriverState to_driver_state(TimeState &state, const int order_in_time)
{
  DriverState result = {packed(state), {}};
  for (FeVector *const function : functions_of(state, order_in_time))
    result.functions.push_back(*function);
  return result;
}

TimeState to_time_state(DriverState saved, const int order_in_time)
{
  auto state = unpacked<TimeState>(saved.scalars);
  auto from = saved.functions.begin();
  for (FeVector *const function : functions_of(state, order_in_time))
    function->swap(*from++);
  return state;
}

/// The integration of a problem from the initial value, or from the state of an earlier run, to the
/// end time.
template <int dim>
class TimeIntegration
{
public:
  explicit TimeIntegration(Cycle<dim> &cycle)
      : cycle(cycle), time(cycle.parameters.time), record(cycle.record),
        order(cycle.problem.order_in_time())
  {}

  void run()
  {
    const std::vector<double> stops = time.stops();
    if (cycle.restored) {
      state.emplace(to_time_state(std::move(*cycle.restored), order));
      costs = record.solve.report.costs;
      if (state->t > time.end)
        throw ParameterError("The checkpoint is at t = " + *general(state->t, digits_of_time) +
                                 ", after Time/End time. Set a later end.",
                             "Time/End time");
      begin_mesh();
      output.emplace(cycle, *state, stepper);
    }
    else
      begin(stops.front());
    for (const double stop : stops)
      while (record.solve.report.converged() && state->t < stop)
        step_towards(stop);
    end_mesh();
    cycle.u.swap(state->u);
  }

private:
  /// Begins at t = 0. The next output is at @p stop.
  void begin(const double stop)
  {
    record.history.emplace();
    output.emplace(cycle, *state, stepper);
    begin_mesh();
    interpolate(cycle.problem.initial_value(), state->u);
    if (order == 1) // SecondOrderStepper compares u with the constraints
      cycle.discretization.constraints().distribute(state->u);
    else
      interpolate(cycle.problem.initial_velocity(), state->rate);
    state->u.update_ghost_values();
    begin_steps();
    record.solve.report = stepper->start(stop, record.seconds);
    for (const std::string &text : stepper->warnings())
      cycle.console.warn(text);
    stages->move_to(0.);
    if (record.solve.report.converged())
      output->write();
  }

  /// Sets @p to to the interpolant of @p function, or to zero if it is nullptr.
  void interpolate(const Function<dim> *const function, FeVector &to) const
  {
    to = cycle.discretization.make_vector();
    if (function != nullptr)
      VectorTools::interpolate(cycle.discretization.mapping(), cycle.discretization.dofs(),
                               *function, to);
  }

  void begin_mesh()
  {
    stages.emplace(cycle.problem, cycle.discretization, cycle.solver, *cycle.system, cycle.clock,
                   time);
    stages->move_to(state->t);
    if (state->n_steps > 0)
      begin_steps();
  }

  void begin_steps()
  {
    stepper = order == 2
                  ? make_second_order_stepper<dim>(time, cycle.discretization, *stages, *state)
                  : make_runge_kutta_stepper<dim>(time, cycle.discretization, *stages, *state);
  }

  void end_mesh()
  {
    costs += stages->costs();
    record.solve.report.costs = costs;
    stepper.reset();
    stages.reset();
  }

  void step_towards(const double stop)
  {
    cycle.console.begin_phase("solve");
    const double before = state->t;
    record.solve.report = stepper->advance(stop, record.seconds, [&](const StepRecord &step) {
      record.history->steps.push_back(step);
      record.solve.linear_iterations += step.linear_iterations;
      record.solve.nonlinear_iterations += step.nonlinear_iterations;
      cycle.console.detail(to_string(step));
      cycle.console.progress(to_string(step));
    });
    if (!record.solve.report.converged()) {
      explain_failure(before);
      return;
    }
    cycle.indicators.reinit(0);
    if (time.outputs_all_steps() || state->t == stop)
      output->write();
    if (time.adapt_every > 0 && state->n_steps % time.adapt_every == 0 && state->t < time.end) {
      end_mesh();
      adapt(cycle, *state);
      begin_mesh();
    }
    if (cycle.is_checkpoint_due()) {
      end_mesh();
      DriverState saved = to_driver_state(*state, order);
      cycle.checkpoint(saved);
      cycle.solver.group_solver().start_anew();
      state.emplace(to_time_state(std::move(saved), order));
      begin_mesh();
    }
    if (Utilities::MPI::logical_or(since_save.elapsed() > seconds_between_saves,
                                   cycle.communicator)) {
      cycle.save();
      since_save.lap();
    }
  }

  /// Says in the report which step failed, and writes the last solution that was computed.
  void explain_failure(const double t)
  {
    std::string &message = record.solve.report.message;
    std::ostringstream text;
    text << "The step after t = " << t << " failed, even with a length of "
         << record.history->steps.back().length << ": " << message;
    message = text.str();
    stages->move_to(t);
    if (record.history->points.back().step < state->n_steps)
      output->write();
  }

  Cycle<dim> &cycle;
  const TimeParameters &time;
  CycleRecord &record;
  int order; ///< of the equation in time
  /// Checkpoints emplace another one: operator= of vectors may keep the ghosts of a former mesh.
  std::optional<TimeState> state = TimeState();
  linalg::SolveCosts costs; ///< of earlier meshes
  std::optional<TimeOutput<dim>> output;
  std::optional<StageSolver<dim>> stages;    ///< for the present mesh
  std::unique_ptr<TimeStepper<dim>> stepper; ///< for the present mesh
  Stopwatch since_save;
};
} // namespace

template <int dim>
void integrate_in_time(Cycle<dim> &cycle)
{
  TimeIntegration<dim>(cycle).run();
}

template void integrate_in_time(Cycle<2> &);
template void integrate_in_time(Cycle<3> &);
} // namespace femgpu
