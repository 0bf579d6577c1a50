#include "linalg/base/timing.h"
#include "linalg/nonlinear/inexact_newton.h"
#include "linalg/nonlinear/jacobian.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/nonlinear/residual.h"
#include "linalg/solvers/backward_error.h"
#include "linalg/solvers/registry.h"
#include "linalg/solvers/rounding.h"

#include <cmath>

namespace femgpu::linalg
{
namespace
{
/// Computes y = x + α d.
struct FormTrial
{
  const double *x, *d;
  double alpha;
  double *y;

  FEMGPU_HD
  void operator()(const int i) const
  {
    y[i] = x[i] + alpha * d[i];
  }
};

struct NormState : LoopState
{
  double ratio = 0.;
};

struct NormSums
{
  double dd, xx;
};

/// Computes ‖d‖/‖x‖.
struct CompareNorms
{
  const double *d, *x;

  using Contributes = SumList<&NormSums::dd, &NormSums::xx>;
  FEMGPU_HD
  void operator()(const NormState & /* s */, const int i, NormSums &sums) const
  {
    sums.dd += d[i] * d[i];
    sums.xx += x[i] * x[i];
  }

  FEMGPU_HD
  void finish(NormState &s, const NormSums &sums) const
  {
    s.ratio = sums.dd > 0. ? sqrt(sums.dd / sums.xx) : 0.;
  }
};

/**
 * Newton–Krylov: J(x) d = r(x), x += α d, with any linear solver and preconditioner; steps are
 * halved until ‖r‖ decreases sufficiently (Armijo).
 *
 * Use: fine meshes and tight tolerances; the number of Newton iterations hardly grows with n, but
 * the number of linear iterations does. Needs: a J near the solution that suits the linear solver,
 * for example a positive definite J for cg, as on the lower branch of Bratu's problem. Cost per
 * iteration: a linear solve, to the tolerance of Eisenstat and Walker (1996, choice 2) or a
 * constant one; an update of J, its format and the preconditioner; a product per trial step.
 * Memory: J in addition to A. Fails: as the linear solver does; stagnated if no step reduces the
 * residual.
 */
template <class Backend>
class Newton final : public NonlinearMethod
{
public:
  Newton(Method &method, const LinearSolverOptions &linear)
      : options(read_forcing(method)), linear(linear), jacobian(linear)
  {}

  void setup(const SemilinearEquation &F, const bool same_pattern) override
  {
    if (same_pattern)
      jacobian.update(F.matrix());
    else
      jacobian.setup(F.matrix());
  }

  SolveReport solve(const SemilinearEquation &F, Buffer<double> &x,
                    const SolveControl &control) override
  {
    const Stopwatch watch;
    for (Buffer<double> *const v : {&r, &d, &trial})
      *v = F.space().make_vector();
    SolveReport report;
    report.method.preconditioner = preconditioner_of(linear);
    report.method.backend = F.space().executor()->name();
    const ResidualState start = nonlinear_residual<Backend>(F, x, r);
    report.rhs_norm = std::sqrt(start.bb);
    report.initial_residual = report.true_residual = std::sqrt(start.rr);
    report.target =
        std::max(control.absolute_tolerance,
                 control.relative_tolerance * (control.reference == SolveControl::Reference::rhs
                                                   ? report.rhs_norm
                                                   : report.initial_residual));
    setup_seconds = 0.;
    SolveControl inner;
    inner.max_iterations = linear.control.max_iterations;
    const std::string why = iterate_newton(
        control, options, inner, report,
        [&](const SolveControl &step_control) {
          SolveReport step = solve_linear(F, x, step_control);
          add_linear(step, report);
          return step;
        },
        [&] {
          const bool has_moved = search_line(F, x, report.true_residual, report);
          if (!has_moved)
            report.outcome = outcome_at_rounding(F, x, inner, report);
          return has_moved;
        });
    report.method.solver = "newton, " + linear.solver;
    report.method.norm = nonlinear_norm(control);
    report.costs.setup_seconds = setup_seconds;
    report.costs.solve_seconds = watch.elapsed() - setup_seconds;
    describe(report, F.residual_name);
    report.message += why;
    for (Buffer<double> *const v : {&r, &d, &trial})
      *v = Buffer<double>();
    return report;
  }

private:
  SolveReport solve_linear(const SemilinearEquation &F, Buffer<double> &x,
                           const SolveControl &inner)
  {
    const Stopwatch watch;
    jacobian.refresh(F, x);
    F.space().executor()->synchronize();
    setup_seconds += watch.elapsed();
    d.fill_zero();
    SolveReport report = jacobian.solve(r, d, inner);
    setup_seconds += report.costs.setup_seconds;
    return report;
  }

