#include "linalg/solvers/preconditioned_solver.h"

#include "linalg/base/timing.h"
#include "linalg/base/trace_range.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/block_method.h"
#include "linalg/solvers/registry.h"
#include "linalg/solvers/rounding.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace femgpu::linalg
{
namespace
{
/// Iterations in which fsai or multigrid must halve the residual. Both limits take about the same
/// time.
constexpr int first_trial_limit_fsai = 2000, first_trial_limit_multigrid = 500;

/// Returns @p control for a solve that continues @p previous: with the same target, and with the
/// remaining iterations as limit.
SolveControl remaining_control(const SolveControl &control, const SolveReport &previous)
{
  SolveControl rest = control;
  rest.relative_tolerance = 0.;
  rest.absolute_tolerance = previous.target;
  rest.max_iterations -= previous.iterations;
  if (control.progress)
    rest.progress = [&control, before = previous.iterations](const int iteration,
                                                             const double norm) {
      control.progress(before + iteration, norm);
    };
  return rest;
}
} // namespace

PreconditionedSolver::PreconditionedSolver(const LinearSolverOptions &options,
                                           const BackendKind backend)
    : backend(backend), solver(make_solver(options.solver, backend)),
      choice(preconditioners.traits(preconditioner_of(options)).is_automatic ? Choice::jacobi
                                                                             : Choice::fixed),
      preconditioner(make_preconditioner(preconditioner_of(options), backend))
{}

void PreconditionedSolver::set_preconditioner(std::unique_ptr<Preconditioner> M)
{
  preconditioner = std::move(M);
  choice = Choice::fixed;
  is_complete = false;
}

void PreconditionedSolver::set_up(const Matrix &A, const bool only_values)
{
  matrix = &A;
  const bool is_update = is_complete && only_values;
  if (choice == Choice::jacobi && !is_update) {
    forecast = forecast_jacobi(A, backend);
    remaining_jacobi_iterations = forecast.max_jacobi_iterations;
    if (const std::string reason = forecast.reason_for_multigrid(); !reason.empty())
      return switch_to(Choice::multigrid, reason, false);
  }
  try {
    set_up_on_all_ranks(*preconditioner, is_update, is_update);
  }
  catch (const Error &error) {
    if (!is_on_trial())
      throw;
    switch_to_next(error.what(), false);
  }
}

SolveReport PreconditionedSolver::solve(const Matrix &A, const Buffer<double> &b, Buffer<double> &x,
                                        const SolveControl &control)
{
  trial_iteration_limit = first_trial_limit();
  SolveReport report = attempt(A, b, x, control);
  if (choice == Choice::jacobi && report.converged())
    remaining_jacobi_iterations -=
        std::clamp(report.iterations - forecast.update_iterations, 0, remaining_jacobi_iterations);
  double residual_before = report.initial_residual;
  while (!report.converged() && report.iterations < control.max_iterations) {
    const Stopwatch watch;
    const std::size_t bytes_before = A.executor()->bytes_to_host();
    if (choice == Choice::jacobi && report.outcome == Outcome::iteration_limit)
      switch_to_next("after " + std::to_string(forecast.max_jacobi_iterations) +
                         " iterations with jacobi",
                     true);
    else if (is_on_trial() && report.outcome == Outcome::iteration_limit &&
             report.true_residual <= 0.5 * residual_before)
      trial_iteration_limit *= 2;
    else if (is_on_trial() && !is_at_rounding(A, b, x, report.outcome))
      switch_to_next(report.method.preconditioner + " ended as " + to_string(report.outcome), true);
    else
      break;
    A.executor()->synchronize();
    residual_before = report.true_residual;
    report.costs.setup_seconds += watch.elapsed();
    report.costs.setup_bytes_to_host += A.executor()->bytes_to_host() - bytes_before;
    append_solve(report, attempt(A, b, x, remaining_control(control, report)));
  }
  return report;
}

std::vector<SolveReport> PreconditionedSolver::solve_block(const Matrix &A,
                                                           const MultiVector<double> &B,
                                                           MultiVector<double> &X,
                                                           const SolveControl &control) const
{
  SolveControl limited = control;
  if (choice == Choice::jacobi)
    limited.max_iterations = std::min(control.max_iterations, remaining_jacobi_iterations);
  return solver->block()->solve(A, *preconditioner, B, X, limited);
}

/// Returns whether only rounding keeps x from its target. In this case, another preconditioner
/// would not help.
bool PreconditionedSolver::is_at_rounding(const Matrix &A, const Buffer<double> &b,
                                          Buffer<double> &x, const Outcome outcome)
{
  A.domain()->update_ghost_values(x.data());
  const SystemNorms norms = measure(*A.range(), {A.csr().csr_view(), b.data(), x.data(), nullptr});
  return may_be_rounding(outcome, norms.backward_error(),
                         rounding_level(static_cast<int>(A.range()->max(A.csr().longest_row()))));
}

/// Runs the solver, with at most the number of iterations that is permitted for the current
/// preconditioner. Restores x if a preconditioner on trial (fsai or multigrid) has increased the
/// residual.
SolveReport PreconditionedSolver::attempt(const Matrix &A, const Buffer<double> &b,
                                          Buffer<double> &x, const SolveControl &control)
{
  SolveControl limited = control;
  if (choice != Choice::fixed)
    limited.max_iterations =
        std::min(control.max_iterations,
                 choice == Choice::jacobi ? remaining_jacobi_iterations : trial_iteration_limit);
  const Buffer<double> guess = is_on_trial() ? x.copy() : Buffer<double>();
  SolveReport report;
  try {
    report = solver->solve(A, *preconditioner, b, x, limited);
  }
  catch (const ParameterError &error) { // the solver needs a symmetric or a diagonal M
    if (!is_on_trial())
      throw;
    switch_to_next(error.what(), true);
    return attempt(A, b, x, control);
  }
  if (is_on_trial() && !(report.true_residual <= report.initial_residual)) {
    x.copy_from(guess);
    report.true_residual = report.initial_residual;
  }
  std::string &remarks = report.method.setup.remarks;
  if (!remark.empty())
    remarks = remark + (remarks.empty() ? "" : "; " + remarks);
  return report;
}

/// Sets up @p M for the matrix, and the solver for the matrix and M. If that fails on one rank, all
/// ranks throw.
/// @param updates_M M is already set up for the pattern of the matrix
/// @param only_values the solver is already set up for the pattern of the matrix
void PreconditionedSolver::set_up_on_all_ranks(Preconditioner &M, const bool updates_M,
                                               const bool only_values)
{
  is_complete = false;
  rethrow_on_all_ranks(matrix->range()->communicator(), [&] {
    const TraceRange range(M.name().c_str());
    if (updates_M)
      M.update(*matrix);
    else
      M.setup(*matrix);
    solver->set_up(*matrix, M, only_values);
  });
  is_complete = true;
}

/// Returns the iteration limit of the first attempt with fsai or multigrid.
int PreconditionedSolver::first_trial_limit() const
{
  return choice == Choice::fsai ? first_trial_limit_fsai : first_trial_limit_multigrid;
}

/// Returns whether another preconditioner may follow if this one does not converge.
bool PreconditionedSolver::is_on_trial() const
{
  return choice == Choice::fsai || choice == Choice::multigrid;
}

/// Switches to preconditioner @p next, or to its successor if @p next cannot be set up.
/// @param only_values the solver is already set up for the pattern of the matrix
void PreconditionedSolver::switch_to(const Choice next, const std::string &reason,
                                     const bool only_values)
{
  choice = next;
  trial_iteration_limit = first_trial_limit();
  remark = (choice == Choice::fixed ? "jacobi permanently: " : "") + reason;
  try {
    auto replacement = make_preconditioner(choice == Choice::fsai        ? "fsai"
                                           : choice == Choice::multigrid ? "multigrid"
                                                                         : "jacobi",
                                           backend);
    set_up_on_all_ranks(*replacement, false, only_values);
    preconditioner = std::move(replacement);
  }
  catch (const Error &error) {
    if (!is_on_trial())
      throw;
    switch_to_next(error.what(), false);
  }
}

/// Switches to the successor of the current preconditioner.
/// @param reason the reason, for the report
/// @param only_values the solver is already set up for the pattern of the matrix
void PreconditionedSolver::switch_to_next(const std::string &reason, const bool only_values)
{
  const Choice after_jacobi = forecast.fsai_is_next ? Choice::fsai : Choice::multigrid;
  switch_to(choice == Choice::jacobi ? after_jacobi
            : choice == Choice::fsai ? Choice::multigrid
                                     : Choice::fixed,
            reason, only_values);
}
} // namespace femgpu::linalg
