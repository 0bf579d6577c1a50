#include "linalg/linear_solver.h"

#include "linalg/base/error.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "linalg/solvers/rounding.h"
#include "linalg/vector_units.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace femgpu::linalg
{
LinearSolver::LinearSolver(ExecutorPtr executor, LinearSolverOptions options,
                           CommunicatorPtr communicator)
    : owner(std::move(executor)), communicator(std::move(communicator)),
      options(std::move(options)), solver(this->options, owner->backend()),
      is_scaled(scalings.find(this->options.scaling).traits.changes_system),
      system(owner, this->options, this->communicator)
{
  check(this->options);
}

void check(const LinearSolverOptions &options)
{
  if (options.control.energy_tolerance.is_given())
    require_energy_error(options.solver);
  check_symmetry(options.solver,
                 *make_preconditioner(preconditioner_of(options), BackendKind::host));
  if (solvers.traits(options.solver).needs_symmetry &&
      !scalings.find(options.scaling).traits.keeps_symmetry)
    throw ParameterError("Scaling '" + options.scaling +
                             "' makes the matrix unsymmetric, but solver '" + options.solver +
                             "' needs a symmetric one. Use scaling symmetric, or solver bicgstab.",
                         "Solver/Scaling");
}

void LinearSolver::begin_pattern(const HostCsr &A)
{
  system.begin_pattern(A);
}

void LinearSolver::set_matrix(const HostCsr &A, const bool same_pattern)
{
  try {
    take_over(A, same_pattern && system.may_keep_pattern());
  }
  catch (...) {
    release();
    throw;
  }
}

void LinearSolver::take_over(const HostCsr &A, const bool only_values)
{
  given = A;
  system.set_matrix(A, only_values);
  system.set_up([&] {
    if (!only_values) {
      rhs = system.make_vector();
      solution = system.make_vector();
    }
    solver.set_up(system.matrix(), only_values);
  });
}

void LinearSolver::release()
{
  rhs = {};
  solution = {};
  system.release();
}

SolveReport LinearSolver::solve(const double *b, double *x)
{
  system.require_matrix();
  VectorUnits units(given.n, b, x, communicator.get());
  const Communication before = system.communication();
  SolveReport report = solve_in_units(units.b(), units.x(), units.control(options.control));
  report.costs.communication = system.communication() - before;
  units.restore(report);
  describe(report);
  system.finish(report);
  return report;
}

SolveReport LinearSolver::solve_in_units(const double *b, double *x, const SolveControl &control)
{
  SolveReport report = solve_once(b, x, control);
  if (std::isfinite(report.rhs_norm) && !std::isfinite(report.initial_residual) &&
      is_finite_everywhere(x)) {
    std::fill_n(x, given.n, 0.); // a guess whose residual overflows is worse than none
    report = solve_once(b, x, control);
  }
  SolveControl of_correction = control, of_rest = control;
  of_correction.progress = {};
  of_correction.reference = SolveControl::Reference::rhs;
  of_correction.absolute_tolerance = 0.;
  of_correction.energy_tolerance = {};
  of_rest.relative_tolerance = 0.;
  of_rest.absolute_tolerance = report.target;
  const auto within_limit = [&](SolveControl &next) -> const SolveControl & {
    next.max_iterations = std::max(control.max_iterations - report.iterations, 0);
    return next;
  };
  settle_at_rounding(
      system.host_rows(), given, b, x, report,
      {[&](const double *r, double *d, const double tolerance) {
         of_correction.relative_tolerance = tolerance;
         return solve_once(r, d, within_limit(of_correction));
       },
       [&](double *refined) { return solve_once(b, refined, within_limit(of_rest)); }});
  return report;
}

bool LinearSolver::is_finite_everywhere(const double *x) const
{
  const bool is_here =
      std::all_of(x, x + given.n, [](const double x_i) { return std::isfinite(x_i); });
  return communicator ? communicator->max(is_here ? 0. : 1.) == 0. : is_here;
}

SolveReport LinearSolver::solve_once(const double *b, double *x, const SolveControl &control)
{
  system.move_rhs(b, rhs);
  system.move_guess(x, solution);
  SolveReport report = solver.solve(system.matrix(), rhs, solution, control);
  system.move_solution(solution, x);
  report.method.scaling = options.scaling;
  report.method.ordering = options.ordering;
  measure_given(b, x, report);
  if (is_scaled)
    report.method.norm = "scaled " + report.method.norm;
  return report;
}

/// Measures the residual and backward error of the original system. Unless it was scaled, this is
/// the system on the executor.
void LinearSolver::measure_given(const double *b, const double *x, SolveReport &report)
{
  system.matrix().domain()->bring_ghosts(solution.data());
  const SystemNorms norms =
      is_scaled ? measure(system.host_rows(), given, b, x)
                : measure(*system.matrix().range(),
                          {system.matrix().csr().csr_view(), rhs.data(), solution.data(), nullptr});
  report.given.residual = norms.residual;
  report.given.rhs = norms.rhs;
  report.backward_error = norms.backward_error();
  report.componentwise_backward_error = norms.componentwise;
}
} // namespace femgpu::linalg
