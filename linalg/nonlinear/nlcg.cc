#include "linalg/matrices/registry.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/nonlinear/residual.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/short_recurrence.h"

#include <functional>

namespace femgpu::linalg
{
namespace nlcg
{
namespace
{
/// The formula of β for the next direction.
enum class Conjugation
{
  fletcher_reeves,
  polak_ribiere ///< with negative values replaced by 0
};

enum Vector : int
{
  x,
  r,
  p,
  q,        ///< A p
  r_before, ///< r at the start of the line
  n_fused,
  z = n_fused, ///< M⁻¹r
  n_vectors
};
using Values = Row<n_vectors>;

/// The vector that stores the r of the previous line; -1 if it is not stored.
template <Conjugation conjugation>
constexpr int stored_r = conjugation == Conjugation::polak_ribiere ? r_before : -1;

struct Sums
{
  double pq, curvature, rp, rr, rz, zr_before, potential_remainder;
};

/// The state of the method. J is the function that it minimises, and a line is one line search.
struct State : KrylovState
{
  double gamma = 0.;    ///< (r, M⁻¹r)
  double slope = 0.;    ///< (r, p) at the start of the line; −dJ/dα
  double pq = 0.;       ///< (p, A p)
  double rp = 0.;       ///< (r, p) at the trial point
  double alpha = 0.;    ///< α of the trial point x + α p
  double delta = 0.;    ///< increment of α for the next trial
  double low = 0.;      ///< largest known α at which J still decreases along p
  double high = 0.;     ///< known α beyond the minimum of J along p; 0: none yet
  double decrease = 0.; ///< J at the start of the line − J at the trial point
  double beta = 0.;
  double sigma = 0.1;
  bool is_first_point = true; ///< the next trial point is x itself, before the first line
  int trials = 0;             ///< trial points of this line
  int total_trials = 0;

  /// Number of trial points after which a line is accepted as it is, or abandoned.
  static constexpr int max_trials = 40;

  /// Begins at the first point, where the direction is M⁻¹r.
  FEMGPU_HD
  void begin_first_line(const double rz)
  {
    is_first_point = false;
    slope = gamma = rz;
    if (!(rz > 0.))
      stop(is_finite(rz) ? Outcome::indefinite_preconditioner : Outcome::not_finite);
  }

  /// Begins a line.
  /// @param curvature d²J/dα² at its first point
  FEMGPU_HD
  void begin_line(const double curvature)
  {
    alpha = low = high = decrease = 0.;
    trials = 0;
    inner = false;
    rp = slope;
    // Newton's step. If J is hardly convex here, the curvature of the linear part alone yields a
    // shorter step.
    constexpr double min_share = 0.01;
    delta = slope / (curvature > min_share * pq ? curvature : pq);
  }

  /**
   * Evaluates the next trial point, at distance δ from the previous one, from its sums: the
   * decrease of J since the previous point, δ (r, p) − δ²/2 (p, q) + Σ ∫ (φ(x + t) − φ(x)) dt with
   * the previous r and x, and d²J/dα².
   */
  FEMGPU_HD
  void evaluate_trial(const Sums &sum)
  {
    decrease += delta * rp - 0.5 * delta * delta * pq + sum.potential_remainder;
    alpha += delta;
    rp = sum.rp;
    rr = sum.rr;
    update_line_search(pq + sum.curvature);
  }

