#include "physics/solve.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/matrices/registry.h"
#include "linalg/mpi/communicators.h"
#include "linalg/mpi/solver_groups.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "linalg/transformations/registry.h"
#include "physics/mean_value.h"
#include "physics/system_vectors.h"

#include <map>
#include <sstream>

namespace femgpu
{
using namespace dealii;
using linalg::Outcome;

namespace
{
/// The choices of a parameter as a pattern, "a|b|c".
Patterns::Selection selection(const std::vector<Choice> &choices)
{
  std::string names;
  for (const Choice &choice : choices)
    names += (names.empty() ? "" : "|") + choice.name;
  return Patterns::Selection(names);
}

std::string meanings(const std::vector<Choice> &choices)
{
  std::string text;
  for (const Choice &choice : choices)
    text += (text.empty() ? "" : "; ") + choice.name + ": " + choice.meaning;
  return text + ".";
}
} // namespace

SolverParameters::SolverParameters() : ParameterAcceptor("/Solver")
{
  add_parameter("Backend", backend,
                "auto: GPUs if there are some, else the host; host; cuda; cuda:K for GPU K alone. "
                "Devices says which of several.");
  add_parameter(
      "Devices", devices,
      "Which GPUs solve together, each with a part of the unknowns and the ranks beside "
      "it. auto: all of a node that Backend = auto or cuda finds, but no more than it has "
      "ranks; N: the first N of each node, or, on the host, N parts of its cores; "
      "cuda:0,2: these.");
  add_parameter("Communicator", communicator,
                "Of several GPUs, or parts of the cores: how they tell each other sums and the "
                "values along their borders. " +
                    meanings(linalg::communicator_choices()),
                prm, selection(linalg::communicator_choices()));
  add_parameter("Threads", threads,
                "Threads of the host backend; 0 for all cores that the ranks may use.", prm,
                Patterns::Integer(0, 4096));
  add_parameter("Device memory", device_memory,
                "What the solver may take of each device, as 2GB or 1.5GiB, or all. A matrix that "
                "needs more than half of what is granted is read from the memory of the host.");
  add_parameter("Solver", solver,
                "A name, and options behind it as NAME=VALUE. " +
                    meanings(linalg::group_solver_choices()));
  add_parameter("Preconditioner", preconditioner,
                "A name, and options behind it as NAME=VALUE. " +
                    meanings(linalg::preconditioner_choices()));
  add_parameter("Format", format,
                "How the matrix is stored: a name, and options behind it as NAME=VALUE. " +
                    meanings(linalg::formats.choices()) + " All take " +
                    linalg::FormatScalars::option() +
                    ": with float the values are rounded, the solution is refined to double.");
  add_parameter("Scaling", scaling, meanings(linalg::scalings.choices()), prm,
                selection(linalg::scalings.choices()));
  add_parameter("Ordering", ordering,
                "Of the unknowns: a name, and options behind it as NAME=VALUE. " +
                    meanings(linalg::orderings.choices()));
  declare_ends();
  add_parameter(
      "Fallback", fallback,
      "What solves a linear problem of up to " + std::to_string(linalg::largest_fallback) +
          " unknowns that the solver does not solve. direct: UMFPACK's LU factors, with a "
          "warning; none: nothing, the last iterate is written.",
      prm, Patterns::Selection("direct|none"));
  add_parameter("Execution", execution,
                "How a GPU runs the loop of a linear solver. graph: one graph, a kernel a step; "
                "resident: one kernel that keeps vectors and matrix on the chip (" +
                    linalg::solvers.names_with(&linalg::SolverTraits::can_be_resident) +
                    " with preconditioner " +
                    linalg::preconditioners.names_with(&linalg::PreconditionerTraits::is_fused) +
                    ", small systems); auto: resident where it is faster.",
                prm, Patterns::Selection("auto|graph|resident"));
}

/// What ends a linear solve.
void SolverParameters::declare_ends()
{
  add_parameter("Relative tolerance", relative_tolerance,
                "A linear solve ends when the true residual |b - A x| has fallen to this times the "
                "norm that 'Relative to' names. For nonlinear problems the tolerances of the "
                "section Nonlinear hold.",
                prm, Patterns::Double(0., 1.));
  add_parameter("Absolute tolerance", absolute_tolerance, "... or to this, whichever is larger.",
                prm, Patterns::Double(0.));
  add_parameter("Relative to", relative_to, "rhs: |b|; initial: |b - A x0|.", prm,
                Patterns::Selection("rhs|initial"));
  add_parameter(
      "Stop at", stop_at,
      "What ends a linear solve by " +
          linalg::solvers.names_with(&linalg::SolverTraits::knows_energy_error) +
          ". residual: the tolerances above; energy error: the estimated energy norm of the error, "
          "(e, A e)^(1/2), at Energy tolerance; discretisation error: the same, at a tenth of the "
          "discretisation error, which the energies of two or more cycles before tell; in the "
          "first cycles, and where they do not tell it, the residual.",
      prm, Patterns::Selection("residual|energy error|discretisation error"));
  add_parameter("Energy tolerance", energy_tolerance,
                "Of Stop at = energy error, relative to the energy norm of the solution x of the "
                "linear system.",
                prm, Patterns::Double(1e-16, 1.));
  add_parameter("Maximum iterations", max_iterations, "Of one linear solve.", prm,
                Patterns::Integer(1, 100000000));
}

void SolverParameters::parse_parameters(ParameterHandler & /* prm */)
{
  const auto check = [](const std::string &key, const auto &action) {
    try {
      action();
    }
    catch (const ParameterError &error) {
      throw ParameterError(error.what(), "Solver/" + key);
    }
  };
  if (backend.empty() || backend.find(' ') != std::string::npos)
    throw ParameterError("The backend is '" + backend + "'; use auto, host, cuda or cuda:K.",
                         "Solver/Backend");
  linalg::check_devices(devices);
  check("Device memory", [&] { bytes_of(device_memory); });
  check("Solver", [&] { linalg::check_group_solver(solver); });
  check("Preconditioner",
        [&] { linalg::make_preconditioner(preconditioner, linalg::BackendKind::host); });
  check("Format", [&] { linalg::check_format(format); });
  check("Ordering", [&] { linalg::orderings.make(ordering); });
}

WantedOfUnknowns SolverParameters::wanted(const unsigned int n_components) const
{
  const std::string words = Method("preconditioner", preconditioner).text() + " ";
  const auto has = [&](const char *const word) { return words.find(word) != std::string::npos; };
  const auto &traits = linalg::preconditioners.traits(preconditioner);
  const bool orders_by_place = Method("ordering", ordering).name() == "geometry";
  return {orders_by_place || has(" partition=geometry ") ||
              (n_components > 1 && traits.takes_coordinates),
          traits.takes_coarser && !has(" coarsening=aggregation ")};
}

linalg::SolveControl SolverParameters::control() const
{
  linalg::SolveControl control;
  control.relative_tolerance = relative_tolerance;
  control.absolute_tolerance = absolute_tolerance;
  control.reference = relative_to == "rhs" ? linalg::SolveControl::Reference::rhs
                                           : linalg::SolveControl::Reference::initial_residual;
  if (stop_at == "energy error")
    control.energy_tolerance.relative = energy_tolerance;
  control.max_iterations = max_iterations;
  control.execution = linalg::execution_of(execution);
  return control;
}

linalg::GroupSolverOptions SolverParameters::options() const
{
  return {linalg::LinearSolverOptions{solver, preconditioner, format, scaling, ordering, control()},
          fallback == "direct"};
}

std::string SolverParameters::groups_backend() const
{
  return backend == "auto" && linalg::is_direct(solver) ? "host" : backend;
}

NonlinearParameters::NonlinearParameters() : ParameterAcceptor("/Nonlinear")
{
  add_parameter("Method", method,
                "How a nonlinear problem A u = b + lambda W phi(u) is solved: a name, and options "
                "behind it as NAME=VALUE. " +
                    meanings(linalg::nonlinear_methods.choices()));
  add_parameter("Relative tolerance", relative_tolerance,
                "A nonlinear solve ends when the true residual |b + lambda W phi(u) - A u| has "
                "fallen to this times its value at u = 0 (with the boundary values).",
                prm, Patterns::Double(0., 1.));
  add_parameter("Absolute tolerance", absolute_tolerance, "... or to this, whichever is larger.",
                prm, Patterns::Double(0.));
  add_parameter("Maximum iterations", max_iterations,
                "Of a nonlinear solve; 0: 50 for newton, which takes few, and 20000 for others.",
                prm, Patterns::Integer(0, 100000000));
}

void NonlinearParameters::parse_parameters(ParameterHandler & /* prm */)
{
  try {
    linalg::make_nonlinear_method(method, {}, linalg::BackendKind::host);
  }
  catch (const ParameterError &error) {
    throw ParameterError(error.what(), "Nonlinear/Method");
  }
}

linalg::SolveControl NonlinearParameters::control() const
{
  linalg::SolveControl control;
  control.relative_tolerance = relative_tolerance;
  control.absolute_tolerance = absolute_tolerance;
  control.max_iterations = max_iterations > 0
                               ? max_iterations
                               : linalg::nonlinear_methods.traits(method).usual_max_iterations;
  return control;
}

void add_seconds(const linalg::SolveCosts &costs, std::map<std::string, double> &seconds)
{
  seconds["transfer"] += costs.transfer.waited_seconds();
  seconds["setup"] += costs.format_seconds + costs.setup_seconds;
  seconds["solve"] += costs.solve_seconds;
}

namespace
{
std::string progress_text(const int iteration, const double residual)
{
  std::ostringstream text;
  text.precision(2);
  text << "iteration " << iteration << ", residual " << std::scientific << residual;
  return text.str();
}

/// Did a nonlinear solve fail because there is probably no solution? A residual at the level of
/// rounding means another tolerance, not another problem.
bool lacks_solution(const linalg::SolveReport &report)
{
  constexpr double largest_backward_error = 1e-13;
  switch (report.outcome) {
  case Outcome::diverged:
  case Outcome::not_finite:
  case Outcome::indefinite_matrix:
    return true;
  case Outcome::stagnated:
    return report.backward_error > largest_backward_error;
  default:
    return false;
  }
}

linalg::NonlinearSolverOptions nonlinear_options(const SolverParameters &linear,
                                                 const NonlinearParameters &nonlinear)
{
  return {nonlinear.method, linear.options(), nonlinear.control()};
}

linalg::GroupSolver make_group_solver(const bool is_nonlinear, const SolverParameters &linear,
                                      const NonlinearParameters &nonlinear,
                                      const linalg::SolverGroups &groups)
{
  if (!is_nonlinear)
    return {groups, linear.resources(), linear.options()};
  return {groups, linear.resources(), nonlinear_options(linear, nonlinear)};
}
} // namespace

void check_methods(const bool is_nonlinear, const SolverParameters &linear,
                   const NonlinearParameters &nonlinear)
{
  if (is_nonlinear && linear.stop_at != "residual")
    throw ParameterError("This problem is nonlinear, and its solves stop at the residual of "
                         "Nonlinear/Relative tolerance: Solver/Stop at = " +
                             linear.stop_at + " is for linear ones. Set it to residual.",
                         "Solver/Stop at");
  if (is_nonlinear)
    linalg::check_methods(nonlinear_options(linear, nonlinear));
  else {
    linalg::GroupSolverOptions options = linear.options();
    if (linear.stops_at_discretisation_error())
      options.control.energy_tolerance.absolute = 1.; // some number, known in its cycle
    linalg::check_methods(options);
  }
}

template <int dim>
ProblemSolver<dim>::ProblemSolver(const Problem<dim> &problem,
                                  const SolverParameters &solver_parameters,
                                  const NonlinearParameters &nonlinear_parameters,
                                  const linalg::SolverGroups &groups)
    : problem(problem), solver_parameters(solver_parameters), nonlinear(nonlinear_parameters),
      phi(problem.nonlinearity()),
      leader_solver(
          make_group_solver(phi.has_value(), solver_parameters, nonlinear_parameters, groups))
{}

namespace
{
/// Says in @p report that x has been scaled and has the residual @p norm.
void note_scaled(const double norm, linalg::SolveReport &report)
{
  report.given.residual = norm;
  if (!linalg::scalings.find(report.method.scaling).traits.changes_system)
    report.true_residual = norm;
  report.backward_error = -1.; // that was of x before
  linalg::describe(report);
}

/// What helps where a linear solver has failed.
std::string advice(const linalg::SolveReport &report, const std::size_t n_rows,
                   const bool falls_back, const bool is_one_group)
{
  const bool has_direct_failed = falls_back && n_rows <= linalg::largest_fallback;
  if (report.outcome == Outcome::not_finite || has_direct_failed)
    return "";
  if (report.method.solver == "direct")
    return " Look at the supports: something may not be held.";
  if (n_rows <= linalg::largest_fallback && is_one_group)
    return " Of this size, Solver = direct may help.";
  const std::string others =
      is_one_group ? "fsai or ic, more iterations, or, with enough memory, Solver = direct."
                   : "more iterations, or, where one is enough, Solver/Devices = 1.";
  if (report.method.preconditioner == "multigrid")
    return " Multigrid is slow where a material is nearly incompressible, a shell thin, or an "
           "equation has waves. Try Preconditioner = multigrid cycle=W, " +
           others;
  return " Try Preconditioner = multigrid, " + others;
}

/// The report of two solves, one after the other, of the same system.
linalg::SolveReport sum_of(const linalg::SolveReport &first, linalg::SolveReport second)
{
  second.iterations += first.iterations;
  second.restarts += first.restarts + 1;
  second.initial_residual = first.initial_residual;
  second.costs += first.costs;
  second.history.insert(second.history.begin(), first.history.begin(), first.history.end());
  return second;
}
} // namespace

/**
 * The equation of the dof that is fixed is not in the system. It holds where all others do, as
 * their sum is zero, but it collects what they leave: the residual of all equations is asked for,
 * and where it misses the target the others are solved better.
 */
template <int dim>
linalg::SolveReport ProblemSolver<dim>::solve_with_mean(const Discretization<dim> &discretization,
                                                        linalg::GroupSystem &system, FeVector &u,
                                                        linalg::SolveControl control)
{
  constexpr int most_solves = 4;
  linalg::SolveReport report = leader_solver.solve(system, control);
  if (control.energy_tolerance.is_given())
    return report; // the error is that of all unknowns, whatever their equations say
  const bool is_scaled = linalg::scalings.find(report.method.scaling).traits.changes_system;
  const double target = report.target; // in the norm of the solver
  const double given_target =
      is_scaled && report.rhs_norm > 0. ? target * report.given.rhs / report.rhs_norm : target;
  for (int solve = 1;; ++solve) {
    get_solution(system, discretization.constraints(), u);
    const double all = norm_of_all_equations(problem, discretization, u);
    const bool is_solved = all <= given_target;
    if (report.outcome == Outcome::converged && !is_solved && solve < most_solves) {
      control.reference = linalg::SolveControl::Reference::rhs;
      control.relative_tolerance = 0.;
      control.absolute_tolerance = 0.3 * report.target * given_target / all;
      report = sum_of(report, leader_solver.solve(system, control));
      continue;
    }
    (is_scaled ? report.given.residual : report.true_residual) = all;
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

template <int dim>
SolveSummary
ProblemSolver<dim>::solve(const Discretization<dim> &discretization, linalg::GroupSystem &system,
                          FeVector &u, const double energy_tolerance,
                          std::map<std::string, double> &seconds, const Progress &progress)
{
  Stopwatch watch;
  const auto tell = [&](const std::string &text) {
    if (progress)
      progress(text);
  };
  const auto &constraints = discretization.constraints();
  tell("assembly");
  leader_solver.begin_pattern(system);
  assemble(problem, discretization, system);
  if (problem.fixes_mean())
    make_compatible(problem, discretization, system);
  set_initial_guess(u, constraints, system);
  seconds["assembly"] += watch.lap();

  linalg::SolveControl control = phi ? nonlinear.control() : solver_parameters.control();
  if (energy_tolerance > 0.)
    control.energy_tolerance = {0., energy_tolerance};
  if (progress)
    control.progress = [&](const int k, const double r) { progress(progress_text(k, r)); };
  tell("set-up");
  SolveSummary summary;
  linalg::SolveReport &report = summary.report;
  if (phi) {
    report = leader_solver.solve_nonlinear(system, *phi, control);
    summary.nonlinear_iterations = report.iterations;
    summary.linear_iterations = report.inner.linear_iterations;
    if (lacks_solution(report))
      report.message = problem.cure_without_solution() + " In detail: " + report.message;
  }
  else {
    report = problem.fixes_mean() ? solve_with_mean(discretization, system, u, control)
                                  : leader_solver.solve(system, control);
    summary.linear_iterations = report.iterations;
    if (energy_tolerance > 0. && report.converged())
      note_scaled(scale_to_energy(system), report);
    const bool is_one_group = system.groups().n_groups() == 1;
    if (!report.converged())
      report.message += advice(
          report, system.n(), is_one_group && solver_parameters.fallback == "direct", is_one_group);
  }
  add_seconds(report.costs, seconds);

  get_solution(system, constraints, u);
  if (problem.fixes_mean())
    remove_mean(discretization, u);
  return summary;
}

template class ProblemSolver<2>;
template class ProblemSolver<3>;
} // namespace femgpu
