#ifndef femgpu_linalg_nonlinear_nlcg_steps_h
#define femgpu_linalg_nonlinear_nlcg_steps_h

#include "linalg/execution/steps/diagonal_view.h"
#include "linalg/solvers/krylov.h"

/**
 * @file
 * State and steps of nonlinear conjugate gradients. A row of r(x) is seen as nonlinear_operator.h
 * says.
 */
namespace femgpu::linalg::nlcg
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
  double pq = 0.;       ///< (p, L p)
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

  /// A line begins, with curvature (p, J(x) p) at its first point.
  FEMGPU_HD
  void begin_line(const double curvature)
  {
    alpha = low = high = decrease = 0.;
    trials = 0;
    inner = false;
    rp = slope;
    // Newton's step, unless J is hardly convex there; the linear part alone gives a shorter one.
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

/// q = L p;  the first α along p. Keeps r for Polak and Ribière.
template <class Row>
struct ApplyMatrix
{
  Row row;
  const double *x, *r, *p;
  double *q;
  double *r_before; ///< nullptr: nobody needs it

  using Contributes = SumList<&Sums::pq, &Sums::curvature>;
  FEMGPU_HD
  void operator()(const State & /* s */, const int i, const double q_i, Sums &sum) const
  {
    q[i] = q_i;
    sum.pq += p[i] * q_i;
    sum.curvature += p[i] * (q_i - row.derivative(i, x[i]) * p[i]);
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

/// What the judgement of a trial point needs of its r: dJ/dα = −(r, p) and, for a diagonal M, β.
template <class M>
struct JudgeResidual
{
  const double *p, *r_before;
  M m; ///< for β at once; without a diagonal M another step does it

  FEMGPU_HD
  void add(const int i, const double r_i, Sums &sum) const
  {
    sum.rp += r_i * p[i];
    sum.rr += r_i * r_i;
    if constexpr (is_fused<M>) {
      const double z_i = m(i) * r_i;
      sum.rz += z_i * r_i;
      if (r_before != nullptr)
        sum.zr_before += z_i * r_before[i];
    }
  }

  /// @param decrease of J from where the line begins
  FEMGPU_HD
  void finish(State &s, const Sums &sum, const double decrease, const double curvature) const
  {
    s.decrease = decrease;
    s.alpha += s.delta;
    s.rp = sum.rp;
    s.rr = sum.rr;
    s.judge(curvature);
    if constexpr (is_fused<M>)
      if (s.running && !s.inner)
        s.turn(sum.rr, sum.rz, sum.zr_before);
  }
};

/**
 * A trial point, from the last one: x += δ p;  r += λ W (φ(x) − φ(x before)) − δ q, with what its
 * judgement needs: dJ/dα, d²J/dα² and
 * J before − J = δ (r before, p) − δ²/2 (p, q) + Σ ∫ (φ(x + t) − φ(x)) dt.
 */
template <class Row, class M>
struct Move
{
  Row row;
  double *x, *r;
  const double *q;
  JudgeResidual<M> judgement;

  using Contributes =
      SumList<&Sums::rp, &Sums::curvature, &Sums::rr, &Sums::rz, &Sums::zr_before, &Sums::excess>;
  FEMGPU_HD
  void operator()(const State &s, const int i, Sums &sum) const
  {
    const double p_i = judgement.p[i];
    const double d = s.delta * p_i;
    const double x_i = x[i] + d;
    const double r_i = r[i] - s.delta * q[i] + row.difference(i, x[i], d);
    sum.excess += row.excess(i, x[i], d);
    x[i] = x_i;
    r[i] = r_i;
    sum.curvature -= row.derivative(i, x_i) * p_i * p_i;
    judgement.add(i, r_i, sum);
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    const double decrease = s.delta * s.rp - 0.5 * s.delta * s.delta * s.pq + sum.excess;
    judgement.finish(s, sum, s.decrease + decrease, s.pq + sum.curvature);
  }
};

/// The same where r(x) is evaluated: x += δ p first,
struct MoveAlong
{
  double *x;
  const double *p;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const State &s, const int i, Sums & /* sum */) const
  {
    x[i] += s.delta * p[i];
  }
};

/// and then r = r(x), with d²J/dα² by the secant and the decrease of J by the trapezoidal rule.
template <class M>
struct TakeResidual
{
  double *r;
  JudgeResidual<M> judgement;

  using Contributes = SumList<&Sums::rp, &Sums::rr, &Sums::rz, &Sums::zr_before>;
  FEMGPU_HD
  void operator()(const State & /* s */, const int i, const double r_i, Sums &sum) const
  {
    r[i] = r_i;
    judgement.add(i, r_i, sum);
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    const double decrease = 0.5 * (s.alpha + s.delta) * (s.slope + sum.rp);
    judgement.finish(s, sum, decrease, (s.rp - sum.rp) / s.delta);
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
} // namespace femgpu::linalg::nlcg

#endif
