#include "linalg/nonlinear_solver.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/matrices/registry.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"

#include <utility>

namespace femgpu::linalg
{
NonlinearSolver::NonlinearSolver(ExecutorPtr executor, NonlinearSolverOptions options)
    : owner(std::move(executor)), options(std::move(options)),
      method(make_nonlinear_method(this->options.method, this->options.linear, owner->backend())),
      transfer(owner, this->options.linear)
{
  check(this->options);
}

void check_unscaled(const LinearSolverOptions &options)
{
  if (scalings.find(options.scaling).traits.changes_system)
    throw ParameterError("Scaling '" + options.scaling +
                             "' is for linear problems: the term phi of a nonlinear one needs the "
                             "unknowns as they are. Use scaling none.",
                         "Solver/Scaling");
}

void check(const NonlinearSolverOptions &options)
{
  const LinearSolverOptions &linear = options.linear;
  const auto &method = nonlinear_methods.entry_of(options.method);
  const auto M = make_preconditioner(linear.preconditioner, BackendKind::host);
  if (method.traits.solves_linear_systems)
    check_symmetry(linear.solver, *M);
  if (method.traits.needs_symmetry)
    require_symmetric(method.name, *M);
  check_unscaled(linear);
}

void NonlinearSolver::begin_pattern(const HostCsr &A)
{
  method = make_nonlinear_method(options.method, options.linear, owner->backend());
  matrix.reset(); // refers to the old pattern
  transfer.begin_pattern(A);
}

void NonlinearSolver::set_system(const HostCsr &A, const double *weights, const bool same_pattern)
{
  const bool only_values = same_pattern && matrix;
  if (!only_values) {
    method = make_nonlinear_method(options.method, options.linear, owner->backend());
    matrix.reset(); // refers to the old pattern
  }
  transfer.move_matrix(A, only_values);
  if (!only_values) {
    const auto n = static_cast<std::size_t>(A.n);
    rhs = Buffer<double>(owner, n);
    solution = Buffer<double>(owner, n);
    w = Buffer<double>(owner, n);
  }
  transfer.move_rhs(weights, w); // there is no scaling: reorders alone
  Stopwatch watch;
  if (only_values)
    matrix->update();
  else
    matrix = make_format(options.linear.format, transfer.matrix());
  owner->synchronize();
  format_seconds = watch.lap();
  method->setup({*matrix, w, rhs, {}}, only_values);
  owner->synchronize();
  setup_seconds = watch.lap();
}

SolveReport NonlinearSolver::solve(const Nonlinearity &phi, const double *b, double *x)
{
  transfer.move_rhs(b, rhs);
  transfer.move_guess(x, solution);

  SolveReport report = method->solve({*matrix, w, rhs, phi}, solution, options.control);

  transfer.move_solution(solution, x);
  report.transfer = transfer.take_counts();
  report.format_seconds = format_seconds;
  report.setup_seconds += setup_seconds;
  format_seconds = setup_seconds = 0.;
  report.scaling = options.linear.scaling;
  report.ordering = options.linear.ordering;
  report.given_residual = report.true_residual;
  report.given_rhs_norm = report.rhs_norm;
  return report;
}
} // namespace femgpu::linalg
