#include "physics/solve.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/mpi/solver_groups.h"
#include "linalg/solvers/registry.h"
#include "linalg/transformations/registry.h"
#include "physics/accuracy.h"
#include "physics/advice.h"
#include "physics/assembled_newton.h"
#include "physics/balance.h"
#include "physics/mean_value.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>

namespace femgpu
{
using namespace dealii;
using linalg::Outcome;

namespace
{
/// Adds @p costs to the times of the phases "transfer", "setup" and "solve".
void add_seconds(const linalg::SolveCosts &costs, std::map<std::string, double> &seconds)
{
  seconds["transfer"] += costs.transfer.waited_seconds();
  seconds["setup"] += costs.format_seconds + costs.setup_seconds;
  seconds["solve"] += costs.solve_seconds;
}

std::string progress_text(const int iteration, const double residual)
{
  std::ostringstream text;
  text.precision(2);
  text << "iteration " << iteration << ", residual " << std::scientific << residual;
  return text.str();
}

linalg::NonlinearSolverOptions nonlinear_options(const SolverSettings &linear,
                                                 const NonlinearParameters &nonlinear)
{
  return {nonlinear.method, linear.options(), nonlinear.control()};
}
} // namespace

template <int dim>
void check_methods(const Problem<dim> &problem, const SolverSettings &linear,
                   const NonlinearParameters &nonlinear)
{
  const std::string method = Method("nonlinear method", nonlinear.method).name();
  if (problem.traits().has_nonlinear_terms && method != "newton")
    throw ParameterError("Coefficients or data of this problem depend on u and need an assembly in "
                         "each step, but Nonlinear/Method = " +
                             method + " supports reaction terms only. Set the method to newton.",
                         "Nonlinear/Method");
  if (!problem.traits().has_symmetric_matrix &&
      linalg::solvers.traits(linear.solver).needs_symmetry)
    throw ParameterError(
        "Solver '" + linear.solver +
            "' needs a symmetric matrix, but this problem's is unsymmetric because its flux "
            "depends on u or its source on the gradient of u. Set Solver/Solver to "
            "auto, idr, pipelined-bicgstab or gmres.",
        "Solver/Solver");
  if (is_nonlinear(problem) && linear.stops_at_energy_error())
    throw ParameterError("Nonlinear solves stop at the residual of Nonlinear/Relative tolerance, "
                         "but Solver/Stop at = " +
                             linear.stop_at + " is for linear problems. Set 'Stop at' to auto.",
                         "Solver/Stop at");
  if (problem.nonlinearity())
    linalg::check(nonlinear_options(linear, nonlinear));
  else {
    linalg::LinearSolverOptions options = linear.options();
    if (linear.stops_at_discretisation_error())
      options.control.energy_tolerance.absolute = 1.; // placeholder: known in each cycle only
    linalg::check(options);
  }
}

template void check_methods(const Problem<2> &, const SolverSettings &,
                            const NonlinearParameters &);
template void check_methods(const Problem<3> &, const SolverSettings &,
                            const NonlinearParameters &);

namespace
{
template <int dim>
linalg::GroupMethods methods_of(const Problem<dim> &problem, const SolverSettings &linear,
                                const NonlinearParameters &nonlinear,
                                const ContinuationParameters &continuation)
{
  if (continuation.enabled)
    return continuation.options(linear);
  if (problem.nonlinearity())
    return nonlinear_options(linear, nonlinear);
  linalg::GroupSolverOptions options = linear.options();
  options.falls_back_if_indefinite = !problem.traits().may_be_unstable;
  return options;
}

/// Records in @p report that x was scaled and that its residual norm is @p norm.
void record_scaling(const double norm, linalg::SolveReport &report)
{
  report.original.residual = norm;
  if (!linalg::scalings.find(report.method.scaling).traits.changes_system)
    report.true_residual = norm;
  report.backward_error = report.componentwise_backward_error = -1.; // unknown for the scaled x
  linalg::describe(report);
}
} // namespace

template <int dim>
ProblemSolver<dim>::ProblemSolver(const Problem<dim> &problem,
                                  const SolverSettings &solver_settings,
                                  const NonlinearParameters &nonlinear_parameters,
                                  const ContinuationParameters &continuation_parameters,
                                  const linalg::SolverGroups &groups)
    : problem(problem), solver_settings(solver_settings), nonlinear(nonlinear_parameters),
      continuation(continuation_parameters), phi(problem.nonlinearity()),
      the_group_solver(groups, solver_settings.resources(),
                       methods_of(problem, solver_settings, nonlinear, continuation))
{}

/// Assembles A, b and w at u = 0; only the reaction may be nonlinear. @p u is the initial guess.
template <int dim>
void ProblemSolver<dim>::assemble_once(const Discretization<dim> &discretization,
                                       linalg::GroupSystem &system, const FeVector &u)
{
  the_group_solver.begin_pattern(system);
  assemble(problem, discretization, nullptr, system);
  if (problem.fixes_mean())
    make_compatible(problem, discretization, system);
  set_initial_guess(u, discretization.constraints(), system);
}

/**
 * Solves with one dof fixed, whose equation is not in the system. All equations sum to zero, so
 * the omitted equation holds if the others hold, but its residual is minus the sum of the others.
 * If the residual norm of all equations is too large, the solve continues to a smaller target.
 */
template <int dim>
linalg::SolveReport ProblemSolver<dim>::solve_with_mean(const Discretization<dim> &discretization,
                                                        linalg::GroupSystem &system, FeVector &u,
                                                        linalg::SolveControl control)
{
  constexpr int max_solves = 4;
  linalg::SolveReport report = the_group_solver.solve(system, control);
  if (control.energy_tolerance.is_set())
    return report; // the energy error includes all unknowns
  const bool is_scaled = linalg::scalings.find(report.method.scaling).traits.changes_system;
  const double target = report.target; // in the solver's norm
  const double unscaled_target =
      is_scaled && report.rhs_norm > 0. ? target * report.original.rhs / report.rhs_norm : target;
  for (int solve = 1;; ++solve) {
    get_solution(system, discretization.constraints(), u);
    const double all = norm_of_all_equations(problem, discretization, u);
    const bool is_solved = all <= unscaled_target;
    if (report.outcome == Outcome::converged && !is_solved && solve < max_solves) {
      control.reference = linalg::SolveControl::Reference::rhs;
      control.relative_tolerance = 0.;
      control.absolute_tolerance = 0.3 * report.target * unscaled_target / all;
      linalg::append_solve(report, the_group_solver.solve(system, control));
      continue;
    }
    (is_scaled ? report.original.residual : report.true_residual) = all;
    report.target = target;
    if (is_solved)
      report.outcome = Outcome::converged;
    else if (report.outcome == Outcome::converged)
      report.outcome = Outcome::stagnated;
    if (solve > 1 || !report.converged())
      linalg::describe(report);
    return report;
  }
}

/// Collective. Copies x of @p system to @p u, and subtracts its mean if Problem::fixes_mean().
template <int dim>
void ProblemSolver<dim>::copy_solution(const Discretization<dim> &discretization,
                                       const linalg::GroupSystem &system, FeVector &u) const
{
  get_solution(system, discretization.constraints(), u);
  if (problem.fixes_mean())
    remove_mean(discretization, u);
}

/// Solves the system that assemble_once() has assembled, or applies AssembledNewton, which
/// assembles its own systems. Starts from @p u, which receives the solution.
template <int dim>
linalg::SolveReport ProblemSolver<dim>::solve_system(const Discretization<dim> &discretization,
                                                     linalg::GroupSystem &system, FeVector &u,
                                                     const linalg::SolveControl &control,
                                                     std::map<std::string, double> &seconds)
{
  linalg::SolveReport report;
  if (problem.traits().has_nonlinear_terms)
    report = AssembledNewton<dim>(problem, discretization, nonlinear.method, the_group_solver)
                 .solve(system, control, solver_settings.control(), u, seconds);
  else {
    report = phi                    ? the_group_solver.solve_nonlinear(system, *phi, control)
             : problem.fixes_mean() ? solve_with_mean(discretization, system, u, control)
                                    : the_group_solver.solve(system, control);
    if (solver_settings.stops_at_discretisation_error() && control.energy_tolerance.is_set() &&
        report.converged())
      record_scaling(scale_to_energy(system), report);
    copy_solution(discretization, system, u);
  }
  return report;
}

namespace
{
/// Adds @p before, the work of the first solve, to @p rest, the work of its continuation.
void add_inner_work(const linalg::InnerWork &before, linalg::InnerWork &rest)
{
  rest.linear_iterations += before.linear_iterations;
  rest.line_search_steps += before.line_search_steps;
}

/// Sets the outcome of @p report and appends @p appendix to its message.
void conclude(const Outcome outcome, const std::string &appendix, linalg::SolveReport &report)
{
  report.outcome = outcome;
  linalg::describe(report);
  report.message += appendix;
}

/// Updates @p report for an accurate solution. @param target the target of the first solve
void accept(const bool has_small_residual, const double target, linalg::SolveReport &report)
{
  if (has_small_residual) {
    report.outcome = Outcome::converged;
    report.target = std::max(target, report.true_residual);
  }
  linalg::describe(report);
}

/// Returns @p control with the targets of @p report, multiplied by @p factor.
linalg::SolveControl with_target(linalg::SolveControl control, const linalg::SolveReport &report,
                                 const double factor)
{
  if (report.energy.target >= 0.)
    control.energy_tolerance = {0., factor * report.energy.target};
  control.reference = linalg::SolveControl::Reference::rhs;
  control.relative_tolerance = 0.;
  control.absolute_tolerance = factor * report.target;
  return control;
}
} // namespace

/**
 * Continues the solve while the solution misses the relative tolerance by more than a factor of ten
 * in the measures of Accuracy. Solvers that estimate the energy error continue to a smaller energy
 * error, others to a smaller residual. Errors in the motions of weakly supported parts, which
 * neither measure detects, are corrected first (see linalg::ComponentDeflation). Without progress,
 * the outcome becomes `converged_to_rounding` if rounding explains the residual, else `stagnated`.
 */
template <int dim>
std::optional<Accuracy>
ProblemSolver<dim>::reach_accuracy(DiscreteSolution<dim> &solution, linalg::GroupSystem &system,
                                   linalg::SolveControl control, const Resume &resume,
                                   linalg::SolveReport &report)
{
  constexpr int max_solves = 6;
  constexpr double slack = 10., progress = 0.5; // slack: a restart costs as much as another digit
  constexpr double motions_slack = 0.1;         // correct_motions() returns a lower bound
  const double tolerance =
      solver_settings.stops_at_energy_error()
          ? solver_settings.energy_tolerance
          : std::max(solver_settings.relative_tolerance, control.relative_tolerance);
  const double target = control.absolute_tolerance, first_target = report.target;
  const int max_total_iterations = control.max_iterations;
  const bool is_linear = !is_nonlinear(problem);
  const bool estimates_energy_error =
      is_linear && linalg::solvers.traits(solver_settings.solver).estimates_energy_error;
  std::optional<Accuracy> measured;
  bool had_motions = false;
  double motion_factor = 1.; // multiplies the target
  for (int n_solves = 1; report.converged() && !(report.true_residual <= target); ++n_solves) {
    const bool is_direct = report.method.solver == "direct";
    const double before =
        measured && !had_motions ? measured->residual : std::numeric_limits<double>::infinity();
    measured = measure_accuracy(problem, solution, system);
    const Accuracy &accuracy = *measured;
    if (!std::isfinite(accuracy.energy) || !std::isfinite(accuracy.internal_forces)) {
      conclude(Outcome::not_finite,
               " The energy exceeds the range of double precision. Use other units.", report);
      return measured;
    }
    const double energy_error = motions_slack * tolerance * std::sqrt(accuracy.energy);
    const bool has_energy = energy_error > 0. && !accuracy.has_no_flow(); // energy may underflow
    const double of_motions =
        is_linear && !is_direct && problem.traits().has_symmetric_matrix && has_energy
            ? the_group_solver.correct_motions(system, energy_error)
            : 0.;
    had_motions = of_motions > energy_error;
    const double reduction = accuracy.residual_reduction(tolerance);
    const bool has_small_residual = slack * reduction >= 1. || accuracy.has_no_flow();
    const bool has_small_error =
        !has_energy || accuracy.has_small_error(slack * tolerance, report.energy.error);
    const bool is_at_rounding = accuracy.is_at_rounding() &&
                                (!is_linear || report.outcome == Outcome::converged_to_rounding);
    if (!had_motions && (has_small_residual || is_at_rounding) &&
        (!estimates_energy_error || is_direct || has_small_error)) {
      if (n_solves > 1)
        accept(has_small_residual, first_target, report);
      return measured;
    }
    if (is_direct || n_solves == max_solves ||
        (!had_motions && !(accuracy.residual <= progress * before))) {
      const bool is_rounding = accuracy.is_at_rounding() && !had_motions;
      conclude(
          is_rounding ? Outcome::converged_to_rounding : Outcome::stagnated,
          text_of(accuracy, tolerance) +
              (had_motions ? motions_text(of_motions / std::sqrt(accuracy.energy), tolerance) : ""),
          report);
      return measured;
    }
    if (is_linear && report.iterations >= max_total_iterations) {
      conclude(Outcome::iteration_limit, "", report);
      return measured;
    }
    if (is_linear)
      control.max_iterations = max_total_iterations - report.iterations;
    control.reference = linalg::SolveControl::Reference::rhs;
    control.relative_tolerance = 0.;
    if (had_motions)
      motion_factor *= motions_slack; // the estimate missed the motions and may miss others
    if (estimates_energy_error)
      control.energy_tolerance = {0., (has_small_error ? std::min(1., reduction) : 1.) *
                                          motion_factor * tolerance * std::sqrt(accuracy.energy)};
    else
      control.absolute_tolerance = std::min(reduction, motion_factor) * report.true_residual;
    linalg::append_solve(report, resume(control));
  }
  if (!measured)
    return {};
  measured = measure_accuracy(problem, solution, system); // after the last solve
  if (report.outcome == Outcome::stagnated && measured->is_at_rounding())
    conclude(Outcome::converged_to_rounding, "", report);
  return measured;
}

/// Corrects motions of weakly supported parts while their energy error exceeds @p energy_tolerance.
template <int dim>
void ProblemSolver<dim>::solve_motions(linalg::GroupSystem &system, const double energy_tolerance,
                                       const linalg::SolveControl &control, const Resume &resume,
                                       linalg::SolveReport &report)
{
  constexpr int max_solves = 3;
  for (int k = 0; k < max_solves && report.converged() && report.method.solver != "direct" &&
                  the_group_solver.correct_motions(system, energy_tolerance) > energy_tolerance;
       ++k)
    linalg::append_solve(report, resume(control));
}

template <int dim>
SolveSummary ProblemSolver<dim>::solve(DiscreteSolution<dim> &solution, linalg::GroupSystem &system,
                                       FeVector &u, const double energy_tolerance,
                                       std::map<std::string, double> &seconds,
                                       const Progress &progress)
{
  Stopwatch watch;
  const Discretization<dim> &discretization = solution.discretization();
  problem.check_data(discretization);
  linalg::SolveControl control =
      is_nonlinear(problem) ? nonlinear.control() : solver_settings.control();
  if (energy_tolerance > 0.)
    control.energy_tolerance = {0., energy_tolerance};
  if (progress)
    control.progress = [&](const int k, const double r) { progress(progress_text(k, r)); };
  const auto show_progress = [&](const std::string &text) {
    if (progress)
      progress(text);
  };
  SolveSummary summary;
  linalg::SolveReport &report = summary.report;
  if (!problem.traits().has_nonlinear_terms) {
    show_progress("assembly");
    assemble_once(discretization, system, u);
    seconds["assembly"] += watch.lap();
    show_progress("set-up");
  }
  report = solve_system(discretization, system, u, control, seconds);
  the_group_solver.release(); // another solve is rare, and copies the matrix again
  watch.lap();
  if (report.converged())
    solution.evaluation();
  seconds["estimate"] += watch.lap();
  const Resume resume = [&](const linalg::SolveControl &to) {
    linalg::SolveReport rest = solve_system(discretization, system, u, to, seconds);
    the_group_solver.release();
    solution.invalidate();
    add_inner_work(report.inner, rest.inner);
    return rest;
  };
  if (energy_tolerance > 0.)
    solve_motions(system, energy_tolerance, control, resume, report);
  else if (solver_settings.checks_accuracy()) {
    summary.accuracy = reach_accuracy(solution, system, control, resume, report);
    if (report.outcome == Outcome::stagnated && !is_nonlinear(problem) &&
        the_group_solver.fall_back(system, control, report)) {
      copy_solution(discretization, system, u);
      solution.invalidate();
      summary.accuracy = reach_accuracy(solution, system, control, resume, report);
    }
  }
  if (!summary.accuracy || !summary.accuracy->has_no_flow())
    require_balance<dim>(problem, solution, report, [&](const double factor) {
      return resume(with_target(control, report, factor));
    });
  if (!solver_settings.stops_at_energy_error())
    report.energy.target = -1.;
  const bool is_one_group = system.groups().n_groups() == 1, is_linear = !is_nonlinear(problem);
  summary.nonlinear_iterations = is_linear ? 0 : report.iterations;
  summary.linear_iterations = is_linear ? report.iterations : report.inner.linear_iterations;
  if (!is_linear && indicates_no_solution(report))
    report.message = problem.advice_without_solution() + " In detail: " + report.message;
  else if (!report.converged() &&
           (is_linear || is_unstable(report, problem.traits().may_be_unstable)))
    report.message +=
        advice(report, system.n(), is_one_group && solver_settings.fallback == "direct",
               is_one_group, problem.traits().may_be_unstable);
  add_seconds(report.costs, seconds);
  return summary;
}

template <int dim>
linalg::SolveControl ProblemSolver<dim>::step_control() const
{
  linalg::SolveControl control =
      is_nonlinear(problem) ? nonlinear.control() : solver_settings.control();
  control.reference = linalg::SolveControl::Reference::initial_residual;
  return control;
}

template <int dim>
linalg::SolveReport
ProblemSolver<dim>::solve_linear(linalg::GroupSystem &system, const linalg::SolveControl &control,
                                 const bool same_matrix, std::map<std::string, double> &seconds)
{
  linalg::SolveReport report = the_group_solver.solve(system, control, same_matrix);
  add_seconds(report.costs, seconds);
  return report;
}

template <int dim>
linalg::SolveReport ProblemSolver<dim>::solve_step(const Discretization<dim> &discretization,
                                                   linalg::GroupSystem &system, FeVector &u,
                                                   std::map<std::string, double> &seconds)
{
  const Stopwatch watch;
  if (!problem.traits().has_nonlinear_terms) {
    assemble_once(discretization, system, u);
    seconds["assembly"] += watch.elapsed();
  }
  linalg::SolveReport report = solve_system(discretization, system, u, step_control(), seconds);
  add_seconds(report.costs, seconds);
  return report;
}

template <int dim>
linalg::ContinuationReport ProblemSolver<dim>::trace(
    const Discretization<dim> &discretization, linalg::GroupSystem &system, FeVector &u,
    std::map<std::string, double> &seconds, const OnBranchPoint &on_point,
    const std::function<void(BranchStart)> &on_state, const BranchStart *const from)
{
  Stopwatch watch;
  problem.check_data(discretization);
  assemble_once(discretization, system, u);
  seconds["assembly"] += watch.lap();
  const auto &constraints = discretization.constraints();
  if (from != nullptr) {
    set_initial_guess(from->tangent, constraints, system);
    the_group_solver.keep_tangent(system);
    set_initial_guess(u, constraints, system);
  }
  const auto report_point = [&](const linalg::BranchRecord &point) {
    get_solution(system, constraints, u);
    on_point(point, u);
  };
  const auto report_state = [&](const linalg::BranchState &state) {
    FeVector tangent = discretization.make_vector();
    get_solution(system, constraints, tangent);
    on_state({state, std::move(tangent)});
  };
  auto report = the_group_solver.trace(
      system, phi->reaction, report_point,
      on_state ? report_state : std::function<void(const linalg::BranchState &)>(),
      from != nullptr ? &from->state : nullptr);
  add_seconds(report.costs, seconds);
  return report;
}

template class ProblemSolver<2>;
template class ProblemSolver<3>;
} // namespace femgpu
