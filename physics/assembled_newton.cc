#include "physics/assembled_newton.h"

#include "linalg/base/error.h"
#include "linalg/base/method.h"
#include "linalg/base/timing.h"
#include "linalg/solvers/rounding.h"
#include "physics/assembler.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace femgpu
{
using namespace dealii;
using linalg::Outcome;

namespace
{
linalg::ForcingOptions forcing_of(const std::string &text)
{
  Method method("nonlinear method", text);
  return linalg::read_forcing(method);
}

double norm(const linalg::GroupSystem &system, const std::vector<double> &v)
{
  double square = 0.;
  for (const double v_i : v)
    square += v_i * v_i;
  return std::sqrt(Utilities::MPI::sum(square, system.communicator()));
}

double norm_of_rhs(const linalg::GroupSystem &system)
{
  return norm(system, {system.rhs(), system.rhs() + system.n_owned()});
}
} // namespace

template <int dim>
AssembledNewton<dim>::AssembledNewton(const Problem<dim> &problem,
                                      const Discretization<dim> &discretization,
                                      const std::string &method, linalg::GroupSolver &solver)
    : problem(problem), discretization(discretization), forcing_options(forcing_of(method)),
      solver(solver)
{}

/// Assembles the equation linearised at @p u, and copies @p u to x. @return ‖f − K u‖
template <int dim>
double AssembledNewton<dim>::linearize(linalg::GroupSystem &system, const FeVector &u)
{
  const Stopwatch watch;
  assemble(problem, discretization, &u, system);
  set_initial_guess(u, discretization.constraints(), system);
  std::vector<double> r = system.vmult();
  for (std::size_t i = 0; i < r.size(); ++i)
    r[i] = system.rhs()[i] - r[i];
  assembly_seconds += watch.elapsed();
  return norm(system, r);
}

/// Returns the residual norm of u = 0 with the boundary values, or nullopt if the data cannot be
/// evaluated there, such as a conductivity 300/u.
template <int dim>
std::optional<double> AssembledNewton<dim>::norm_at_zero(linalg::GroupSystem &system)
{
  FeVector zero = discretization.make_vector();
  discretization.constraints().distribute(zero);
  zero.update_ghost_values();
  try {
    return linearize(system, zero);
  }
  catch (const ParameterError &) { // thrown on all ranks
    return {};
  }
}

template <int dim>
linalg::SolveReport AssembledNewton<dim>::solve(linalg::GroupSystem &system,
                                                const linalg::SolveControl &control,
                                                linalg::SolveControl linear, FeVector &u,
                                                std::map<std::string, double> &seconds)
{
  assembly_seconds = 0.;
  linalg::SolveReport report;
  const bool is_relative_to_rhs = control.reference == linalg::SolveControl::Reference::rhs;
  const std::optional<double> at_zero = is_relative_to_rhs ? norm_at_zero(system) : std::nullopt;
  u.update_ghost_values();
  report.initial_residual = report.true_residual = linearize(system, u);
  report.rhs_norm = at_zero.value_or(norm_of_rhs(system));
  report.target = std::max(control.absolute_tolerance,
                           control.relative_tolerance *
                               (is_relative_to_rhs ? report.rhs_norm : report.initial_residual));
  linear.reference = linalg::SolveControl::Reference::initial_residual;
  linear.absolute_tolerance = 0.;
  linear.progress = {};
  std::vector<double> before; // x of the last iterate
  std::string rejection;
  const std::string why = linalg::iterate_newton(
      control, forcing_options, linear, report,
      [&](const linalg::SolveControl &of_step) {
        before.assign(system.solution(), system.solution() + system.n_owned());
        linalg::SolveReport step = solver.solve(system, of_step);
        report.inner.linear_iterations += step.iterations;
        report.method = step.method;
        report.costs += step.costs;
        return step;
      },
      [&] { return search_line(system, before, u, report, rejection); });
  report.method.solver = "newton, " + report.method.solver;
  report.method.norm = std::string("‖f − K u‖ relative to its value at ") +
                       (!is_relative_to_rhs ? "the first iterate"
                        : at_zero           ? "u = 0"
                                            : "0 of the equation linearised at the first iterate");
  linalg::describe(report, "‖f − K u‖");
  report.message += why;
  if (!report.converged())
    report.message += rejection;
  seconds["assembly"] += assembly_seconds;
  return report;
}

/// Sets u to the solution of the system, then halves the step from @p before to u until the
/// residual decreases sufficiently.
/// @return whether the residual has decreased. If not, u is unchanged, @p report has the outcome,
/// and, if data could not be evaluated, @p rejection is a blank followed by the last error message.
template <int dim>
bool AssembledNewton<dim>::search_line(linalg::GroupSystem &system,
                                       const std::vector<double> &before, FeVector &u,
                                       linalg::SolveReport &report, std::string &rejection)
{
  std::vector<double> direction(before.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    direction[i] = system.solution()[i] - before[i];
  const double length = norm(system, direction), size = norm(system, before);
  const auto move = [&](const double alpha) {
    for (std::size_t i = 0; i < before.size(); ++i)
      system.solution()[i] = before[i] + alpha * direction[i];
    get_solution(system, discretization.constraints(), u);
  };
  for (int halvings = 0; halvings <= linalg::max_halvings; ++halvings) {
    const double alpha = std::ldexp(1., -halvings);
    move(alpha);
    ++report.inner.line_search_steps;
    double trial = std::numeric_limits<double>::infinity();
    try {
      trial = linearize(system, u);
    }
    catch (const ParameterError &error) { // thrown on all ranks: the step is too long
      rejection = ' ' + std::string(error.what());
    }
    if (linalg::satisfies_armijo(trial, alpha, report.true_residual)) {
      report.true_residual = trial;
      rejection.clear();
      return true;
    }
  }
  move(0.);
  report.true_residual = linearize(system, u);
  report.backward_error = report.true_residual / norm_of_rhs(system); // an upper bound
  report.forward_error = size > 0. ? length / size : -1.;
  constexpr double rounding = 1e-12; // relative to u: shorter steps do not change u
  report.outcome = length <= rounding * size ? Outcome::converged_to_rounding : Outcome::stagnated;
  return false;
}

template class AssembledNewton<2>;
template class AssembledNewton<3>;
} // namespace femgpu