  /// Returns the outcome if no step reduces the residual: converged_to_rounding if the residual is
  /// the rounding error of the terms of A x, and the next Newton step, solved accurately enough to
  /// determine its length, is short; otherwise stagnated.
  Outcome outcome_at_rounding(const SemilinearEquation &F, const Buffer<double> &x,
                              SolveControl inner, SolveReport &report)
  {
    const CsrMatrix &A = F.matrix().csr();
    const bool is_distributed = F.space().communicator() != nullptr;
    const Buffer<double> x_with_ghosts =
        is_distributed ? F.space().with_ghosts(x.data()) : Buffer<double>();
    const double *const x_data = is_distributed ? x_with_ghosts.data() : x.data();
    const SystemNorms norms = measure(F.space(), {A.csr_view(), r.data(), x_data, nullptr});
    report.backward_error = report.true_residual / norms.scale;
    if (!may_be_rounding(Outcome::stagnated, report.backward_error,
                         rounding_level(static_cast<int>(F.space().max(A.longest_row())))))
      return Outcome::stagnated;
    inner.relative_tolerance = correction_tolerance(F.space().n_global());
    d.fill_zero();
    const SolveReport step = jacobian.solve(r, d, inner);
    add_linear(step, report);
    if (!is_resolved(step))
      return Outcome::stagnated;
    Iteration<Backend, NormState, NormSums> iteration(F.space());
    iteration.set_state({});
    iteration.once(rows(F.n(), CompareNorms{d.data(), x.data()}));
    report.forward_error = iteration.get_state().ratio;
    return report.forward_error <= largest_forward_error ? Outcome::converged_to_rounding
                                                         : Outcome::stagnated;
  }

  /// Moves x along d by the first of the lengths 1, 1/2, 1/4, ... that reduces ‖r‖ sufficiently,
  /// and updates r. Returns false if none of them does.
  bool search_line(const SemilinearEquation &F, Buffer<double> &x, double &norm,
                   SolveReport &report)
  {
    for (int halvings = 0; halvings <= max_halvings; ++halvings) {
      const double alpha = std::ldexp(1., -halvings);
      Runner<Backend>(*F.space().executor())
          .run(rows(F.n(), FormTrial{x.data(), d.data(), alpha, trial.data()}));
      ++report.inner.line_search_steps;
      const double new_norm = std::sqrt(nonlinear_residual<Backend>(F, trial, r).rr);
      if (satisfies_armijo(new_norm, alpha, norm)) {
        std::swap(x, trial);
        norm = new_norm;
        return true;
      }
    }
    nonlinear_residual<Backend>(F, x, r);
    return false;
  }

  /// Adds the work of the linear solve @p step to the report, and copies its method and sizes.
  static void add_linear(const SolveReport &step, SolveReport &report)
  {
    report.inner.linear_iterations += step.iterations;
    report.restarts += step.restarts;
    report.method = step.method;
  }

  ForcingOptions options;
  LinearSolverOptions linear;
  Jacobian<Backend> jacobian;
  Buffer<double> r, d, trial;
  double setup_seconds = 0.;
};
} // namespace

template <>
std::unique_ptr<NonlinearMethod>
make_on<class NewtonMethod, ThisBackend>(Method &method, const LinearSolverOptions &linear)
{
  return std::make_unique<Newton<ThisBackend>>(method, linear);
}
} // namespace femgpu::linalg
