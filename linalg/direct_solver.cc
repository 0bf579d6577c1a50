#include "linalg/direct_solver.h"

#include "linalg/base/error.h"
#include "linalg/base/method.h"
#include "linalg/base/timing.h"
#include "linalg/power_of_two_scaling.h"
#include "linalg/solvers/method_report.h"
#include "linalg/solvers/registry.h"
#include "linalg/solvers/rounding.h"

#include <algorithm>
#include <cmath>

namespace femgpu::linalg
{
std::vector<Choice> solver_choices()
{
  std::vector<Choice> choices = solvers.choices();
  choices.push_back({"direct", "LU factorisation by UMFPACK on one core of the host, for small "
                               "systems and as a reference"});
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

namespace
{
/// Checks that the program was built with UMFPACK.
/// @throws ParameterError if it was not
void require_direct()
{
  if (!has_umfpack())
    throw ParameterError("Solver 'direct' needs UMFPACK, but this femgpu was built without it. "
                         "Install libsuitesparse-dev and rebuild femgpu, or use another solver.",
                         "Solver/Solver");
}
} // namespace

void check_solver(const std::string &text)
{
  if (is_direct(text))
    return require_direct();
  const std::string name = Method("solver", text).name();
  if (std::none_of(solvers.begin(), solvers.end(),
                   [&](const auto &entry) { return entry.name == name; }))
    throw ParameterError("There is no solver '" + name + "'; use " + names_of(solver_choices()) +
                         ".");
  make_solver(text, BackendKind::host);
}

namespace
{
/// Solves A x = b or, if @p from_guess, A d = b − A x and adds d to x. The outcome is `converged`
/// if the residual is at most @p target.
SolveReport solve_with_factors(const HostCsr &A, const LuFactors &factors, const double *b,
                               double *x, const double target, const bool from_guess)
{
  SolveReport report;
  const auto n = static_cast<std::size_t>(A.n);
  std::vector<double> d(n);
  report.initial_residual = measure(A, b, x, d.data()).residual;
  if (!from_guess)
    std::copy_n(b, n, d.data());
  const bool is_solved = factors.solve(d.data());
  if (is_solved)
    for (std::size_t i = 0; i < n; ++i)
      x[i] = from_guess ? x[i] + d[i] : d[i];
  const SystemNorms norms = measure(A, b, x);
  report.rhs_norm = report.original.rhs = norms.rhs;
  report.true_residual = report.original.residual = norms.residual;
  report.backward_error = norms.backward_error();
  report.componentwise_backward_error = norms.componentwise;
  report.target = target;
  report.outcome = !is_solved                      ? Outcome::breakdown
                   : norms.residual <= target      ? Outcome::converged
                   : std::isfinite(norms.residual) ? Outcome::stagnated
                                                   : Outcome::not_finite;
  return report;
}

SolveReport solve_scaled(const HostCsr &A, const double *b, double *x, const SolveControl &control)
{
  Stopwatch watch;
  const LuFactors factors(A);
  const double setup_seconds = watch.lap();
  const std::vector<double> zero(static_cast<std::size_t>(A.n));
  const double reference = control.reference == SolveControl::Reference::rhs
                               ? measure(A, b, zero.data()).rhs
                               : measure(A, b, x).residual;
  const double target =
      std::max(control.absolute_tolerance, control.relative_tolerance * reference);
  SolveReport report = solve_with_factors(A, factors, b, x, target, /* from guess */ false);
  const RowSpacePtr rows = host_rows(A);
  const Vector<double> rhs(rows, const_cast<double *>(b)); // is only read
  Vector<double> solution(rows, x);
  refine_to_rounding(CsrMatrix(rows, rows, A, MemoryLocation::source), rhs, solution, report,
                     {[&](const Vector<double> &r, Vector<double> &d, const double tolerance) {
                        return solve_with_factors(A, factors, r.data(), d.data(),
                                                  tolerance * norm(r), false);
                      },
                      [&](Vector<double> &refined) {
                        return solve_with_factors(A, factors, b, refined.data(), target, true);
                      }});
  if (report.outcome == Outcome::converged) { // a residual at rounding level does not bound the
                                              // error of x
    std::vector<double> d(zero.size());
    measure(A, b, x, d.data());
    if (factors.solve(d.data()))
      report.forward_error = measure(A, d.data(), zero.data()).rhs / measure(A, x, zero.data()).rhs;
    if (report.forward_error > largest_forward_error)
      report.outcome = Outcome::stagnated;
  }
  report.costs.setup_seconds = setup_seconds;
  report.costs.solve_seconds = watch.lap();
  return report;
}
} // namespace

SolveReport solve_direct(const HostCsr &A, const double *b, double *x, const SolveControl &control)
{
  require_direct();
  const PowerOfTwoScaling scaling(A.n, b);
  const RowSpacePtr rows = host_rows(A);
  Vector<double> rhs(rows), solution(rows);
  rhs.assign(b);
  solution.assign(x);
  scaling.scale(rhs);
  scaling.scale(solution);
  SolveReport report = solve_scaled(A, rhs.data(), solution.data(), scaling.control(control));
  scaling.restore(solution);
  solution.copy_rows_to(x);
  scaling.restore(report);
  report.method.solver = "direct";
  report.method.preconditioner = "no preconditioner";
  report.method.format = "csr";
  report.method.backend = "host";
  report.method.norm = name_of_norm(control);
  describe(report);
  return report;
}
} // namespace femgpu::linalg
