#include "linalg/matrices/registry.h"
#include "linalg/nonlinear/nlcg_steps.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/nonlinear/residual.h"
#include "linalg/preconditioners/registry.h"

namespace femgpu::linalg
{
namespace nlcg
{
namespace
{
/// J(x) at the x where a line begins, in double precision: what it multiplies with instead of A
/// where r(x) is evaluated.
class JacobianAtX final : public ViewedOperator<CsrView<double>>
{
public:
  JacobianAtX(const EvaluatedResidual &residual, const CsrMatrix &pattern, const double *x)
      : ViewedOperator(pattern.range(), pattern.domain()), residual(residual), x(x),
        matrix(std::make_unique<CsrMatrix>(pattern.copy()))
  {}

  View view() const override
  {
    return matrix->csr_view();
  }
  const double *prepare(StepRunner &runner, double *p) const override
  {
    residual.set_jacobian(runner, x, matrix->mutable_values());
    return p;
  }

private:
  const EvaluatedResidual &residual;
  const double *x;
  std::unique_ptr<CsrMatrix> matrix;
};

/**
 * Nonlinear conjugate gradients for r(x) = 0 where r = −∇J, as for A x = b + λ W φ(x), the minimum
 * of J(x) = (A x, x)/2 − (b, x) − λ Σ w_i Φ(x_i) with Φ' = φ: NLCG and, with a preconditioner M of
 * the linear part, NLPCG (Galiano et al. 2012, Algorithms 1 and 2, with the sign of β that makes p
 * conjugate).
 *
 * The line search is theirs, Newton's method for dJ/dα = 0, on the device; but each trial point is
 * a step from the one before that updates x and r with it, so that the line that Newton's first
 * step hits, as nearly all do, costs no pass of its own. It is safeguarded: inside of a bracket,
 * until |dJ/dα| <= σ |dJ/dα at 0| and J has not grown; p = M⁻¹r where p is no direction of descent.
 *
 * Where r(x) is not fused it is evaluated at each trial point, and J(x) multiplies p instead of A.
 *
 * Use: many cheap iterations and no linear systems; β of Polak and Ribière where Fletcher's and
 * Reeves' creeps. Needs: A (or J(x)) and M symmetric positive definite; ends in a minimum of J, so
 * on the lower branch of Bratu's problem. Cost per iteration: 3 kernels, A, M twice and 18 vectors
 * (4 kernels and 20 where M is no row functor; 2 more for Polak and Ribière); 8 vectors for each
 * further trial point. Fails: stagnated where no point along p is lower; diverged or not_finite
 * where J has no minimum; as PCG does for A and M that are not positive definite.
 */
template <class Backend>
class NonlinearCG final : public NonlinearMethod
{
public:
  NonlinearCG(Method &method, const LinearSolverOptions &linear)
      : conjugation(method.word("beta", "fletcher-reeves", {"fletcher-reeves", "polak-ribiere"}) ==
                            "fletcher-reeves"
                        ? Conjugation::fletcher_reeves
                        : Conjugation::polak_ribiere),
        sigma(method.number("sigma", 0.1, 1e-10, 0.5)),
        preconditioner(make_preconditioner(linear.preconditioner, Backend::kind))
  {}

  void setup(const NonlinearOperator &F, const bool same_pattern) override
  {
    if (same_pattern)
      preconditioner->update(F.linear_part());
    else
      preconditioner->setup(F.linear_part());
    require_symmetric("nlcg", *preconditioner);
  }

