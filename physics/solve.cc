#include "physics/solve.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/matrices/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/transformations/registry.h"

#include <deal.II/base/mpi.h>

#include <cmath>
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
  add_parameter(
      "Backend", backend,
      "auto: the first GPU if there is one, else the host; host; cuda; cuda:K for GPU K.");
  add_parameter("Threads", threads,
                "Threads of the host backend; 0 for all cores that the ranks may use.", prm,
                Patterns::Integer(0, 4096));
  add_parameter("Solver", solver, meanings(linalg::node_solver_choices()), prm,
                selection(linalg::node_solver_choices()));
  add_parameter("Preconditioner", preconditioner,
                "A name, and options behind it as NAME=VALUE. " +
                    meanings(linalg::preconditioner_choices()));
  add_parameter("Format", format,
                "How the matrix is stored: a name, and options behind it as NAME=VALUE. " +
                    meanings(linalg::format_choices()) +
                    " All take values=double|float: with float the values are rounded, the "
                    "solution is refined to double.");
  add_parameter("Scaling", scaling, meanings(linalg::scaling_choices()), prm,
                selection(linalg::scaling_choices()));
  add_parameter("Ordering", ordering, meanings(linalg::ordering_choices()), prm,
                selection(linalg::ordering_choices()));
  add_parameter("Relative tolerance", relative_tolerance,
                "A linear solve ends when the true residual |b - A x| has fallen to this times the "
                "norm that 'Relative to' names.",
                prm, Patterns::Double(0., 1.));
  add_parameter("Absolute tolerance", absolute_tolerance, "... or to this, whichever is larger.",
                prm, Patterns::Double(0.));
  add_parameter("Relative to", relative_to, "rhs: |b|; initial: |b - A x0|.", prm,
                Patterns::Selection("rhs|initial"));
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
  check("Preconditioner",
        [&] { linalg::make_preconditioner(preconditioner, linalg::BackendKind::host); });
  check("Format", [&] { linalg::check_format(format); });
}

linalg::SolveControl SolverParameters::control() const
{
  linalg::SolveControl control;
  control.relative_tolerance = relative_tolerance;
  control.absolute_tolerance = absolute_tolerance;
  control.reference = relative_to == "rhs" ? linalg::SolveControl::Reference::rhs
                                           : linalg::SolveControl::Reference::initial_residual;
  control.max_iterations = max_iterations;
  return control;
}

linalg::LinearSolverOptions SolverParameters::options() const
{
  return {solver, preconditioner, format, scaling, ordering, control()};
}

NewtonParameters::NewtonParameters() : ParameterAcceptor("/Newton")
{
  add_parameter("Relative tolerance", relative_tolerance,
                "Newton's method ends when the residual |R(u)| has fallen to this times its value "
                "at u = 0 (with the boundary values).",
                prm, Patterns::Double(0., 1.));
  add_parameter("Absolute tolerance", absolute_tolerance, "... or to this, whichever is larger.",
                prm, Patterns::Double(0.));
  add_parameter("Linear tolerance", linear_tolerance,
                "The update of a step is solved to this times the residual of the step.", prm,
                Patterns::Double(0., 1.));
  add_parameter("Maximum iterations", max_iterations, "Of Newton's method.", prm,
                Patterns::Integer(1, 10000));
}

namespace
{
double rhs_norm(const linalg::NodeSystem &system)
{
  double sum = 0.;
  const double *f = system.rhs() + system.first_owned();
  for (std::size_t i = 0; i < system.n_owned(); ++i)
    sum += f[i] * f[i];
  return std::sqrt(Utilities::MPI::sum(sum, system.communicator()));
}

void copy_solution(const linalg::NodeSystem &system, FeVector &u)
{
  const double *x = system.solution() + system.first_owned();
  for (std::size_t i = 0; i < system.n_owned(); ++i)
    u.local_element(static_cast<unsigned int>(i)) = x[i];
}

/// The initial guess of a linear solve: @p u, and zero for constrained unknowns.
void set_initial_guess(const FeVector *u, const AffineConstraints<double> &constraints,
                       linalg::NodeSystem &system)
{
  for (auto i = system.first_owned(); i < system.first_owned() + system.n_owned(); ++i)
    system.solution()[i] = u == nullptr || constraints.is_constrained(i) ? 0. : (*u)(i);
}

void add_times(const linalg::SolveReport &report, std::map<std::string, double> &seconds)
{
  seconds["transfer"] += report.transfer_seconds;
  seconds["setup"] += report.format_seconds + report.setup_seconds;
  seconds["solve"] += report.solve_seconds;
}

std::string progress_text(const int iteration, const double residual)
{
  std::ostringstream text;
  text.precision(2);
  text << "iteration " << iteration << ", residual " << std::scientific << residual;
  return text.str();
}
} // namespace

