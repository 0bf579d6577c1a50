#include "linalg/linear_solver.h"

#include "linalg/base/error.h"
#include "linalg/base/trace_range.h"
#include "linalg/direct/factors.h"
#include "linalg/execution/make_executor.h"
#include "linalg/power_of_two_scaling.h"
#include "linalg/preconditioners/given_preconditioner.h"
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
      system(owner, this->options, this->communicator)
{
  check(this->options);
}

void check(const LinearSolverOptions &options)
{
  if (solvers.traits(options.solver).is_direct && !has_umfpack() && n_cuda_devices() == 0)
    make_factors_on<HostBackend>(nullptr); // throws
  if (options.control.energy_tolerance.is_set())
    require_energy_error(options.solver);
  check_symmetry(options.solver,
                 *make_preconditioner(preconditioner_of(options), BackendKind::host));
  if (solvers.traits(options.solver).needs_symmetry &&
      !scalings.find(options.scaling).traits.preserves_symmetry)
    throw ParameterError("Scaling '" + options.scaling +
                             "' makes the matrix unsymmetric, but solver '" + options.solver +
                             "' needs a symmetric one. Use scaling symmetric, or solver bicgstab.",
                         "scaling");
}

namespace
{
void check(const SolveControl &control)
{
  if (control.max_iterations < 0)
    throw ParameterError("The iteration limit is " + std::to_string(control.max_iterations) +
                         "; use 0 or more.");
  for (const double tolerance : {control.relative_tolerance, control.absolute_tolerance})
    if (!(tolerance >= 0.))
      throw ParameterError("A tolerance is negative or not a number; use 0 or more.");
}

void check_size(const std::string &what, const std::vector<double> &numbers, const int n,
                const int n_columns)
{
  if (!numbers.empty() && numbers.size() != static_cast<std::size_t>(n) * n_columns)
    throw InputError("The unknowns of a matrix with " + std::to_string(n) + " rows have " +
                     std::to_string(numbers.size()) + " numbers for " + what + ", but need " +
                     std::to_string(n) + " x " + std::to_string(n_columns) + ".");
}

/// Checks the sizes of the arrays in @p unknowns, which belong to the n rows of a matrix.
void check(const UnknownsPtr &unknowns, const int n)
{
  if (!unknowns)
    throw InputError("The unknowns of a matrix are nullptr. Use default_unknowns.");
  check_size("coordinates", unknowns->coordinates, n, unknowns->dimension);
  check_size("near-null vectors", unknowns->near_null, n, unknowns->n_near_null);
}
} // namespace

void LinearSolver::begin_pattern(const HostCsr &A)
{
  system.begin_pattern(A);
}

/// Calls set(only_values), which sets the matrix of the system, then sets up the methods.
template <class Set>
void LinearSolver::set_and_set_up(const bool only_values, const Set &set)
{
  owner->make_current();
  try {
    set(only_values);
    system.set_up([&] {
      if (!only_values) {
        rhs = system.make_vector();
        solution = system.make_vector();
      }
      solver.set_up(system.matrix(), only_values);
    });
  }
  catch (...) {
    release();
    throw;
  }
}

void LinearSolver::set_matrix(const HostCsr &A, const bool same_pattern)
{
  set_and_set_up(same_pattern && system.can_reuse_pattern(), [&](const bool only_values) {
    check(A.unknowns, A.n);
    system.set_matrix(A, only_values);
  });
}

void LinearSolver::set_matrix(const DeviceCsr &A, const bool same_pattern)
{
  set_and_set_up(same_pattern && system.can_reuse_pattern(/* on device */ true),
                 [&](const bool only_values) {
                   check(A.unknowns, A.n);
                   system.set_matrix(A, only_values);
                 });
}

void LinearSolver::set_operator(std::shared_ptr<const LinearOperator> A)
{
  set_and_set_up(false, [&](const bool /* only values */) { system.set_operator(std::move(A)); });
}

void LinearSolver::set_preconditioner(std::shared_ptr<const LinearOperator> inverse,
                                      const bool is_symmetric)
{
  auto M = std::make_unique<GivenPreconditioner>(std::move(inverse), is_symmetric);
  check_symmetry(options.solver, *M);
  solver.set_preconditioner(std::move(M));
}

void LinearSolver::release()
{
  rhs = {};
  solution = {};
  system.release();
}

int LinearSolver::n() const
{
  system.require_matrix();
  return system.matrix().n();
}

