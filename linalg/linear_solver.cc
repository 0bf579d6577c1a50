#include "linalg/linear_solver.h"

#include "linalg/base/timing.h"
#include "linalg/matrices/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"

#include <utility>

namespace femgpu::linalg
{
LinearSolver::LinearSolver(ExecutorPtr executor, LinearSolverOptions options)
    : owner(std::move(executor)), options(std::move(options)),
      solver(make_solver(this->options.solver, owner->backend())),
      preconditioner(make_preconditioner(this->options.preconditioner, owner->backend()))
{}

void LinearSolver::set_matrix(const HostCsr &A, const bool same_pattern)
{
  const bool only_values = same_pattern && matrix;
  Stopwatch watch;
  if (only_values)
    csr->update_values(A.values);
  else {
    matrix.reset(); // two patterns at a time might not fit
    csr.reset();
    csr = std::make_unique<CsrMatrix>(owner, A);
    rhs = Buffer<double>(owner, static_cast<std::size_t>(A.n));
    solution = Buffer<double>(owner, static_cast<std::size_t>(A.n));
  }
  transfer_seconds = watch.lap();
  if (only_values) {
    matrix->update();
    preconditioner->update(*matrix);
  }
  else {
    matrix = make_format(options.format, *csr);
    preconditioner->setup(*matrix);
  }
  owner->synchronize();
  setup_seconds = watch.lap();
}

SolveReport LinearSolver::solve(const double *b, double *x)
{
  Stopwatch watch;
  rhs.copy_from_host(b);
  solution.copy_from_host(x);
  transfer_seconds += watch.lap();

  SolveReport report = solver->solve(*matrix, *preconditioner, rhs, solution, options.control);

  watch.lap();
  solution.copy_to_host(x);
  report.transfer_seconds = transfer_seconds + watch.lap();
  report.setup_seconds = setup_seconds;
  transfer_seconds = setup_seconds = 0.;
  return report;
}
} // namespace femgpu::linalg