template <int dim>
SolveSummary ProblemSolver<dim>::solve(const Discretization<dim> &discretization,
                                       linalg::NodeSystem &system, FeVector &u,
                                       std::map<std::string, double> &seconds,
                                       const Progress &progress)
{
  for (const auto *phase : {"assembly", "transfer", "setup", "solve"})
    seconds[phase] += 0.;
  return problem.is_linear() ? solve_linear(discretization, system, u, seconds, progress)
                             : solve_newton(discretization, system, u, seconds, progress);
}

template <int dim>
SolveSummary ProblemSolver<dim>::solve_linear(const Discretization<dim> &discretization,
                                              linalg::NodeSystem &system, FeVector &u,
                                              std::map<std::string, double> &seconds,
                                              const Progress &progress)
{
  Stopwatch watch;
  const auto &constraints = discretization.constraints();
  assemble(problem, discretization, constraints, nullptr, Assembly::matrix_and_rhs, system);
  set_initial_guess(&u, constraints, system);
  seconds["assembly"] += watch.lap();

  linalg::SolveControl control = solver_parameters.control();
  if (progress)
    control.progress = [&](const int k, const double r) { progress(progress_text(k, r)); };
  SolveSummary summary;
  summary.report = node_solver.solve(system, /* same pattern */ false, control);
  summary.linear_iterations = summary.report.iterations;
  add_times(summary.report, seconds);

  copy_solution(system, u);
  constraints.distribute(u);
  u.update_ghost_values();
  return summary;
}

template <int dim>
double ProblemSolver<dim>::line_search(const Discretization<dim> &discretization,
                                       linalg::NodeSystem &system, const double norm,
                                       const FeVector &update, FeVector &u)
{
  // Armijo's condition for |R|²/2, whose slope along a Newton direction is −|R|².
  constexpr double sufficient = 1e-4;
  constexpr int most_halvings = 10;
  const FeVector before(u);
  for (int halvings = 0; halvings <= most_halvings; ++halvings) {
    const double step = std::ldexp(1., -halvings);
    u = before;
    u.zero_out_ghost_values();
    u.add(step, update);
    u.update_ghost_values();
    assemble(problem, discretization, discretization.homogeneous_constraints(), &u, Assembly::rhs,
             system);
    const double new_norm = rhs_norm(system);
    if (std::isfinite(new_norm) && new_norm <= (1. - sufficient * step) * norm)
      return new_norm;
  }
  u = before;
  u.update_ghost_values();
  return std::numeric_limits<double>::infinity();
}

namespace
{
/// A residual of this share of its value at u = 0 is rounding error.
constexpr double rounding_level = 1e-11;

/// What the report of a Newton iteration says of its linear solves: method and sizes of the last
/// one, seconds of all.
void add_linear(const linalg::SolveReport &linear, linalg::SolveReport &report)
{
  report.format = linear.format;
  report.matrix_stored = linear.matrix_stored;
  report.matrix_bytes = linear.matrix_bytes;
  report.preconditioner_nonzeros = linear.preconditioner_nonzeros;
  report.preconditioner_bytes = linear.preconditioner_bytes;
  report.preconditioner_remarks = linear.preconditioner_remarks;
  report.scaling = linear.scaling;
  report.ordering = linear.ordering;
  report.bytes_per_iteration = linear.bytes_per_iteration;
  report.format_seconds += linear.format_seconds;
  report.setup_seconds += linear.setup_seconds;
  report.transfer_seconds += linear.transfer_seconds;
  report.solve_seconds += linear.solve_seconds;
}

/// Closes the report of a Newton iteration.
void finish(linalg::SolveReport &report, const Outcome outcome, const unsigned int iterations,
            const std::string &why)
{
  report.outcome = outcome;
  report.iterations = static_cast<int>(iterations);
  report.norm = "‖R(u)‖ relative to ‖R(0)‖";
  report.given_residual = report.true_residual;
  report.given_rhs_norm = report.rhs_norm;
  std::ostringstream text;
  text.precision(3);
  text << "Newton's method " << (report.converged() ? "converged in " : "did not converge in ")
       << iterations << " iterations: |R(u)| = " << std::scientific << report.true_residual
       << ", asked for " << report.target << ", at the start " << report.initial_residual << "."
       << (why.empty() ? "" : " " + why);
  report.message = text.str();
}
} // namespace

