#include "app/convergence.h"
#include "app/driver.h"
#include "physics/error_norms.h"
#include "physics/estimators.h"

#include <cmath>

namespace femgpu
{
template <int dim>
MeasuredValues evaluate_solution(Cycle<dim> &cycle, DiscreteSolution<dim> &solution)
{
  const Problem<dim> &problem = cycle.problem;
  CycleRecord &record = cycle.record;
  const FeVector &u = solution.u();
  cycle.indicators.reinit(0);
  if (cycle.parameters.needs_estimate())
    record.estimate = estimate_error(
        cycle.parameters.study.estimator == "residual" ? Estimator::residual : Estimator::kelly,
        problem, cycle.discretization, u, cycle.indicators);
  if (problem.exact_solution() != nullptr) {
    double flux_error = 0.;
    record.errors =
        compute_errors(problem, cycle.discretization, u, record.estimate ? &flux_error : nullptr);
    if (record.estimate)
      record.estimate->effectivity = record.estimate->error / flux_error;
  }
  record.quantities = problem.quantities(solution);
  if (!record.errors)
    record.norms = solution.evaluation().norms;
  if (cycle.measurements.empty())
    return {};
  MeasuredValues measured = cycle.measurements.measure(solution);
  record.quantities = with_measured(measured.quantities, record.quantities);
  return measured;
}

template <int dim>
void solve_stationary(Cycle<dim> &cycle)
{
  const SolverParameters &by = cycle.parameters.solver;
  CycleRecord &record = cycle.record;
  Console &console = cycle.console;
  DiscreteSolution<dim> solution(cycle.problem, cycle.discretization, cycle.u);
  const Progress show = [&](const std::string &text) { console.progress(text); };
  if (by.stops_at_discretisation_error())
    record.predicted = predict_error(cycle.study, record.dofs);
  const double energy_tolerance = record.predicted ? record.predicted->tolerance : 0.;
  record.solve = cycle.solver.solve(solution, *cycle.system, cycle.u, energy_tolerance,
                                    record.seconds, console.shows_progress() ? show : Progress());
  cycle.system.reset();
  cycle.watch.lap();
  const linalg::SolveReport &report = record.solve.report;
  if (!report.method.failed_attempt.empty())
    console.warn(
        report.method.failed_attempt +
        " femgpu used solver 'direct' instead; set Solver/Fallback = none to disable this.");
  if (report.outcome == linalg::Outcome::converged_to_rounding)
    console.warn(report.message);
  if (by.stops_at_discretisation_error() && report.converged())
    record.energy = solution.evaluation().quadratic_energy;
  // The best iterate is written even if it has not converged, unless it is not finite.
  if (!report.converged() && !std::isfinite(cycle.u.l2_norm()))
    return;
  console.begin_phase("estimate");
  const MeasuredValues measured = evaluate_solution(cycle, solution);
  record.seconds["estimate"] += cycle.watch.lap();
  if (report.converged() && record.cycle == 0) // finer meshes would repeat the warnings
    for (const std::string &text : solution.warnings())
      console.warn(text);
  console.begin_phase("output");
  if (cycle.parameters.output.write_vtu)
    cycle.output.write(record.cycle, record.cycle, solution, cycle.indicators, report.converged());
  if (!cycle.measurements.empty())
    cycle.output.write_measurements(record.cycle, {{"cycle", std::to_string(record.cycle)}},
                                    measured, cycle.communicator);
  record.seconds["output"] = cycle.watch.lap();
}

template MeasuredValues evaluate_solution(Cycle<2> &, DiscreteSolution<2> &);
template MeasuredValues evaluate_solution(Cycle<3> &, DiscreteSolution<3> &);
template void solve_stationary(Cycle<2> &);
template void solve_stationary(Cycle<3> &);
} // namespace femgpu
