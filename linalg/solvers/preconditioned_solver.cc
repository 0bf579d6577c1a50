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
/// Iterations of fsai or multigrid after which it must have halved the residual: as many as take
/// about as long.
constexpr int first_patience_with_fsai = 2000, first_patience_with_multigrid = 500;

/// For what is left to do.
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

/// Has rounding alone kept x from its target? No preconditioner helps then.
bool PreconditionedSolver::is_at_rounding(const Matrix &A, const Buffer<double> &b,
                                          Buffer<double> &x, const Outcome outcome)
{
  A.domain()->bring_ghosts(x.data());
  const SystemNorms norms = measure(*A.range(), {A.csr().csr_view(), b.data(), x.data(), nullptr});
  return may_be_rounding(outcome, norms.backward_error(),
                         rounding_level(static_cast<int>(A.range()->max(A.csr().longest_row()))));
}

/// As long as the preconditioner may take; one on trial that has made x worse leaves it as it was.
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
  catch (const ParameterError &error) { // of a solver that needs M symmetric, or a diagonal
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

/// Makes @p M of the matrix, and what the solver makes of both. If it fails on one part, all throw.
/// @param updates_M M knows the pattern. @param only_values the solver does
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

/// Iterations of the first attempt with fsai or multigrid.
int PreconditionedSolver::first_patience() const
{
  return choice == Choice::fsai ? first_patience_with_fsai : first_patience_with_multigrid;
}

/// May another preconditioner follow if this one does not converge?
bool PreconditionedSolver::is_on_trial() const
{
  return choice == Choice::fsai || choice == Choice::multigrid;
}

/// Takes a preconditioner; if it cannot be set up, the next one.
/// @param only_values the solver is set up for this pattern
void PreconditionedSolver::take(const Choice next, const std::string &reason,
                                const bool only_values)
{
  choice = next;
  patience_on_trial = first_patience();
  remark = (choice == Choice::given ? "jacobi for good: " : "") + reason;
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

/// @param reason why it is not this one any more; the rest as take()
void PreconditionedSolver::take_next(const std::string &reason, const bool only_values)
{
  const Choice behind_jacobi = forecast.fsai_is_next ? Choice::fsai : Choice::multigrid;
  take(choice == Choice::jacobi ? behind_jacobi
       : choice == Choice::fsai ? Choice::multigrid
                                : Choice::given,
       reason, only_values);
}
} // namespace femgpu::linalg
