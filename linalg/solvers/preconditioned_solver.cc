#include "linalg/solvers/preconditioned_solver.h"

#include "linalg/base/timing.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "linalg/solvers/rounding.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace femgpu::linalg
{
namespace
{
/// Iterations in which fsai or multigrid must halve the residual. Both take about as long.
constexpr int first_patience_with_fsai = 2000, first_patience_with_multigrid = 500;

/// Returns the limits of the remaining iterations.
SolveControl rest_of(const SolveControl &control, const SolveReport &so_far)
{
  SolveControl rest = control;
  rest.relative_tolerance = 0.;
  rest.absolute_tolerance = so_far.target;
  rest.max_iterations -= so_far.iterations;
  if (control.progress)
    rest.progress = [&control, before = so_far.iterations](const int iteration, const double norm) {
      control.progress(before + iteration, norm);
    };
  return rest;
}
} // namespace

PreconditionedSolver::PreconditionedSolver(const LinearSolverOptions &options,
                                           const BackendKind backend)
    : backend(backend), solver(make_solver(options.solver, backend)),
      choice(preconditioners.traits(preconditioner_of(options)).is_automatic ? Choice::jacobi
                                                                             : Choice::given),
      preconditioner(make_preconditioner(preconditioner_of(options), backend))
{}

void PreconditionedSolver::set_up(const Matrix &A, const bool only_values)
{
  matrix = &A;
  const bool is_update = is_complete && only_values;
  if (choice == Choice::jacobi && !is_update) {
    forecast = forecast_jacobi(A, backend);
    patience_with_jacobi = forecast.patience;
    if (const std::string reason = forecast.reason_for_multigrid(); !reason.empty())
      return take(Choice::multigrid, reason, false);
  }
  try {
    set_up_on_all_parts(*preconditioner, is_update, is_update);
  }
  catch (const Error &error) {
    if (!is_on_trial())
      throw;
    take_next(error.what(), false);
  }
}

SolveReport PreconditionedSolver::solve(const Matrix &A, const Buffer<double> &b, Buffer<double> &x,
                                        const SolveControl &control)
{
  patience_on_trial = first_patience();
  SolveReport report = attempt(A, b, x, control);
  if (choice == Choice::jacobi && report.converged())
    patience_with_jacobi -=
        std::clamp(report.iterations - forecast.of_an_update, 0, patience_with_jacobi);
  double residual_before = report.initial_residual;
  while (!report.converged() && report.iterations < control.max_iterations) {
    const Stopwatch watch;
    const std::size_t bytes_before = A.executor()->bytes_to_host();
    if (choice == Choice::jacobi && report.outcome == Outcome::iteration_limit)
      take_next("after " + std::to_string(forecast.patience) + " iterations with jacobi", true);
    else if (is_on_trial() && report.outcome == Outcome::iteration_limit &&
             report.true_residual <= 0.5 * residual_before)
      patience_on_trial *= 2;
    else if (is_on_trial() && !is_at_rounding(A, b, x, report.outcome))
      take_next(report.method.preconditioner + " ended as " + to_string(report.outcome), true);
    else
      break;
    A.executor()->synchronize();
    residual_before = report.true_residual;
    report.costs.setup_seconds += watch.elapsed();
    report.costs.setup_bytes_to_host += A.executor()->bytes_to_host() - bytes_before;
    continue_with(report, attempt(A, b, x, rest_of(control, report)));
  }
  return report;
}

/// Returns whether only rounding keeps x from its target. No other preconditioner would help then.
bool PreconditionedSolver::is_at_rounding(const Matrix &A, const Buffer<double> &b,
                                          Buffer<double> &x, const Outcome outcome)
{
  A.domain()->bring_ghosts(x.data());
  const SystemNorms norms = measure(*A.range(), {A.csr().csr_view(), b.data(), x.data(), nullptr});
  return may_be_rounding(outcome, norms.backward_error(),
                         rounding_level(static_cast<int>(A.range()->max(A.csr().longest_row()))));
}

/// Runs the solver for as many iterations as the preconditioner may take. Restores x if a
/// preconditioner on trial has made it worse.
SolveReport PreconditionedSolver::attempt(const Matrix &A, const Buffer<double> &b,
                                          Buffer<double> &x, const SolveControl &control)
{
  SolveControl limited = control;
  if (choice != Choice::given)
    limited.max_iterations =
        std::min(control.max_iterations,
                 choice == Choice::jacobi ? patience_with_jacobi : patience_on_trial);
  const Buffer<double> guess = is_on_trial() ? x.copy() : Buffer<double>();
  SolveReport report;
  try {
    report = solver->solve(A, *preconditioner, b, x, limited);
  }
  catch (const ParameterError &error) { // the solver needs a symmetric or a diagonal M
    if (!is_on_trial())
      throw;
    take_next(error.what(), true);
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

/// Sets up @p M for the matrix, and the solver for both. If that fails on one rank, all ranks
/// throw.
/// @param updates_M M is set up for this pattern
/// @param only_values the solver is set up for this pattern
void PreconditionedSolver::set_up_on_all_parts(Preconditioner &M, const bool updates_M,
                                               const bool only_values)
{
  is_complete = false;
  rethrow_on_all_parts(matrix->range()->communicator(), [&] {
    if (updates_M)
      M.update(*matrix);
    else
      M.setup(*matrix);
    solver->set_up(*matrix, M, only_values);
  });
  is_complete = true;
}

/// Returns the iteration limit of the first attempt with fsai or multigrid.
int PreconditionedSolver::first_patience() const
{
  return choice == Choice::fsai ? first_patience_with_fsai : first_patience_with_multigrid;
}

/// Returns whether another preconditioner may follow if this one does not converge.
bool PreconditionedSolver::is_on_trial() const
{
  return choice == Choice::fsai || choice == Choice::multigrid;
}

/// Switches to preconditioner @p next, or to its successor if @p next cannot be set up.
/// @param only_values the solver is set up for this pattern
void PreconditionedSolver::take(const Choice next, const std::string &reason,
                                const bool only_values)
{
  choice = next;
  patience_on_trial = first_patience();
  remark = (choice == Choice::given ? "jacobi permanently: " : "") + reason;
  try {
    auto made = make_preconditioner(choice == Choice::fsai        ? "fsai"
                                    : choice == Choice::multigrid ? "multigrid"
                                                                  : "jacobi",
                                    backend);
    set_up_on_all_parts(*made, false, only_values);
    preconditioner = std::move(made);
  }
  catch (const Error &error) {
    if (!is_on_trial())
      throw;
    take_next(error.what(), false);
  }
}

/// Switches to the successor of the current preconditioner. @param reason why. @param only_values
/// as in take()
void PreconditionedSolver::take_next(const std::string &reason, const bool only_values)
{
  const Choice behind_jacobi = forecast.fsai_is_next ? Choice::fsai : Choice::multigrid;
  take(choice == Choice::jacobi ? behind_jacobi
       : choice == Choice::fsai ? Choice::multigrid
                                : Choice::given,
       reason, only_values);
}
} // namespace femgpu::linalg