template <int dim>
SolveSummary ProblemSolver<dim>::solve_newton(const Discretization<dim> &discretization,
                                              linalg::NodeSystem &system, FeVector &u,
                                              std::map<std::string, double> &seconds,
                                              const Progress &progress)
{
  const auto &homogeneous = discretization.homogeneous_constraints();
  Stopwatch watch;
  SolveSummary summary;
  linalg::SolveReport &report = summary.report;
  report.solver = "newton, " + solver_parameters.solver;
  report.preconditioner = solver_parameters.preconditioner;
  report.backend = node_solver.backend_name();
  linalg::SolveReport linear;
  FeVector update = discretization.make_vector();

  // The residual at u = 0 is the measure, so that a good initial guess does not make it harder.
  discretization.constraints().distribute(update);
  update.update_ghost_values();
  assemble(problem, discretization, homogeneous, &update, Assembly::rhs, system);
  report.rhs_norm = rhs_norm(system);
  report.target = std::max(newton.absolute_tolerance, newton.relative_tolerance * report.rhs_norm);

  linalg::SolveControl control = solver_parameters.control();
  control.relative_tolerance = newton.linear_tolerance;
  control.absolute_tolerance = 0.;
  if (progress)
    control.progress = [&](const int k, const double r) {
      progress("linear " + progress_text(k, r));
    };
  discretization.constraints().distribute(u);
  u.update_ghost_values();
  for (unsigned int k = 0;; ++k) {
    assemble(problem, discretization, homogeneous, &u, Assembly::matrix_and_rhs, system);
    double norm = rhs_norm(system);
    seconds["assembly"] += watch.lap();
    report.true_residual = norm;
    report.history.push_back(norm);
    if (k == 0)
      report.initial_residual = norm;
    if (progress)
      progress("Newton " + progress_text(static_cast<int>(k), norm));
    summary.newton_iterations = k;
    if (norm <= report.target) {
      finish(report, Outcome::converged, k, "");
      return summary;
    }
    if (!std::isfinite(norm) || k == newton.max_iterations) {
      finish(report, std::isfinite(norm) ? Outcome::iteration_limit : Outcome::not_finite, k,
             std::isfinite(norm) ? "The iteration limit came first; allow more in Newton/Maximum "
                                   "iterations, or look at the data."
                                 : problem.cure_without_solution());
      return summary;
    }
    set_initial_guess(nullptr, homogeneous, system);
    linear = node_solver.solve(system, /* same pattern */ k > 0, control);
    add_times(linear, seconds);
    add_linear(linear, report);
    summary.linear_iterations += linear.iterations;
    if (!linear.converged()) {
      const bool too_strict = linear.outcome == Outcome::stagnated; // no fault of the problem
      finish(report, linear.outcome, k,
             "The linear system of a step could not be solved (" + linear.message + ")" +
                 (too_strict ? "" : " " + problem.cure_without_solution()));
      return summary;
    }
    watch.lap();
    update = 0.;
    copy_solution(system, update);
    homogeneous.distribute(update);
    const bool at_rounding = norm <= rounding_level * report.rhs_norm;
    norm = line_search(discretization, system, norm, update, u);
    seconds["assembly"] += watch.lap();
    if (!std::isfinite(norm)) {
      finish(report, Outcome::stagnated, k,
             at_rounding ? "Rounding errors keep it there. Use a larger Newton/Relative tolerance."
                         : "No step along Newton's direction makes the residual smaller. " +
                               problem.cure_without_solution());
      return summary;
    }
  }
}

template class ProblemSolver<2>;
template class ProblemSolver<3>;
} // namespace femgpu
