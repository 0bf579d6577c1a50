#include "linalg/matrices/registry.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/nonlinear/residual.h"
#include "linalg/preconditioners/registry.h"

namespace femgpu::linalg
{
namespace
{
/// How the next direction is made from the last one.
enum class Conjugation
{
  fletcher_reeves,
  polak_ribiere ///< not below 0
};

struct State : KrylovState
{
  double gamma = 0.;    ///< (r, M⁻¹r)
  double slope = 0.;    ///< (r, p) where the line begins; −dJ/dα
  double pq = 0.;       ///< (p, A p)
  double rp = 0.;       ///< (r, p) at the trial point
  double alpha = 0.;    ///< of the trial point
  double delta = 0.;    ///< what the next trial adds to it
  double low = 0.;      ///< J falls here along p,
  double high = 0.;     ///< and no more here; 0: not known yet
  double decrease = 0.; ///< J where the line begins − J at the trial point
  double beta = 0.;
  double sigma = 0.1;
  Conjugation conjugation = Conjugation::fletcher_reeves;
  int trials = 0; ///< of this line
  int all_trials = 0;
  int steepest_descents = 0; ///< because p was no direction of descent

  /// Trial points of a line after which it is taken as it is, or given up.
  static constexpr int most_trials = 40;

  /// A line begins, with curvature (p, A p) − (λ W φ'(x) p, p) at its first point.
  FEMGPU_HD
  void begin_line(const double curvature)
  {
    alpha = low = high = decrease = 0.;
    trials = 0;
    inner = false;
    rp = slope;
    // Newton's step, unless J is hardly convex there; A alone gives a shorter one.
    constexpr double least_share = 0.01;
    delta = slope / (curvature > least_share * pq ? curvature : pq);
  }

  /**
   * Looks at a trial point: ends the line, or sets the next delta, by Newton's method for
   * dJ/dα = 0 (Galiano et al. 2012, §1) inside of the bracket that is known.
   */
  FEMGPU_HD
  void judge(const double curvature)
  {
    ++trials;
    ++all_trials;
    const bool is_lower = is_finite(rp) && decrease >= -1e-12 * slope * alpha;
    if (is_lower && fabs(rp) <= sigma * slope) {
      inner = false;
      return;
    }
    if (trials >= most_trials) {
      inner = false;
      if (!is_lower)
        stop(is_finite(rp) ? Outcome::stagnated : Outcome::not_finite);
      return;
    }
    inner = true;
    const bool is_before_minimum = is_lower && rp > 0.;
    (is_before_minimum ? low : high) = alpha;
    double next = is_lower && curvature > 0. ? alpha + rp / curvature : -1.;
    const double farthest = high > 0. ? high : 8. * alpha;
    if (!(next > low && next < farthest))
      next = high > 0. ? 0.5 * (low + high) : 2. * alpha;
    delta = next - alpha;
  }

  /// β of the accepted point, and a direction of descent in any case. @p zr_before = (z, r_before)
  FEMGPU_HD
  void turn(const double rr_new, const double rz, const double zr_before)
  {
    ++iteration;
    beta = conjugation == Conjugation::fletcher_reeves ? rz / gamma
                                                       : fmax(0., (rz - zr_before) / gamma);
    // (r, p) of the next direction p = z + β p
    slope = rz + beta * rp;
    if (!(slope > 1e-3 * rz)) {
      beta = 0.;
      slope = rz;
      ++steepest_descents;
    }
    gamma = rz;
    check_spd(rr_new, rz, pq);
  }
};

struct Sums
{
  double pq, curvature, rp, rr, rz, zr_before, excess;
};

/// p = M⁻¹r;  γ = (r, M⁻¹r), for a diagonal M
struct Begin
{
  const double *r;
  double *p;
  DiagonalView m;

  using Contributes = SumList<&Sums::rz>;
  FEMGPU_HD
  void operator()(const State & /* s */, const int i, Sums &sum) const
  {
    p[i] = m(i) * r[i];
    sum.rz += r[i] * p[i];
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    s.slope = s.gamma = sum.rz;
    if (!(sum.rz > 0.))
      s.stop(KrylovState::is_finite(sum.rz) ? Outcome::indefinite_preconditioner
                                            : Outcome::not_finite);
  }
};

/// The same with z = M⁻¹r from a product
struct BeginWithProduct
{
  Begin begin; ///< of z

  const double *r;
  double *p;

