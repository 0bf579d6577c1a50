#ifndef femgpu_linalg_solvers_bicgstab_h
#define femgpu_linalg_solvers_bicgstab_h

#include "linalg/base/hash.h"
#include "linalg/solvers/short_recurrence.h"

/**
 * @file
 * Shared parts of the forms of BiCGStab.
 */
namespace femgpu::linalg::bicgstab
{
/// Lower limit for the cosine of the angle between r and the shadow residual r*; below it, the
/// cosine is only rounding error. Converging runs occasionally come close to this limit.
constexpr double smallest_cosine = 1e-16;
/// harmful_cosine replaces smallest_cosine once the residual has grown by the factor harmful_growth
/// since the start. At this cosine, (r, r*) has lost half of its digits, and a run whose residual
/// has grown so much would lose the other half.
constexpr double harmful_cosine = 1e-8, harmful_growth = 100.;

struct State : KrylovState
{
  double alpha = 0., beta = 0., omega = 0.;
  double rho = 0.;       ///< (r, r*)
  double qr = 0.;        ///< (q, r*)
  double shadow_rr = 0.; ///< (r*, r*)
  bool is_first = true;  ///< x has not been updated since r* was chosen

  /// A run diverges if its residual grows by this factor. Growth by many powers of ten before
  /// convergence is normal; it costs as many digits of x, which a restart from the best x recovers
  /// unless all digits are lost.
  static constexpr double divergence_factor = 1e14;
  /// A run without progress may be repeated with another r*.
  static constexpr bool supports_variants = true;

  /// Checks the residual with check(). Stops with a breakdown if (r, r*), which is @p new_rho,
  /// vanishes up to rounding, or if ω = 0.
  FEMGPU_HD
  void check_bicgstab(const double new_rr, const double new_rho)
  {
    check(new_rr);
    if (!running)
      return;
    if (!is_finite(new_rho))
      stop(Outcome::not_finite);
    else if (fabs(new_rho) <= min_cosine(new_rr) * sqrt(new_rr) * sqrt(shadow_rr) ||
             (!is_first && omega == 0.))
      stop(Outcome::breakdown);
  }

  FEMGPU_HD
  double min_cosine(const double new_rr) const
  {
    return new_rr > harmful_growth * harmful_growth * start_rr ? harmful_cosine : smallest_cosine;
  }

  /// Sets α = ρ / (q, r*), where (q, r*) is @p new_qr.
  FEMGPU_HD
  void set_alpha(const double new_qr)
  {
    qr = new_qr;
    alpha = rho / qr;
    if (!is_finite(qr))
      stop(Outcome::not_finite);
    else if (!is_finite(alpha))
      stop(Outcome::breakdown);
  }

  /// Sets ω = (t, s) / (t, t), and counts the update of x that follows.
  FEMGPU_HD
  void set_omega(const double ts, const double tt)
  {
    omega = tt == 0. ? 0. : ts / tt; // t = 0: s = 0, or A is singular
    is_first = false;
    ++iteration;
  }
};

struct Sums
{
  double rr, rho, qr, ts, tt, tr;
};

/// The vectors of the method; r also stores s = r − α q.
enum Vector : int
{
  x,
  r,
  shadow, ///< r*, the shadow residual
  p,
  p_hat, ///< M⁻¹p
  q,     ///< A p̂
  s_hat, ///< M⁻¹s
  t,     ///< A ŝ
  n_vectors
};

/// Sets r* to r or, after failed runs, to pseudo-random numbers in [-1, 1), which differ in each
/// run.
struct ChooseShadow : RowFormula
{
  using Reads = VectorList<r>;
  using Writes = VectorList<shadow>;
  using Contributes = SumList<&Sums::rr>;
  FEMGPU_HD
  void operator()(const State &state, Row<n_vectors> &v, Sums &sum) const
  {
    const auto seed = static_cast<unsigned int>(state.failed_runs);
    const auto number = static_cast<unsigned int>(v.number);
    v[shadow] = seed == 0 ? v[r] : 0x1p-31 * hash_of(number ^ hash_of(seed)) - 1.;
    sum.rr += v[shadow] * v[shadow];
  }

  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.shadow_rr = sum.rr;
  }
};

/// Computes q = A p̂ and (q, r*).
struct ApplyToDirection : MatrixTimes<p_hat, q>
{
  using Reads = VectorList<shadow>;
  using Contributes = SumList<&Sums::qr>;
  FEMGPU_HD
  void operator()(const State & /* state */, Row<n_vectors> &v, Sums &sum) const
  {
    sum.qr += v[q] * v[shadow];
  }
};

/// Computes s = r − α q, which replaces r.
struct HalfStep : RowFormula
{
  using Reads = VectorList<r, q>;
  using Writes = VectorList<r>;
  FEMGPU_HD
  void operator()(const State &state, Row<n_vectors> &v, Sums & /* sum */) const
  {
    v[r] -= state.alpha * v[q];
  }
};

/**
 * The common part of all forms of BiCGStab; a form adds its name and its loop. The loop begins with
 * the update of x. Initially α = β = ω = 0, so that the first pass only sets p = r.
 */
struct Form
{
  using State = bicgstab::State;
  using Sums = bicgstab::Sums;
  static constexpr int n_fused = bicgstab::n_vectors, n_vectors = bicgstab::n_vectors;
  static constexpr bool needs_symmetry = false;
  static constexpr int iterations = 1;
  using First = StepList<ChooseShadow>;
};
} // namespace femgpu::linalg::bicgstab

#endif