SolveReport LinearSolver::solve(const double *const b, double *const x)
{
  const TraceRange range("solve");
  owner->make_current();
  system.require_matrix();
  check(options.control);
  const Communication before = system.communication();
  Vector<double> judged_b, judged_x;
  if (system.is_scaled()) {
    judged_b = system.copy_for_judgement(b);
    judged_x = system.copy_for_judgement(x);
  }
  else {
    system.transfer_rhs(b, rhs);
    system.transfer_guess(x, solution);
  }
  Vector<double> &from = system.is_scaled() ? judged_b : rhs;
  Vector<double> &to = system.is_scaled() ? judged_x : solution;
  const PowerOfTwoScaling scaling = owner->is_device_memory(b)
                                        ? PowerOfTwoScaling(from)
                                        : PowerOfTwoScaling(n(), b, communicator.get());
  scaling.scale(from);
  scaling.scale(to);
  SolveReport report = solve_and_judge(from, to, scaling.control(options.control));
  scaling.restore(to);
  scaling.restore(report);
  if (system.is_scaled())
    system.copy_judged(to, x);
  else
    system.transfer_solution(solution, x);
  report.costs.communication = system.communication() - before;
  describe(report);
  system.complete_report(report);
  return report;
}

namespace
{
/// Returns whether all values of @p x, on all ranks, are finite.
bool is_finite(const Vector<double> &x)
{
  Vector<double> zero(x.space());
  zero.fill_zero();
  return dot(x, zero) == 0.;
}
} // namespace

/// Solves A x = b for the matrix, and in the memory, of DeviceSystem::judged_matrix().
SolveReport LinearSolver::solve_and_judge(const Vector<double> &b, Vector<double> &x,
                                          const SolveControl &control)
{
  SolveReport report = solve_once(b, x, control);
  if (std::isfinite(report.rhs_norm) && !std::isfinite(report.initial_residual) && is_finite(x)) {
    x.fill_zero(); // a guess whose residual overflows is worse than none
    report = solve_once(b, x, control);
  }
  const CsrMatrix *const A = system.judged_matrix();
  if (A == nullptr)
    return report;
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
  refine_to_rounding(*A, b, x, report,
                     {[&](const Vector<double> &r, Vector<double> &d, const double tolerance) {
                        correction_control.relative_tolerance = tolerance;
                        return solve_once(r, d, with_remaining_iterations(correction_control));
                      },
                      [&](Vector<double> &refined) {
                        return solve_once(b, refined, with_remaining_iterations(remaining_control));
                      }});
  return report;
}

SolveReport LinearSolver::solve_once(const Vector<double> &b, Vector<double> &x,
                                     const SolveControl &control)
{
  SolveReport report;
  if (system.is_scaled()) {
    system.transfer_rhs(b.data(), rhs);
    system.transfer_guess(x.data(), solution);
    report = solver.solve(system.matrix(), rhs, solution, control);
    system.transfer_solution(solution, x.data());
  }
  else
    report = solver.solve(system.matrix(), b, x, control);
  report.method.scaling = options.scaling;
  report.method.ordering = options.ordering;
  judge(b, x, report);
  return report;
}

/// Computes the residual and, if the entries of A are stored, the backward errors of x in the
/// system before scaling.
void LinearSolver::judge(const Vector<double> &b, const Vector<double> &x, SolveReport &report)
{
  report.original.residual = report.true_residual;
  report.original.rhs = report.rhs_norm;
  const CsrMatrix *const A = system.judged_matrix();
  if (A == nullptr)
    return;
  const SystemNorms norms = measure(*A, b, x);
  report.original.residual = norms.residual;
  report.original.rhs = norms.rhs;
  report.backward_error = norms.backward_error();
  report.componentwise_backward_error = norms.componentwise;
  if (system.is_scaled())
    report.method.norm = "scaled " + report.method.norm;
}

void LinearSolver::multiply(const double *const x, double *const y)
{
  owner->make_current();
  system.require_matrix();
  if (const CsrMatrix *const A = system.is_scaled() ? system.judged_matrix() : nullptr) {
    const Vector<double> from = system.copy_for_judgement(x);
    Vector<double> to(A->range());
    A->apply(from, to);
    return system.copy_judged(to, y);
  }
  system.transfer_guess(x, solution);
  system.matrix().apply(solution, rhs);
  system.transfer_rhs_back(rhs, y);
}

void LinearSolver::precondition(const double *const r, double *const z)
{
  owner->make_current();
  system.require_matrix();
  system.transfer_rhs(r, rhs);
  apply(solver.current_preconditioner(), *owner, rhs, solution);
  system.transfer_solution(solution, z);
}
} // namespace femgpu::linalg