  SolveReport solve(const NonlinearOperator &F, Buffer<double> &x,
                    const SolveControl &control) override
  {
    const Matrix &A = F.linear_part();
    const RowSpace &space = F.space();
    const auto m_view = preconditioner->action();
    const bool is_general = std::holds_alternative<const PreconditionerOperator *>(m_view);
    const bool keeps_r = conjugation == Conjugation::polak_ribiere;
    p = space.make_vector();
    q = space.make_vector();
    z = is_general ? space.make_vector() : Buffer<double>();
    r_before = keeps_r ? space.make_vector() : Buffer<double>();

    Iteration<Backend, State, Sums> iteration(space);
    int trials = 0, steepest_descents = 0;
    Buffer<double> r = space.make_vector(), kept = space.make_vector();
    const auto run = [&](const KrylovState &start) -> KrylovState {
      State state;
      static_cast<KrylovState &>(state) = start;
      kept.copy_from(x);
      const ResidualState at_start = nonlinear_residual<Backend>(F, x, r);
      state.begin(at_start.rr, at_start.bb);
      if (!state.running)
        return state;
      state.conjugation = conjugation;
      state.sigma = sigma;
      iteration.set_state(state);
      const auto watch = watch_for<State>(control);
      std::visit([&](const auto &action,
                     const auto &m) { run_lines(iteration, watch, A, action, m, x, r); },
                 F.action(), m_view);
      state = iteration.get_state();
      trials += state.all_trials;
      steepest_descents += state.steepest_descents;
      state.true_rr = nonlinear_residual<Backend>(F, x, r).rr;
      return state;
    };
    const std::size_t vectors = (is_general ? 20 : 18) + (keeps_r ? 2 : 0);
    SolveReport report = report_of_method(
        A, *preconditioner, "nlcg", {1, vectors, std::size_t{is_general ? 1U : 2U}}, x.bytes());
    report = solve_to_true_residual<State>(iteration, A, control, std::move(report), run,
                                           [&] { x.copy_from(kept); });
    report.inner.line_search_steps = trials;
    report.method.norm = nonlinear_norm(F, control);
    describe(report, F.residual_name());
    for (Buffer<double> *const v : {&p, &q, &z, &r_before})
      *v = Buffer<double>();
    return report;
  }

private:
  /// With r(x) fused into the steps.
  template <class Loop, class Row, class M>
  void run_lines(Loop &iteration, const Watch<State> &watch, const Matrix &A, const Row &row,
                 const M &m, Buffer<double> &x, Buffer<double> &r)
  {
    const Move<Row, M> move{row, x.data(), r.data(), q.data(), {p.data(), r_before.data(), m}};
    iterate(iteration, watch, A, row, m, x, r, rows(A.n(), move));
  }

  /// With r(x) evaluated at each trial point.
  template <class Loop, class M>
  void run_lines(Loop &iteration, const Watch<State> &watch, const Matrix &A,
                 const EvaluatedResidual *const &residual, const M &m, Buffer<double> &x,
                 Buffer<double> &r)
  {
    const JacobianAtX J(*residual, A.csr(), x.data());
    const TakeResidual<M> take{r.data(), {p.data(), r_before.data(), m}};
    iterate(iteration, watch, J, EvaluatedRow{residual->at_zero(), nullptr}, m, x, r,
            rows(A.n(), MoveAlong{x.data(), p.data()}), product(*residual, x.data(), take));
  }

  /// @param trial the steps of a trial point. @param L what multiplies p
  template <class Loop, class Operator, class Row, class M, class... Trial>
  void iterate(Loop &iteration, const Watch<State> &watch, const Operator &L, const Row &row,
               const M &m, const Buffer<double> &x, Buffer<double> &r, const Trial &...trial)
  {
    const int n = L.n();
    const double *const before = r_before.data();
    const auto apply =
        product(L, p.data(),
                ApplyMatrix<Row>{row, x.data(), r.data(), p.data(), q.data(), r_before.data()});
    if constexpr (is_fused<M>) {
      iteration.once(rows(n, Begin{r.data(), p.data(), m}));
      iteration.repeat(watch, //
                       apply, trial..., inner_loop(trial...),
                       rows(n, UpdateDirection{p.data(), r.data(), m}));
    }
    else {
      iteration.once(product(*m, r.data(), BeginWithProduct{{}, r.data(), p.data()}));
      iteration.repeat(watch, //
                       apply, trial..., inner_loop(trial...),
                       product(*m, r.data(), ApplyPreconditioner{r.data(), before, z.data()}),
                       rows(n, UpdateDirection{p.data(), z.data(), {}}));
    }
  }

  Conjugation conjugation;
  double sigma;
  std::unique_ptr<Preconditioner> preconditioner;
  Buffer<double> p, q, z, r_before;
};
} // namespace
} // namespace nlcg

template <>
std::unique_ptr<NonlinearMethod>
make_on<class NlcgMethod, ThisBackend>(Method &method, const LinearSolverOptions &linear)
{
  return std::make_unique<nlcg::NonlinearCG<ThisBackend>>(method, linear);
}
} // namespace femgpu::linalg
