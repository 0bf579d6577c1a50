#include "linalg/nonlinear_solver.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/matrices/registry.h"
#include "linalg/nonlinear/registry.h"

#include <utility>
#include <vector>

namespace femgpu::linalg
{
NonlinearSolver::NonlinearSolver(ExecutorPtr executor, NonlinearSolverOptions options)
    : owner(std::move(executor)), options(std::move(options)),
      transformation(this->options.linear.scaling, this->options.linear.ordering),
      method(make_nonlinear_method(this->options.method, this->options.linear, owner->backend()))
{
  if (this->options.linear.scaling != "none")
    throw ParameterError("Scaling '" + this->options.linear.scaling +
                             "' is for linear problems: the term phi of a nonlinear one needs the "
                             "unknowns as they are. Use scaling none.",
                         "Solver/Scaling");
}

void NonlinearSolver::set_system(const HostCsr &A, const double *weights, const bool same_pattern)
{
  const bool only_values = same_pattern && matrix;
  Stopwatch watch;
  const HostCsr system = only_values ? transformation.update(A) : transformation.setup(A);
  const auto n = static_cast<std::size_t>(A.n);
  if (only_values)
    csr->update_values(system.values);
  else {
    method = make_nonlinear_method(options.method, options.linear, owner->backend());
    matrix.reset(); // two patterns at a time might not fit
    csr.reset();
    csr = std::make_unique<CsrMatrix>(owner, system);
    rhs = Buffer<double>(owner, n);
    solution = Buffer<double>(owner, n);
    w = Buffer<double>(owner, n);
  }
  copy_in(weights, w);
  transfer_seconds = watch.lap();
  if (only_values)
    matrix->update();
  else
    matrix = make_format(options.linear.format, *csr);
  owner->synchronize();
  format_seconds = watch.lap();
  method->setup({*matrix, w, rhs, {}}, only_values);
  owner->synchronize();
  setup_seconds = watch.lap();
}

void NonlinearSolver::copy_in(const double *v, Buffer<double> &to) const
{
  if (transformation.is_identity()) {
    to.copy_from_host(v);
    return;
  }
  std::vector<double> ordered(to.size());
  transformation.transform_rhs(v, ordered.data()); // without a scaling this is the order alone
  to.copy_from_host(ordered.data());
}

void NonlinearSolver::copy_out(double *x) const
{
  if (transformation.is_identity()) {
    solution.copy_to_host(x);
    return;
  }
  const std::vector<double> ordered = solution.to_host();
  transformation.restore_solution(ordered.data(), x);
}

SolveReport NonlinearSolver::solve(const Nonlinearity &phi, const double *b, double *x)
{
  Stopwatch watch;
  copy_in(b, rhs);
  copy_in(x, solution);
  transfer_seconds += watch.lap();

  SolveReport report = method->solve({*matrix, w, rhs, phi}, solution, options.control);

  watch.lap();
  copy_out(x);
  report.transfer_seconds = transfer_seconds + watch.lap();
  report.format_seconds = format_seconds;
  report.setup_seconds += setup_seconds;
  transfer_seconds = format_seconds = setup_seconds = 0.;
  report.scaling = options.linear.scaling;
  report.ordering = options.linear.ordering;
  report.given_residual = report.true_residual;
  report.given_rhs_norm = report.rhs_norm;
  return report;
}
} // namespace femgpu::linalg