  using Contributes = SumList<&Sums::rz>;
  FEMGPU_HD
  void operator()(const State & /* s */, const int i, const double z_i, Sums &sum) const
  {
    p[i] = z_i;
    sum.rz += r[i] * z_i;
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    begin.finish(s, sum);
  }
};

/// q = A p;  the first α along p. Keeps r for Polak and Ribière.
template <class Term>
struct ApplyMatrix
{
  Term term;
  const double *x, *r, *p;
  double *q;
  double *r_before; ///< nullptr: nobody needs it

  using Contributes = SumList<&Sums::pq, &Sums::curvature>;
  FEMGPU_HD
  void operator()(const State & /* s */, const int i, const double q_i, Sums &sum) const
  {
    q[i] = q_i;
    sum.pq += p[i] * q_i;
    sum.curvature += p[i] * (q_i - term.derivative(i, x[i]) * p[i]);
    if (r_before != nullptr)
      r_before[i] = r[i];
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    s.pq = sum.pq;
    if (!KrylovState::is_finite(sum.pq) || !KrylovState::is_finite(sum.curvature))
      s.stop(Outcome::not_finite);
    else if (!(sum.pq > 0.))
      s.stop(Outcome::indefinite_matrix);
    else
      s.begin_line(sum.curvature);
  }
};

/**
 * A trial point, from the last one: x += δ p;  r += λ W (φ(x) − φ(x before)) − δ q, with what its
 * judgement needs: dJ/dα = −(r, p), d²J/dα² and
 * J before − J = δ (r before, p) − δ²/2 (p, q) + Σ ∫ (φ(x + t) − φ(x)) dt.
 */
template <class Term, class M>
struct Move
{
  Term term;
  double *x, *r;
  const double *p, *q, *r_before;
  M m; ///< for β at once; without a diagonal M another step does it

  using Contributes =
      SumList<&Sums::rp, &Sums::curvature, &Sums::rr, &Sums::rz, &Sums::zr_before, &Sums::excess>;
  FEMGPU_HD
  void operator()(const State &s, const int i, Sums &sum) const
  {
    const double d = s.delta * p[i];
    const double x_i = x[i] + d;
    const double r_i = r[i] - s.delta * q[i] + term.difference(i, x[i], d);
    sum.excess += term.excess(i, x[i], d);
    x[i] = x_i;
    r[i] = r_i;
    sum.rp += r_i * p[i];
    sum.curvature -= term.derivative(i, x_i) * p[i] * p[i];
    sum.rr += r_i * r_i;
    if constexpr (is_fused<M>) {
      const double z_i = m(i) * r_i;
      sum.rz += z_i * r_i;
      if (r_before != nullptr)
        sum.zr_before += z_i * r_before[i];
    }
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    s.decrease += s.delta * s.rp - 0.5 * s.delta * s.delta * s.pq + sum.excess;
    s.alpha += s.delta;
    s.rp = sum.rp;
    s.rr = sum.rr;
    s.judge(s.pq + sum.curvature);
    if constexpr (is_fused<M>)
      if (s.running && !s.inner)
        s.turn(sum.rr, sum.rz, sum.zr_before);
  }
};

/// z = M⁻¹r;  β
struct ApplyPreconditioner
{
  const double *r, *r_before;
  double *z;

