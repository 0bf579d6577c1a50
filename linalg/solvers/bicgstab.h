#ifndef femgpu_linalg_solvers_bicgstab_h
#define femgpu_linalg_solvers_bicgstab_h

#include "linalg/solvers/krylov.h"

/**
 * @file
 * What the forms of BiCGStab share.
 */
namespace femgpu::linalg::bicgstab
{
/// (r, r*) of this share of |r| |r*| is rounding error.
constexpr double smallest_cosine = 1e-16;

struct State : KrylovState
{
  double alpha = 0., beta = 0., omega = 0.;
  double rho = 0.;       ///< (r, r*)
  double qr = 0.;        ///< (q, r*)
  double shadow_rr = 0.; ///< (r*, r*)
  bool is_first = true;  ///< no update of x yet since r* was chosen

  /// Before it converges, the residual may grow by many powers of ten; what that costs in digits a
  /// restart brings back.
  static constexpr double divergence_factor = 1e14;

  /// check() of the residual, and whether (r, r*) = @p new_rho and ω let the method go on.
  FEMGPU_HD
  void check_bicgstab(const double new_rr, const double new_rho)
  {
    if (is_first)
      shadow_rr = new_rr;
    check(new_rr);
    if (!running)
      return;
    if (!is_finite(new_rho))
      stop(Outcome::not_finite);
    else if (fabs(new_rho) <= smallest_cosine * sqrt(new_rr) * sqrt(shadow_rr) ||
             (!is_first && omega == 0.))
      stop(Outcome::breakdown);
  }

  /// α = ρ / (q, r*)
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

  /// ω = (t, s) / (t, t); from now on x will be updated.
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

/// r* = r
struct ChooseShadow
{
  const double *r;
  double *shadow;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, Sums & /* sum */) const
  {
    shadow[i] = r[i];
  }
};

/// q = A p̂, with (q, r*)
struct ApplyToDirection
{
  double *q;
  const double *shadow;

  using Contributes = SumList<&Sums::qr>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, const double q_i, Sums &sum) const
  {
    q[i] = q_i;
    sum.qr += q_i * shadow[i];
  }
};

/// s = r - α q in the place of r;  ŝ = M⁻¹s
template <class M>
struct HalfStep
{
  double *r, *s_hat;
  const double *q;
  M m;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const State &state, const int i, Sums & /* sum */) const
  {
    const double s_i = r[i] - state.alpha * q[i];
    r[i] = s_i;
    if constexpr (is_fused<M>)
      s_hat[i] = m(i) * s_i;
  }
};

/// p̂ = M⁻¹p, or ŝ = M⁻¹s, where M is no row functor
struct ApplyPreconditioner
{
  double *v_hat;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, const double v_i, Sums & /* sum */) const
  {
    v_hat[i] = v_i;
  }
};

/// The vectors of BiCGStab besides x and r, of n elements each.
struct Vectors
{
  Vectors(const ExecutorPtr &executor, const std::size_t n)
      : shadow(executor, n), p(executor, n), p_hat(executor, n), q(executor, n), s_hat(executor, n),
        t(executor, n)
  {}

  Buffer<double> shadow, p, p_hat, q, s_hat, t;
};

/**
 * Solves A x = b by the form of BiCGStab whose loop is @p repeat(iteration, m, r, vectors). It
 * begins with the update of x: α = β = ω = 0 at first, so that the first pass makes p = r only.
 */
template <class Backend, class Repeat>
SolveReport solve_bicgstab(const std::string &solver, const Matrix &A, const Preconditioner &M,
                           const Buffer<double> &b, Buffer<double> &x, const SolveControl &control,
                           const Repeat &repeat)
{
  Vectors v(A.executor(), static_cast<std::size_t>(A.n()));
  const auto iterate = [&](auto &iteration, const auto &m, Buffer<double> &r) {
    fill_zero({&v.p, &v.p_hat, &v.q, &v.s_hat, &v.t});
    iteration.once(rows(A.n(), ChooseShadow{r.data(), v.shadow.data()}));
    repeat(iteration, m, r, v);
  };
  return solve_with_steps<Backend, State, Sums>(solver, A, M, b, x, control,
                                                {{2, 23, 2}, {2, 25, 2}}, iterate);
}
} // namespace femgpu::linalg::bicgstab

#endif
