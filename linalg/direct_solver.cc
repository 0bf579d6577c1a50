#include "linalg/direct_solver.h"

#include "linalg/base/error.h"
#include "linalg/base/method.h"
#include "linalg/base/timing.h"
#include "linalg/base/trace_range.h"
#include "linalg/execution/backends.h"
#include "linalg/execution/host/executor.h"
#include "linalg/execution/make_executor.h"
#include "linalg/power_of_two_scaling.h"
#include "linalg/solvers/method_report.h"
#include "linalg/solvers/registry.h"
#include "linalg/solvers/rounding.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace femgpu::linalg
{
std::vector<Choice> solver_choices()
{
  std::vector<Choice> choices = solvers.choices();
  choices.push_back({"direct", "LU factorisation by UMFPACK on one core of the host, or on a GPU "
                               "factorisation by cuDSS, for small systems and as a reference"});
  return choices;
}

bool is_direct(const std::string &solver)
{
  const Method method("solver", solver);
  if (method.name() != "direct")
    return false;
  method.finish(); // throws if the text contains options
  return true;
}

void check_solver(const std::string &text)
{
  if (is_direct(text)) {
    if (!has_umfpack() && n_cuda_devices() == 0)
      DirectSolver(std::make_shared<HostExecutor>()); // throws
    return;
  }
  const std::string name = Method("solver", text).name();
  if (std::none_of(solvers.begin(), solvers.end(),
                   [&](const auto &entry) { return entry.name == name; }))
    throw ParameterError("There is no solver '" + name + "'; use " + names_of(solver_choices()) +
                         ".");
  make_solver(text, BackendKind::host);
}

DirectSolver::DirectSolver(ExecutorPtr executor_) : executor(std::move(executor_))
{
  release(); // makes the factors, which finds missing libraries
}

void DirectSolver::release()
{
  factors = on_backend(executor->backend(), [&](const auto on) {
    return make_factors_on<typename decltype(on)::Backend>(executor);
  });
}

void DirectSolver::set_matrix(const HostCsr &new_A, const bool same_pattern)
{
  const TraceRange range("set-up");
  const Stopwatch watch;
  A = new_A;
  factors->factorise(A, same_pattern);
  setup_seconds += watch.elapsed();
}

/// Solves A x = b or, if @p from_guess, A d = b − A x and adds d to x. The outcome is `converged`
/// if the residual is at most @p target. If the matrix is singular, x does not change.
SolveReport DirectSolver::solve_once(const double *const b, double *const x, const double target,
                                     const bool from_guess)
{
  SolveReport report;
  const auto n = static_cast<std::size_t>(A.n);
  std::vector<double> d(n);
  SystemNorms norms = measure(A, b, x, d.data());
  report.initial_residual = norms.residual;
  if (!from_guess)
    std::copy_n(b, n, d.data());
  report.outcome = Outcome::breakdown;
  if (factors->solve(d.data())) {
    for (std::size_t i = 0; from_guess && i < n; ++i)
      d[i] += x[i];
    const SystemNorms reached = measure(A, b, d.data());
    if (reached.residual <= target || !factors->report().has_perturbed_pivots) {
      std::copy(d.begin(), d.end(), x);
      norms = reached;
      report.outcome = norms.residual <= target        ? Outcome::converged
                       : std::isfinite(norms.residual) ? Outcome::stagnated
                                                       : Outcome::not_finite;
    }
  }
  report.rhs_norm = report.original.rhs = norms.rhs;
  report.true_residual = report.original.residual = norms.residual;
  report.backward_error = norms.backward_error();
  report.componentwise_backward_error = norms.componentwise;
  report.target = target;
  return report;
}

SolveReport DirectSolver::solve_scaled(const double *const b, double *const x,
                                       const SolveControl &control)
{
  const std::vector<double> zero(static_cast<std::size_t>(A.n));
  const double reference = control.reference == SolveControl::Reference::rhs
                               ? measure(A, b, zero.data()).rhs
                               : measure(A, b, x).residual;
  const double target =
      std::max(control.absolute_tolerance, control.relative_tolerance * reference);
  SolveReport report = solve_once(b, x, target, /* from guess */ false);
  const RowSpacePtr rows = host_rows(A);
  const Vector<double> rhs(rows, const_cast<double *>(b)); // is only read
  Vector<double> solution(rows, x);
  refine_to_rounding(
      CsrMatrix(rows, rows, A, MemoryLocation::source), rhs, solution, report,
      {[&](const Vector<double> &r, Vector<double> &d, const double tolerance) {
         return solve_once(r.data(), d.data(), tolerance * norm(r), false);
       },
       [&](Vector<double> &refined) { return solve_once(b, refined.data(), target, true); }});
  if (report.outcome == Outcome::converged) { // a residual at rounding level does not bound the
                                              // error of x
    std::vector<double> d(zero.size());
    measure(A, b, x, d.data());
    if (factors->solve(d.data()))
      report.forward_error = measure(A, d.data(), zero.data()).rhs / measure(A, x, zero.data()).rhs;
    if (report.forward_error > largest_forward_error)
      report.outcome =
          factors->report().has_perturbed_pivots ? Outcome::breakdown : Outcome::stagnated;
  }
  return report;
}

SolveReport DirectSolver::solve(const double *const b, double *const x, const SolveControl &control)
{
  const TraceRange range("solve");
  const bool has_old_analysis = factors->report().has_old_analysis;
  const PowerOfTwoScaling scaling(A.n, b);
  const RowSpacePtr rows = host_rows(A);
  Vector<double> rhs(rows), solution(rows);
  rhs.assign(b);
  scaling.scale(rhs);
  double solve_seconds = 0.;
  const auto solve_from_guess = [&] {
    const Stopwatch watch;
    solution.assign(x);
    scaling.scale(solution);
    SolveReport report = solve_scaled(rhs.data(), solution.data(), scaling.control(control));
    solve_seconds += watch.elapsed();
    return report;
  };
  SolveReport report = solve_from_guess();
  if (!report.converged() && has_old_analysis) { // which may not suit the new values
    set_matrix(A, false);
    report = solve_from_guess();
  }
  scaling.restore(solution);
  solution.copy_rows_to(x);
  scaling.restore(report);
  const FactorsReport of_factors = factors->report();
  report.method.solver = "direct";
  report.method.preconditioner = "no preconditioner";
  report.method.format = "csr";
  report.method.backend = executor->name();
  report.method.norm = name_of_norm(control);
  report.method.solver_remarks = of_factors.remarks;
  report.method.is_reproducible = of_factors.is_reproducible;
  report.method.setup.n_nonzeros = of_factors.n_nonzeros;
  report.costs.setup_seconds = std::exchange(setup_seconds, 0.);
  report.costs.solve_seconds = solve_seconds;
  describe(report);
  if (report.outcome == Outcome::breakdown && of_factors.has_perturbed_pivots)
    report.message +=
        " cuDSS replaced pivots near zero. If the matrix is regular, use backend host: "
        "UMFPACK exchanges more rows.";
  return report;
}

SolveReport solve_direct(const ExecutorPtr &executor, const HostCsr &A, const double *const b,
                         double *const x, const SolveControl &control)
{
  const auto solve_on = [&](const ExecutorPtr &chosen) {
    DirectSolver solver(chosen);
    solver.set_matrix(A, false);
    return solver.solve(b, x, control);
  };
  if (executor->backend() != BackendKind::host) {
    const std::vector<double> guess(x, x + A.n);
    try {
      const SolveReport report = solve_on(executor);
      if (report.converged())
        return report;
    }
    catch (const Error &) { // NOLINT(bugprone-empty-catch): cuDSS is missing or needs more memory
    }
    std::copy(guess.begin(), guess.end(), x);
  }
  return solve_on(std::make_shared<HostExecutor>());
}
} // namespace femgpu::linalg
