#include "linalg/dealii/direct_solver.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/solvers/method_report.h"
#include "linalg/solvers/rounding.h"
#include "linalg/vector_units.h"

#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/sparse_direct.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/sparsity_pattern.h>
#include <deal.II/lac/vector.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace femgpu::linalg
{
namespace
{
/// Does the text of @p e name UMFPACK's status @p status? deal.II keeps the number to itself.
bool has_status(const dealii::ExceptionBase &e, const int status)
{
  std::ostringstream text;
  e.print_info(text);
  return text.str().find("status " + std::to_string(status) + ".") != std::string::npos;
}

// UMFPACK's numbers.
constexpr int singular = 1, out_of_memory = -1;

void fill(dealii::SparsityPattern &pattern, const HostCsr &A)
{
  dealii::DynamicSparsityPattern dynamic(A.n, A.n);
  for (int i = 0; i < A.n; ++i)
    for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      dynamic.add(i, A.columns[k]);
  pattern.copy_from(dynamic);
}

/// UMFPACK's factors of A.
class Factors
{
public:
  /// @throws DeviceError without memory, SolverError if UMFPACK fails otherwise
  explicit Factors(const HostCsr &A) : n(A.n), is_singular(!factorise(A))
  {}

  /// v = A⁻¹v; false, and v as it was, if A is singular.
  bool solve(double *v)
  {
    if (is_singular)
      return false;
    dealii::Vector<double> solution(v, v + n);
    is_singular = !checked([&] { umfpack.solve(solution); });
    if (!is_singular)
      std::copy(solution.begin(), solution.end(), v);
    return !is_singular;
  }

private:
  bool factorise(const HostCsr &A)
  {
    fill(pattern, A);
    matrix.reinit(pattern);
    for (int i = 0; i < A.n; ++i)
      for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
        matrix.set(i, A.columns[k], A.values[k]);
    return checked([&] { umfpack.initialize(matrix); });
  }

  /// False if UMFPACK says that the matrix is singular.
  template <class Action>
  bool checked(const Action &action) const
  {
    try {
      action();
      return true;
    }
    catch (const dealii::SparseDirectUMFPACK::ExcUMFPACKError &e) {
      if (has_status(e, out_of_memory))
        throw DeviceError("UMFPACK has not enough memory for the factors of " + std::to_string(n) +
                          " rows. Use solver = pipelined-cg, or refine less.");
      if (has_status(e, singular))
        return false;
      std::ostringstream text;
      e.print_info(text);
      throw SolverError("UMFPACK failed: " + text.str());
    }
  }

  int n;
  dealii::SparsityPattern pattern;
  dealii::SparseMatrix<double> matrix;
  dealii::SparseDirectUMFPACK umfpack;
  bool is_singular;
};

/// Solves A x = b, or with a guess A d = b − A x for x + d, to @p target.
SolveReport solve_with_factors(const HostCsr &A, Factors &factors, const double *b, double *x,
                               const double target, const bool from_guess)
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
  report.rhs_norm = report.given.rhs = norms.rhs;
  report.true_residual = report.given.residual = norms.residual;
  report.backward_error = norms.backward_error();
  report.target = target;
  report.outcome = !is_solved                      ? Outcome::breakdown
                   : norms.residual <= target      ? Outcome::converged
                   : std::isfinite(norms.residual) ? Outcome::stagnated
                                                   : Outcome::not_finite;
  return report;
}

SolveReport solve_in_units(const HostCsr &A, const double *b, double *x,
                           const SolveControl &control)
{
  Stopwatch watch;
  Factors factors(A);
  const double setup_seconds = watch.lap();
  const std::vector<double> zero(static_cast<std::size_t>(A.n));
  const double reference = control.reference == SolveControl::Reference::rhs
                               ? measure(A, b, zero.data()).rhs
                               : measure(A, b, x).residual;
  const double target =
      std::max(control.absolute_tolerance, control.relative_tolerance * reference);
  SolveReport report = solve_with_factors(A, factors, b, x, target, /* from guess */ false);
  settle_at_rounding(
      *host_rows(A), A, b, x, report,
      {[&](const double *r, double *d, const double tolerance) {
         const double r_norm = measure(A, r, zero.data()).rhs;
         return solve_with_factors(A, factors, r, d, tolerance * r_norm, false);
       },
       [&](double *refined) { return solve_with_factors(A, factors, b, refined, target, true); }});
  if (report.outcome == Outcome::converged) { // a residual at rounding says nothing of x
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
  VectorUnits units(A.n, b, x);
  SolveReport report = solve_in_units(A, units.b(), units.x(), units.control(control));
  units.restore(report);
  report.method.solver = "direct";
  report.method.preconditioner = "no preconditioner";
  report.method.format = "csr";
  report.method.backend = "host";
  report.method.norm = name_of_norm(control);
  describe(report);
  return report;
}
} // namespace femgpu::linalg