  /**
   * Ends the line, or sets the next δ, by Newton's method for dJ/dα = 0 (Galiano et al. 2012, §1)
   * within the known bracket.
   */
  FEMGPU_HD
  void update_line_search(const double curvature)
  {
    ++trials;
    ++total_trials;
    const bool is_lower = is_finite(rp) && decrease >= -1e-12 * slope * alpha;
    if (is_lower && fabs(rp) <= sigma * slope) {
      inner = false;
      return;
    }
    if (trials >= max_trials) {
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

  /// Accepts the trial point. Sets β to @p new_beta if this makes the next direction one of
  /// descent, else to 0.
  FEMGPU_HD
  void update_beta(const double rz, const double new_beta)
  {
    ++iteration;
    beta = new_beta;
    // (r, p) of the next direction p = z + β p
    slope = rz + beta * rp;
    if (!(slope > 1e-3 * rz)) {
      beta = 0.;
      slope = rz;
    }
    gamma = rz;
    check_spd(rr, rz, pq);
  }
};

/// Computes q = A p, (p, q), and d²J/dα² at x, from which the first α along p follows.
template <class Row>
struct ApplyMatrix : MatrixTimes<p, q>
{
  Row data;
  static constexpr int n_vectors_of_data = 1; // the weights

  using Reads = VectorList<x, p>;
  using Contributes = SumList<&Sums::pq, &Sums::curvature>;
  FEMGPU_HD
  void operator()(const State & /* s */, Values &v, Sums &sum) const
  {
    sum.pq += v[p] * v[q];
    sum.curvature += v[p] * (v[q] - data.derivative(v.number, v[x]) * v[p]);
  }

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

/// Moves from a trial point to the next one: x += δ p, r += λ W (φ(x) − φ(previous x)) − δ q.
template <class Row>
struct MoveToTrial : RowFormula
{
  Row data;
  static constexpr int n_vectors_of_data = 1; // the weights

  using Reads = VectorList<x, r, p, q>;
  using Writes = VectorList<x, r>;
  using Contributes = SumList<&Sums::rp, &Sums::curvature, &Sums::rr, &Sums::potential_remainder>;
  FEMGPU_HD
  void operator()(const State &s, Values &v, Sums &sum) const
  {
    const double d = s.delta * v[p];
    v[r] = v[r] - s.delta * v[q] + data.difference(v.number, v[x], d);
    sum.potential_remainder += data.potential_remainder(v.number, v[x], d);
    v[x] += d;
    sum.curvature -= data.derivative(v.number, v[x]) * v[p] * v[p];
    sum.rp += v[r] * v[p];
    sum.rr += v[r] * v[r];
  }
};

/// Computes z = M⁻¹r, decides whether the trial point is accepted, and if so computes β.
template <Conjugation conjugation>
struct ApplyPreconditioner : PreconditionerTimes<r, z>
{
  static constexpr bool is_polak_ribiere = conjugation == Conjugation::polak_ribiere;

  using Reads = VectorList<r, stored_r<conjugation>>;
  using Contributes = SumList<&Sums::rz, &Sums::zr_before>;
  FEMGPU_HD
  void operator()(const State & /* s */, Values &v, Sums &sum) const
  {
    sum.rz += v[z] * v[r];
    if constexpr (is_polak_ribiere)
      sum.zr_before += v[z] * v[r_before];
  }

  using Completes = SumList<&Sums::rp, &Sums::curvature, &Sums::rr, &Sums::potential_remainder,
                            &Sums::rz, &Sums::zr_before>;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    if (s.is_first_point) {
      s.begin_first_line(sum.rz);
      return;
    }
    s.evaluate_trial(sum);
    if (s.running && !s.inner)
      s.update_beta(sum.rz, is_polak_ribiere ? fmax(0., (sum.rz - sum.zr_before) / s.gamma)
                                             : sum.rz / s.gamma);
  }
};

/// Computes p = M⁻¹r + β p.
template <Conjugation conjugation>
struct UpdateDirection : RowFormula
{
  using Reads = VectorList<p, conjugation == Conjugation::polak_ribiere ? r : -1>;
  using Images = ImageList<Image<z, r>>;
  using Writes = VectorList<p, stored_r<conjugation>>;
  FEMGPU_HD
  void operator()(const State &s, Values &v, Sums & /* sum */) const
  {
    v[p] = v[z] + s.beta * v[p];
    v[r_before] = v[r];
  }
};

/// The steps of the method for a SemilinearRow. The first iteration begins with p = q = 0 and δ =
/// 0.
struct Nlcg
{
  using State = nlcg::State;
  using Sums = nlcg::Sums;
  static constexpr int n_fused = nlcg::n_fused, n_vectors = nlcg::n_vectors;

  template <class Row, Conjugation conjugation>
  using Trial = StepList<MoveToTrial<Row>, ApplyPreconditioner<conjugation>>;
  template <class Row, Conjugation conjugation>
  using Loop = StepList<Trial<Row, conjugation>, UpdateDirection<conjugation>, ApplyMatrix<Row>>;
};

/**
 * Nonlinear conjugate gradients for A x = b + λ W φ(x), the minimum of J(x) = (A x, x)/2 − (b, x) −
 * λ Σ w_i Φ(x_i) with Φ' = φ: NLCG and, with a preconditioner M of A, NLPCG (Galiano et al. 2012,
 * Algorithms 1 and 2, with the sign of β that makes p conjugate).
 *
 * The line search of the paper, Newton's method for dJ/dα = 0, runs on the device. Each trial point
 * is a step from the previous one and also updates x and r. Hence a line search whose first Newton
 * step succeeds, as nearly all do, costs no additional pass. The search is safeguarded: it stays
 * within a bracket, and ends when |dJ/dα| <= σ |dJ/dα at 0| and J has not grown; if p = M⁻¹r + β p
 * is not a direction of descent, p = M⁻¹r replaces it.
 *
 * Use: many cheap iterations without linear systems; β of Polak and Ribière if that of Fletcher and
 * Reeves leads to slow convergence. Needs: A and M symmetric positive definite. The method ends in
 * a minimum of J; for Bratu's problem this is on the lower branch. Cost per iteration: 3 kernels, A
 * once, M twice and 14 vectors (4 kernels, M once and 16 vectors if M is not diagonal); β of Polak
 * and Ribière adds 2 vectors, or 3 if M is not diagonal; each further trial point adds 7 vectors
 * and M. Fails: stagnated if no point along p is lower; diverged or not_finite if J has no minimum;
 * as cg if A or M is not positive definite. The line search is an inner loop, and rows need the
 * data of the equation. Therefore the loop runs as a graph and does not stay on a chip.
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

  void setup(const SemilinearEquation &F, const bool same_pattern) override
  {
    if (same_pattern)
      preconditioner->update(F.matrix());
    else
      preconditioner->setup(F.matrix());
    require_symmetric("nlcg", *preconditioner);
  }

  SolveReport solve(const SemilinearEquation &F, Buffer<double> &solution,
                    const SolveControl &control) override
  {
    const Matrix &A = F.matrix();
    const RowSpace &space = F.space();
    const Preconditioner::Action m = preconditioner->action();
    const int stores_r = conjugation == Conjugation::polak_ribiere ? 1 : 0;
    const int stores_z = std::holds_alternative<DiagonalView>(m) ? 0 : 1;
    Buffer<double> residual = space.make_vector(), initial_x = space.make_vector();
    WorkVectors work(A, 2 + stores_r + stores_z);
    const VectorSet<n_vectors> v{{solution.data(), residual.data(), work[0], work[1],
                                  stores_r != 0 ? work[2] : nullptr,
                                  stores_z != 0 ? work[2 + stores_r] : nullptr}};
    const LineSearchLoop line_searches =
        stores_r != 0 ? line_searches_for<Conjugation::polak_ribiere>(F, m, v)
                      : line_searches_for<Conjugation::fletcher_reeves>(F, m, v);

    Loop iteration(space);
    int trials = 0;
    const auto run = [&](const KrylovState &start) -> KrylovState {
      State state;
      static_cast<KrylovState &>(state) = start;
      initial_x.copy_from(solution);
      const ResidualState at_start = nonlinear_residual<Backend>(F, solution, residual);
      state.begin(at_start.rr, at_start.bb);
      if (!state.running)
        return state;
      state.sigma = sigma;
      iteration.set_state(state);
      work.fill_zero();
      line_searches.run(iteration, watch_for<State>(control));
      state = iteration.get_state();
      trials += state.total_trials;
      state.true_rr = nonlinear_residual<Backend>(F, solution, residual).rr;
      return state;
    };
    SolveReport report =
        report_of_method(A, *preconditioner, "nlcg", line_searches.cost, solution.bytes());
    report = solve_to_true_residual<State>(iteration, A, control, std::move(report), run,
                                           [&] { solution.copy_from(initial_x); });
    report.inner.line_search_steps = trials;
    report.method.norm = nonlinear_norm(control);
    describe(report, F.residual_name);
    return report;
  }

private:
  using Loop = Iteration<Backend, State, Sums>;

  /// The loop over all line searches, and the cost of one line search.
  struct LineSearchLoop
  {
    IterationCost cost;
    std::function<void(Loop &, const Watch<State> &)> run;
  };

  template <Conjugation conjugation>
  static LineSearchLoop line_searches_for(const SemilinearEquation &F,
                                          const Preconditioner::Action &m,
                                          const VectorSet<n_vectors> &v)
  {
    return F.visit_row([&](const auto &row) {
      return std::visit(
          [&](const auto &m_of_row) {
            return make_line_searches<conjugation>(F.matrix(), row, m_of_row, v);
          },
          m);
    });
  }

  /// Makes a LineSearchLoop. All arguments except @p v must outlive the result.
  template <Conjugation conjugation, class Row, class M>
  static LineSearchLoop make_line_searches(const Matrix &A, const Row &row, const M &m,
                                           const VectorSet<n_vectors> &v)
  {
    constexpr bool is_fused = linalg::is_fused<M>;
    using Steps = StepsOf<Nlcg, is_fused, Nlcg::Loop<Row, conjugation>>;
    const StepMaker<M, n_vectors, Row> steps{A, m, v, row};
    return {cost_of<Steps>(is_fused), [steps](Loop &iteration, const Watch<State> &watch) {
              steps.repeat(iteration, watch, Steps());
            }};
  }

  Conjugation conjugation;
  double sigma;
  std::unique_ptr<Preconditioner> preconditioner;
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
