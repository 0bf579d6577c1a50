#include "linalg/solvers/rounding.h"

#include "linalg/execution/host/executor.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace femgpu::linalg
{
RowSpacePtr host_rows(const HostCsr &A, const CommunicatorPtr &communicator)
{
  const auto rows = std::make_shared<RowSpace>(std::make_shared<HostExecutor>(), A.n, communicator);
  return A.ghosts == nullptr ? rows : std::make_shared<RowSpace>(*rows, *A.ghosts);
}

SystemNorms measure(const RowSpace &rows, const HostCsr &A, const double *const b,
                    const double *const x, double *const r)
{
  const Buffer<double> with_ghosts =
      rows.communicator() == nullptr ? Buffer<double>() : rows.with_ghosts(x);
  return measure(rows, {{A.n, 1, A.row_starts, A.columns, A.values},
                        b,
                        rows.communicator() == nullptr ? x : with_ghosts.data(),
                        r});
}

SystemNorms measure(const HostCsr &A, const double *const b, const double *const x, double *const r)
{
  return measure(*host_rows(A), A, b, x, r);
}

int longest_row(const HostCsr &A)
{
  int longest = 0;
  for (int i = 0; i < A.n; ++i)
    longest = std::max(longest, A.row_starts.length(i));
  return longest;
}

double rounding_level(const int longest_row)
{
  constexpr double u = 0x1p-53;
  return 8. * std::sqrt(static_cast<double>(longest_row)) * u;
}

namespace
{
constexpr int max_refinements = 5;

/// Returns whether the solve of @p report has failed and rounding alone may be the reason. Reads A
/// only after a failure.
bool may_be_rounding(const CsrMatrix &A, const SolveReport &report)
{
  return !report.converged() &&
         may_be_rounding(report.outcome, report.backward_error,
                         rounding_level(static_cast<int>(A.range()->max(A.longest_row()))));
}
} // namespace

double correction_tolerance(const long long n)
{
  return std::max(1e-2 / std::sqrt(static_cast<double>(n)), 1e-8);
}

bool is_resolved(const SolveReport &step)
{
  return step.converged() ||
         (step.outcome == Outcome::stagnated && step.true_residual <= 0.1 * step.rhs_norm);
}

bool may_be_rounding(const Outcome outcome, const double backward_error, const double level)
{
  switch (outcome) {
  case Outcome::stagnated:
  case Outcome::breakdown:
  case Outcome::diverged:
  case Outcome::indefinite_matrix:
  case Outcome::indefinite_preconditioner:
    return backward_error <= level;
  case Outcome::converged:
  case Outcome::converged_to_rounding:
  case Outcome::iteration_limit:
  case Outcome::not_finite:
  case Outcome::not_balanced:
    break;
  }
  return false;
}

SystemNorms measure(const CsrMatrix &A, const Vector<double> &b, const Vector<double> &x,
                    Vector<double> *const r)
{
  return measure(*A.range(), {A.csr_view(), b.data(), x.update_ghost_values(),
                              r == nullptr ? nullptr : r->data()});
}

void refine_to_rounding(const CsrMatrix &A, const Vector<double> &b, Vector<double> &x,
                        SolveReport &report, const RefinementCallbacks &callbacks)
{
  for (int k = 0; k < max_refinements && may_be_rounding(A, report); ++k) {
    Vector<double> r(b.space()), d(x.space()), refined = x.copy();
    d.fill_zero();
    const double residual = measure(A, b, x, &r).residual;
    const SolveReport step =
        callbacks.solve_correction(r, d, correction_tolerance(A.range()->n_global()));
    add_work(step, report);
    if (!is_resolved(step))
      return;
    report.forward_error = norm(d) / norm(refined);
    combine(1., refined, 1., d);
    if (!(measure(A, b, refined).residual <= 0.5 * residual)) {
      if (report.forward_error <= largest_forward_error)
        report.outcome = Outcome::converged_to_rounding;
      return;
    }
    x.copy_from(refined);
    append_solve(report, callbacks.resume(x));
  }
}
} // namespace femgpu::linalg
