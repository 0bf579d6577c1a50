#include "linalg/nonlinear_solver.h"

#include "linalg/base/error.h"
#include "linalg/base/trace_range.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"

#include <utility>

namespace femgpu::linalg
{
NonlinearSolver::NonlinearSolver(ExecutorPtr executor, NonlinearSolverOptions options,
                                 const CommunicatorPtr &communicator)
    : owner(std::move(executor)), options(std::move(options)),
      method(make_nonlinear_method(this->options.method, this->options.linear, owner->backend())),
      system(owner, this->options.linear, communicator)
{
  check(this->options);
}

void check_unscaled(const LinearSolverOptions &options)
{
  if (scalings.find(options.scaling).traits.changes_system)
    throw ParameterError("Scaling '" + options.scaling +
                             "' supports only linear problems, because phi(u) needs the unscaled "
                             "unknowns. Use scaling none.",
                         "scaling");
}

void check(const NonlinearSolverOptions &options)
{
  const LinearSolverOptions &linear = options.linear;
  const auto &method = nonlinear_methods.entry_of(options.method);
  const auto M = make_preconditioner(preconditioner_of(linear), BackendKind::host);
  if (method.traits.solves_linear_systems)
    check_symmetry(linear.solver, *M);
  if (method.traits.needs_symmetry)
    require_symmetric(method.name, *M);
  check_unscaled(linear);
}

/// Frees the data of the method, because they might not fit into memory together with a new matrix.
void NonlinearSolver::discard_method_data()
{
  method = make_nonlinear_method(options.method, options.linear, owner->backend());
}

void NonlinearSolver::release()
{
  discard_method_data();
  w = {};
  rhs = {};
  solution = {};
  system.release();
}

void NonlinearSolver::begin_pattern(const HostCsr &A)
{
  release();
  system.begin_pattern(A);
}

void NonlinearSolver::set_system(const HostCsr &A, const double *weights, const bool same_pattern)
{
  try {
    transfer_and_set_up(A, weights, same_pattern && system.can_reuse_pattern());
  }
  catch (...) {
    release();
    throw;
  }
}

void NonlinearSolver::transfer_and_set_up(const HostCsr &A, const double *weights,
                                          const bool only_values)
{
  if (!only_values)
    discard_method_data();
  system.set_matrix(A, only_values);
  system.set_up([&] {
    if (!only_values) {
      rhs = system.make_vector();
      solution = system.make_vector();
      w = system.make_vector();
    }
    system.transfer_rhs(weights, w); // only reorders, because there is no scaling
    method->setup(SemilinearEquation(system.matrix(), w, rhs, {}), only_values);
  });
}

SolveReport NonlinearSolver::solve(const Nonlinearity &phi, const double *b, double *x)
{
  const TraceRange range("solve");
  system.require_matrix();
  system.transfer_rhs(b, rhs);
  system.transfer_guess(x, solution);

  const SemilinearEquation equation(system.matrix(), w, rhs, phi);
  const Communication before = system.communication();
  SolveReport report = method->solve(equation, solution, options.control);
  report.costs.communication = system.communication() - before;

  system.transfer_solution(solution, x);
  system.complete_report(report);
  report.method.scaling = options.linear.scaling;
  report.method.ordering = options.linear.ordering;
  report.original.residual = report.true_residual;
  report.original.rhs = report.rhs_norm;
  return report;
}
} // namespace femgpu::linalg
