#include "linalg/linear_solver.h"

#include "linalg/base/error.h"
#include "linalg/base/trace_range.h"
#include "linalg/power_of_two_scaling.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "linalg/solvers/rounding.h"

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
  if (options.control.energy_tolerance.is_set())
    require_energy_error(options.solver);
  check_symmetry(options.solver,
                 *make_preconditioner(preconditioner_of(options), BackendKind::host));
  if (solvers.traits(options.solver).needs_symmetry &&
      !scalings.find(options.scaling).traits.preserves_symmetry)
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
    transfer_and_set_up(A, same_pattern && system.can_reuse_pattern());
  }
  catch (...) {
    release();
    throw;
  }
}

void LinearSolver::transfer_and_set_up(const HostCsr &A, const bool only_values)
{
  original = A;
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
  const TraceRange range("solve");
  system.require_matrix();
  PowerOfTwoScaling scaling(original.n, b, x, communicator.get());
  const Communication before = system.communication();
  SolveReport report = solve_scaled(scaling.b(), scaling.x(), scaling.control(options.control));
  report.costs.communication = system.communication() - before;
  scaling.restore(report);
  describe(report);
  system.complete_report(report);
  return report;
}

SolveReport LinearSolver::solve_scaled(const double *b, double *x, const SolveControl &control)
{
  SolveReport report = solve_once(b, x, control);
  if (std::isfinite(report.rhs_norm) && !std::isfinite(report.initial_residual) &&
      is_finite_on_all_ranks(x)) {
    std::fill_n(x, original.n, 0.); // a guess whose residual overflows is worse than none
    report = solve_once(b, x, control);
  }
  SolveControl correction_control = control, remaining_control = control;
  correction_control.progress = {};
  correction_control.reference = SolveControl::Reference::rhs;
  correction_control.absolute_tolerance = 0.;
  correction_control.energy_tolerance = {};
  remaining_control.relative_tolerance = 0.;
  remaining_control.absolute_tolerance = report.target;
  const auto with_remaining_iterations = [&](SolveControl &next) -> const SolveControl & {
    next.max_iterations = std::max(control.max_iterations - report.iterations, 0);
    return next;
  };
  refine_to_rounding(system.host_rows(), original, b, x, report,
                     {[&](const double *r, double *d, const double tolerance) {
                        correction_control.relative_tolerance = tolerance;
                        return solve_once(r, d, with_remaining_iterations(correction_control));
                      },
                      [&](double *refined) {
                        return solve_once(b, refined, with_remaining_iterations(remaining_control));
                      }});
  return report;
}

bool LinearSolver::is_finite_on_all_ranks(const double *x) const
{
  const bool is_finite_on_rank =
      std::all_of(x, x + original.n, [](const double x_i) { return std::isfinite(x_i); });
  return communicator ? communicator->max(is_finite_on_rank ? 0. : 1.) == 0. : is_finite_on_rank;
}

SolveReport LinearSolver::solve_once(const double *b, double *x, const SolveControl &control)
{
  system.transfer_rhs(b, rhs);
  system.transfer_guess(x, solution);
  SolveReport report = solver.solve(system.matrix(), rhs, solution, control);
  system.transfer_solution(solution, x);
  report.method.scaling = options.scaling;
  report.method.ordering = options.ordering;
  measure_original(b, x, report);
  if (is_scaled)
    report.method.norm = "scaled " + report.method.norm;
  return report;
}

/// Computes the residual and backward errors of x in the original system: on the host if the system
/// was scaled, otherwise on the executor.
void LinearSolver::measure_original(const double *b, const double *x, SolveReport &report)
{
  system.matrix().domain()->update_ghost_values(solution.data());
  const SystemNorms norms =
      is_scaled ? measure(system.host_rows(), original, b, x)
                : measure(*system.matrix().range(),
                          {system.matrix().csr().csr_view(), rhs.data(), solution.data(), nullptr});
  report.original.residual = norms.residual;
  report.original.rhs = norms.rhs;
  report.backward_error = norms.backward_error();
  report.componentwise_backward_error = norms.componentwise;
}
} // namespace femgpu::linalg