  using Contributes = SumList<&Sums::rz, &Sums::zr_before>;
  FEMGPU_HD
  void operator()(const State & /* s */, const int i, const double z_i, Sums &sum) const
  {
    z[i] = z_i;
    sum.rz += r[i] * z_i;
    if (r_before != nullptr)
      sum.zr_before += r_before[i] * z_i;
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    s.turn(s.rr, sum.rz, sum.zr_before);
  }
};

/// p = M⁻¹r + β p
struct UpdateDirection
{
  double *p;
  const double *r;
  DiagonalView m;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const State &s, const int i, Sums & /* sum */) const
  {
    p[i] = m(i) * r[i] + s.beta * p[i];
  }
};

/**
 * Nonlinear conjugate gradients for A x = b + λ W φ(x), the minimum of
 * J(x) = (A x, x)/2 − (b, x) − λ Σ w_i Φ(x_i) with Φ' = φ: NLCG and, with a preconditioner M ≈ A,
 * NLPCG (Galiano et al. 2012, Algorithms 1 and 2, with the sign of β that makes p conjugate).
 *
 * The line search is theirs, Newton's method for dJ/dα = 0, on the device; but each trial point is
 * a step from the one before that updates x and r with it, so that the line that Newton's first
 * step hits, as nearly all do, costs no pass of its own. It is safeguarded: inside of a bracket,
 * until |dJ/dα| <= σ |dJ/dα at 0| and J has not grown; p = M⁻¹r where p is no direction of descent.
 *
 * Use: many cheap iterations and no Jacobian; β of Polak and Ribière where Fletcher's and Reeves'
 * creeps. Needs: A and M symmetric positive definite; ends in a minimum of J, so on the lower
 * branch of Bratu's problem. Cost per iteration: 3 kernels, A, M twice and 18 vectors (4 kernels
 * and 20 where M is no row functor; 2 more for Polak and Ribière); 8 vectors for each further trial
 * point. Fails: stagnated where no point along p is lower; diverged or not_finite where J has no
 * minimum; as PCG does for A and M that are not positive definite.
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

  void setup(const NonlinearSystem &system, const bool same_pattern) override
  {
    if (same_pattern)
      preconditioner->update(system.A);
    else
      preconditioner->setup(system.A);
    require_symmetric("nlcg", *preconditioner);
  }

  SolveReport solve(const NonlinearSystem &system, Buffer<double> &x,
                    const SolveControl &control) override
  {
    const Matrix &A = system.A;
    const RowSpace &space = *A.domain();
    const auto m_view = preconditioner->action();
    const bool is_general = std::holds_alternative<const PreconditionerOperator *>(m_view);
    const bool keeps_r = conjugation == Conjugation::polak_ribiere;
    p = space.make_vector();
    q = space.make_vector();
    z = is_general ? space.make_vector() : Buffer<double>();
    r_before = keeps_r ? space.make_vector() : Buffer<double>();

    Iteration<Backend, State, Sums> iteration(*A.range());
    int trials = 0, steepest_descents = 0;
    Buffer<double> r = space.make_vector(), kept = space.make_vector();
    const auto run = [&](const KrylovState &start) -> KrylovState {
      State state;
      static_cast<KrylovState &>(state) = start;
      kept.copy_from(x);
      const ResidualState at_start = nonlinear_residual<Backend>(system, x, r);
      state.begin(at_start.rr, at_start.bb);
      if (!state.running)
        return state;
      state.conjugation = conjugation;
      state.sigma = sigma;
      iteration.set_state(state);
      const auto watch = watch_for<State>(control);
      visit_term(system.phi, system.w.data(), [&](const auto &term) {
        std::visit([&](const auto &m) { iterate(iteration, watch, A, term, m, x, r); }, m_view);
      });
      state = iteration.get_state();
      trials += state.all_trials;
      steepest_descents += state.steepest_descents;
      state.true_rr = nonlinear_residual<Backend>(system, x, r).rr;
      return state;
    };
    const std::size_t vectors = (is_general ? 20 : 18) + (keeps_r ? 2 : 0);
    SolveReport report = report_of_method(
        A, *preconditioner, "nlcg", {1, vectors, std::size_t{is_general ? 1U : 2U}}, x.bytes());
    report = solve_to_true_residual<State>(iteration, A, control, std::move(report), run,
                                           [&] { x.copy_from(kept); });
    report.inner.line_search_steps = trials;
    report.method.norm = nonlinear_norm(control);
    describe(report, nonlinear_residual_name);
    for (Buffer<double> *const v : {&p, &q, &z, &r_before})
      *v = Buffer<double>();
    return report;
  }

private:
  template <class Iteration_, class Term, class M>
  void iterate(Iteration_ &iteration, const Watch<State> &watch, const Matrix &A, const Term &term,
               const M &m, Buffer<double> &x, Buffer<double> &r)
  {
    const int n = A.n();
    double *const before = r_before.data();
    const Move<Term, M> move{term, x.data(), r.data(), p.data(), q.data(), before, m};
    const auto apply = product(
        A, p.data(), ApplyMatrix<Term>{term, x.data(), r.data(), p.data(), q.data(), before});
    if constexpr (is_fused<M>) {
      iteration.once(rows(n, Begin{r.data(), p.data(), m}));
      iteration.repeat(watch, //
                       apply, rows(n, move), inner_loop(rows(n, move)),
                       rows(n, UpdateDirection{p.data(), r.data(), m}));
    }
    else {
      iteration.once(product(*m, r.data(), BeginWithProduct{{}, r.data(), p.data()}));
      iteration.repeat(watch, //
                       apply, rows(n, move), inner_loop(rows(n, move)),
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

template <>
std::unique_ptr<NonlinearMethod>
make_on<class NlcgMethod, ThisBackend>(Method &method, const LinearSolverOptions &linear)
{
  return std::make_unique<NonlinearCG<ThisBackend>>(method, linear);
}
} // namespace femgpu::linalg
