#include "app/driver.h"
#include "app/table.h"
#include "app/time_report.h"
#include "linalg/base/error.h"
#include "physics/estimators.h"
#include "physics/time/time_stepper.h"

#include <deal.II/numerics/vector_tools_interpolate.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
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
  TimeOutput(Cycle<dim> &cycle, const TimeState &state) : cycle(cycle), state(state)
  {
    for (const CycleRecord &earlier : cycle.study.cycles)
      n_measured += static_cast<unsigned int>(earlier.history->points.size());
    if (cycle.parameters.study.cycles > 1)
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
    FeVector before = state.u;
    before.add(-tau, state.rate);
    before.update_ghost_values();
    cycle.problem.set_storage(Storage{tau, &before});
    DiscreteSolution<dim> solution(cycle.problem, cycle.discretization, state.u);
    CycleRecord &record = cycle.record;
    const MeasuredValues measured = evaluate_solution(cycle, solution);
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
  unsigned int n_measured = 0;
};

/// Collective. Adapts the mesh to u of the state, which is moved to the new mesh.
template <int dim>
void adapt(Cycle<dim> &cycle, TimeState &state)
{
  if (cycle.indicators.size() == 0 && cycle.parameters.study.is_by_estimate())
    estimate_error(Estimator::kelly, cycle.problem, cycle.discretization, state.u,
                   cycle.indicators);
  cycle.adapt({&state.u});
  cycle.discretization.constraints().distribute(state.u);
  state.u.update_ghost_values();
  state.rate.reinit(state.u); // rates on the former mesh are of no use
  state.earlier_step = 0.;
}
} // namespace

template <int dim>
void integrate_in_time(Cycle<dim> &cycle)
{
  const TimeParameters &time = cycle.parameters.time;
  CycleRecord &record = cycle.record;
  record.history.emplace();
  std::optional<StageSolver<dim>> stages; // for the present mesh, as the next object
  std::optional<TimeStepper<dim>> stepper;
  TimeState state;
  linalg::SolveCosts costs; // of earlier meshes
  const auto begin_mesh = [&] {
    if (stages)
      costs += stages->costs();
    stages.emplace(cycle.problem, cycle.discretization, cycle.solver, *cycle.system, cycle.clock);
    stages->move_to(state.t);
  };
  begin_mesh();
  state.u = cycle.discretization.make_vector();
  VectorTools::interpolate(cycle.discretization.mapping(), cycle.discretization.dofs(),
                           *cycle.problem.initial_value(), state.u);
  cycle.discretization.constraints().distribute(state.u);
  state.u.update_ghost_values();
  stepper.emplace(time, cycle.discretization, *stages, state);
  TimeOutput<dim> output(cycle, state);
  SolveSummary &summary = record.solve;
  const std::vector<double> stops = time.stops();
  summary.report = stepper->start(stops.front(), record.seconds);
  stages->move_to(0.);
  Stopwatch since_save;
  const auto on_attempt = [&](const StepRecord &step) {
    record.history->steps.push_back(step);
    summary.linear_iterations += step.linear_iterations;
    summary.nonlinear_iterations += step.nonlinear_iterations;
    cycle.console.detail(to_string(step));
    cycle.console.progress(to_string(step));
  };
  if (summary.report.converged())
    output.write();
  for (const double stop : stops) {
    while (summary.report.converged() && state.t < stop) {
      cycle.console.begin_phase("solve");
      const double before = state.t;
      summary.report = stepper->advance(stop, record.seconds, on_attempt);
      if (!summary.report.converged()) {
        std::ostringstream text;
        text << "The step after t = " << before << " failed, even with a length of "
             << record.history->steps.back().length << ": " << summary.report.message;
        summary.report.message = text.str();
        stages->move_to(before);
        if (record.history->points.back().step < state.n_steps)
          output.write(); // the last solution that was computed
      }
      else {
        cycle.indicators.reinit(0);
        if (time.outputs_all_steps() || state.t == stop)
          output.write();
        if (time.adapt_every > 0 && state.n_steps % time.adapt_every == 0 && state.t < time.end) {
          adapt(cycle, state);
          begin_mesh();
          stepper.emplace(time, cycle.discretization, *stages, state);
        }
      }
      const bool saves = Utilities::MPI::logical_or(since_save.elapsed() > seconds_between_saves,
                                                    cycle.communicator);
      if (saves) {
        cycle.save();
        since_save.lap();
      }
    }
  }
  costs += stages->costs();
  summary.report.costs = costs;
  cycle.u = state.u;
  cycle.u.update_ghost_values();
}

template void integrate_in_time(Cycle<2> &);
template void integrate_in_time(Cycle<3> &);
} // namespace femgpu
