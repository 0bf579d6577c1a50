#include "linalg/base/timing.h"
#include "linalg/direct/factors.h"
#include "linalg/execution/this_backend.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/solvers/method_report.h"
#include "linalg/solvers/registry.h"
#include "linalg/solvers/rounding.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
namespace direct
{
namespace
{
/**
 * Solves A x = b by factors of A: on the host by UMFPACK, on one core, and on a CUDA device by
 * cuDSS.
 *
 * Use: reference solutions and small systems; in 3D, from about 1e5 rows on, the factors do not fit
 * into memory. Cost: the factorisation, which new values with an old pattern repeat without the
 * analysis of the pattern. Fails: outcome breakdown if the matrix is singular; stagnated if the
 * estimated error of x exceeds largest_forward_error.
 */
template <class Backend>
class Direct final : public Solver
{
public:
  /// @throws the exceptions of Factors::factorise() and make_factors_on()
  void set_up(const Matrix &A, const Preconditioner & /* M */, const bool only_values) override
  {
    const ExecutorPtr &executor = A.executor();
    if (!factors)
      factors = make_factors_on<Backend>(executor);
    factorised = nullptr; // until all of this has succeeded
    set_values(A.csr(), only_values);
    factors->factorise(matrix, only_values);
    if (factors->report().has_old_analysis && !are_accurate())
      factors->factorise(matrix, false); // the analysis does not suit the new values
    factorised = &A;
  }

  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &x, const SolveControl &control) const override
  {
    if (factorised != &A) {
      Direct solver;
      solver.set_up(A, M, false);
      return solver.solve(A, M, b, x, control);
    }
    const Stopwatch watch;
    SolveReport report = solve_once(A, b, x, control);
    report.costs.solve_seconds = watch.elapsed();
    describe(report);
    return report;
  }

private:
  /// Sets the matrix of the factors: a view of @p A or, from a device, a copy.
  void set_values(const CsrMatrix &A, const bool only_values)
  {
    if (A.executor()->backend() == BackendKind::host) {
      matrix = A.view_on_host();
      return;
    }
    if (!only_values) {
      copy.n = A.n();
      copy.row_starts = A.host_row_starts();
      copy.columns = A.host_columns();
    }
    copy.values = A.host_values();
    matrix = copy.csr();
  }

  /// Returns whether the factors solve a system with the solution −1 to a small backward error.
  bool are_accurate() const
  {
    constexpr double largest_error = 1e-10;
    const std::vector<double> ones(static_cast<std::size_t>(matrix.n), 1.), zero(ones.size());
    std::vector<double> b(ones.size());
    measure(matrix, zero.data(), ones.data(), b.data());
    std::vector<double> x = b; // b = −A 1, and x = A⁻¹b
    return factors->solve(x.data()) &&
           measure(matrix, b.data(), x.data()).backward_error() <= largest_error;
  }

  /// Returns A⁻¹r as a vector of A's executor; a vector without rows if A is singular.
  Vector<double> divide(const Matrix &A, const Vector<double> &r) const
  {
    std::vector<double> d = r.rows_on_host();
    if (!factors->solve(d.data()))
      return {};
    Vector<double> result(A.domain());
    result.assign(d.data());
    return result;
  }

  /// Adds A⁻¹(b − A x) to x or, if the guess x is worse than zero, replaces x by A⁻¹b. x does not
  /// change if this does not reduce the residual or if A is singular.
  SolveReport solve_once(const Matrix &A, const Buffer<double> &b, Buffer<double> &x,
                         const SolveControl &control) const
  {
    const CsrView<double> view = A.csr().csr_view();
    const auto measure_at = [&](const Buffer<double> &v, Vector<double> *const r) {
      return measure(*A.range(), {view, b.data(), v.data(), r == nullptr ? nullptr : r->data()});
    };
    SolveReport report = report_of_method(A, control);
    Vector<double> r(A.range());
    SystemNorms norms = measure_at(x, &r);
    report.initial_residual = norms.residual;
    report.target = std::max(
        control.absolute_tolerance,
        control.relative_tolerance *
            (control.reference == SolveControl::Reference::rhs ? norms.rhs : norms.residual));
    const bool uses_guess = norms.residual <= norms.rhs;
    if (!uses_guess)
      r.assign(b.data());
    report.outcome = std::isfinite(norms.residual) ? Outcome::breakdown : Outcome::not_finite;
    const bool has_perturbed_pivots = factors->report().has_perturbed_pivots;
    if (Vector<double> d = divide(A, r); d.space()) {
      if (uses_guess)
        combine(1., d, 1., Vector<double>(A.domain(), x.data()));
      const SystemNorms reached = measure_at(d, &r);
      if (reached.residual <= report.target)
        report.outcome = Outcome::converged;
      else if (!std::isfinite(reached.residual))
        report.outcome = Outcome::not_finite;
      else if (!has_perturbed_pivots)
        report.outcome = Outcome::stagnated;
      if (report.outcome == Outcome::converged ||
          (report.outcome == Outcome::stagnated && !(reached.residual >= norms.residual))) {
        x.copy_from(d);
        norms = reached;
      }
    }
    if (report.outcome == Outcome::converged) // a small residual does not bound the error of x
      if (const Vector<double> d = divide(A, r); d.space()) {
        const double norm_x = norm(Vector<double>(A.domain(), x.data()));
        report.forward_error = norm_x > 0. ? norm(d) / norm_x : 0.;
        if (report.forward_error > largest_forward_error)
          report.outcome = has_perturbed_pivots ? Outcome::breakdown : Outcome::stagnated;
      }
    report.rhs_norm = norms.rhs;
    report.true_residual = norms.residual;
    report.backward_error = norms.backward_error();
    return report;
  }

  SolveReport report_of_method(const Matrix &A, const SolveControl &control) const
  {
    const FactorsReport of_factors = factors->report();
    SolveReport report;
    report.method.solver = "direct";
    report.method.preconditioner = "no preconditioner";
    report.method.format = A.format();
    report.method.backend = A.executor()->name();
    report.method.norm = name_of_norm(control);
    report.method.solver_remarks = of_factors.remarks;
    report.method.is_reproducible = of_factors.is_reproducible;
    report.method.setup.n_nonzeros = of_factors.n_nonzeros;
    return report;
  }

  std::unique_ptr<Factors> factors;
  const Matrix *factorised = nullptr; ///< the matrix of set_up()
  HostCsr matrix;                     ///< the matrix of the factors
  HostMatrix copy;                    ///< the matrix if it is on a device
};
} // namespace
} // namespace direct

template <>
std::unique_ptr<Solver> make_on<class DirectSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<direct::Direct<ThisBackend>>();
}
} // namespace femgpu::linalg
