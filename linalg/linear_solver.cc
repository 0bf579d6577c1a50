#include "linalg/linear_solver.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/matrices/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"

#include <cmath>
#include <tuple>
#include <utility>

namespace femgpu::linalg
{
LinearSolver::LinearSolver(ExecutorPtr executor, LinearSolverOptions options)
    : owner(std::move(executor)), options(std::move(options)),
      solver(make_solver(this->options.solver, owner->backend())),
      preconditioner(make_preconditioner(this->options.preconditioner, owner->backend())),
      transfer(owner, this->options)
{
  if (!solver->needs_symmetry())
    return;
  require_symmetric(this->options.solver, *preconditioner);
  if (this->options.scaling == "balance")
    throw ParameterError("Scaling 'balance' makes A unsymmetric, and solver '" +
                             this->options.solver +
                             "' needs a symmetric one. Use scaling symmetric, or bicgstab.",
                         "Solver/Scaling");
}

void LinearSolver::begin_pattern(const HostCsr &A)
{
  matrix.reset(); // refers to the old pattern
  transfer.begin_pattern(A);
}

void LinearSolver::set_matrix(const HostCsr &A, const bool same_pattern)
{
  const bool only_values = same_pattern && matrix;
  given = A;
  if (!only_values)
    matrix.reset(); // refers to the old pattern
  transfer.move_matrix(A, only_values);
  if (!only_values) {
    rhs = Buffer<double>(owner, static_cast<std::size_t>(A.n));
    solution = Buffer<double>(owner, static_cast<std::size_t>(A.n));
  }
  Stopwatch watch;
  if (only_values)
    matrix->update();
  else
    matrix = make_format(options.format, transfer.matrix());
  owner->synchronize();
  format_seconds = watch.lap();
  if (only_values)
    preconditioner->update(*matrix);
  else
    preconditioner->setup(*matrix);
  owner->synchronize();
  setup_seconds = watch.lap();
}

namespace
{
/// ‖b − A x‖ and ‖b‖, added in the order of the rows.
std::pair<double, double> host_residual(const HostCsr &A, const double *b, const double *x)
{
  std::vector<double> r(static_cast<std::size_t>(A.n));
#pragma omp parallel for schedule(static)
  for (int i = 0; i < A.n; ++i) {
    double r_i = b[i];
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      r_i -= A.values[k] * x[A.columns[k]];
    r[i] = r_i;
  }
  double rr = 0., bb = 0.;
  for (int i = 0; i < A.n; ++i) {
    rr += r[i] * r[i];
    bb += b[i] * b[i];
  }
  return {std::sqrt(rr), std::sqrt(bb)};
}
} // namespace

SolveReport LinearSolver::solve(const double *b, double *x)
{
  transfer.move_rhs(b, rhs);
  transfer.move_guess(x, solution);

  SolveReport report = solver->solve(*matrix, *preconditioner, rhs, solution, options.control);

  transfer.move_solution(solution, x);
  report.transfer = transfer.take_counts();
  report.format_seconds = format_seconds;
  report.setup_seconds = setup_seconds;
  format_seconds = setup_seconds = 0.;
  report.scaling = options.scaling;
  report.ordering = options.ordering;
  report.given_residual = report.true_residual;
  report.given_rhs_norm = report.rhs_norm;
  if (options.scaling != "none") {
    std::tie(report.given_residual, report.given_rhs_norm) = host_residual(given, b, x);
    report.norm = "scaled " + report.norm;
  }
  return report;
}
} // namespace femgpu::linalg
