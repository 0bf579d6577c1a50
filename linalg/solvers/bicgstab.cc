#include "linalg/solvers/bicgstab.h"
#include "linalg/solvers/registry.h"

namespace femgpu::linalg
{
namespace bicgstab
{
namespace
{
/// x += α p̂ + ω ŝ;  r = s − ω t;  ρ' = (r, r*);  β = (ρ'/ρ)(α/ω)
struct UpdateSolution
{
  double *x, *r;
  const double *p_hat, *s_hat, *t, *shadow;

  using Contributes = SumList<&Sums::rr, &Sums::rho>;
  FEMGPU_HD
  void operator()(const State &state, const int i, Sums &sum) const
  {
    x[i] += state.alpha * p_hat[i] + state.omega * s_hat[i];
    const double r_i = r[i] - state.omega * t[i];
    r[i] = r_i;
    sum.rr += r_i * r_i;
    sum.rho += r_i * shadow[i];
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.check_bicgstab(sum.rr, sum.rho);
    if (!state.running)
      return;
    state.beta = state.is_first ? 0. : sum.rho / state.rho * (state.alpha / state.omega);
    state.rho = sum.rho;
  }
};

/// p = r + β (p − ω q);  p̂ = M⁻¹p
template <class M>
struct UpdateDirection
{
  double *p, *p_hat;
  const double *r, *q;
  M m;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const State &state, const int i, Sums & /* sum */) const
  {
    const double p_i = r[i] + state.beta * (p[i] - state.omega * q[i]);
    p[i] = p_i;
    if constexpr (is_fused<M>)
      p_hat[i] = m(i) * p_i;
  }
};

/// q = A p̂;  α = ρ / (q, r*)
struct ProjectDirection : ApplyToDirection
{
  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.set_alpha(sum.qr);
  }
};

/// t = A ŝ;  ω = (t, s) / (t, t)
struct ApplyToHalfStep
{
  double *t;
  const double *s;

  using Contributes = SumList<&Sums::ts, &Sums::tt>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, const double t_i, Sums &sum) const
  {
    t[i] = t_i;
    sum.ts += t_i * s[i];
    sum.tt += t_i * t_i;
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.set_omega(sum.ts, sum.tt);
  }
};

/**
 * BiCGStab with right preconditioning (van der Vorst 1992; Dehnavi 2012, chapter 5), classical
 * form.
 *
 * Use: unsymmetric systems; the reference for the pipelined form. Needs: nothing of A or M. Cost
 * per iteration: 5 kernels, 3 of them with a reduction; A twice, 23 vectors and M twice are read or
 * written; where M is no row functor 7 kernels and 25 vectors. Fails: breakdown, where (r, r*) or
 * (q, r*) is zero up to rounding; then it starts again with r* = r, and reports it if that breaks
 * down at once, or again and again without progress.
 */
template <class Backend>
class BiCGStab final : public Solver
{
public:
  bool needs_symmetry() const override
  {
    return false;
  }

  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &x, const SolveControl &control) const override
  {
    const auto repeat = [&](auto &iteration, const auto &m, Buffer<double> &r, Vectors &v) {
      using Inverse = std::decay_t<decltype(m)>;
      const int n = A.n();
      const auto watch = watch_for<State>(control);
      const auto update = rows(n, UpdateSolution{x.data(), r.data(), v.p_hat.data(), v.s_hat.data(),
                                                 v.t.data(), v.shadow.data()});
      const auto direction =
          rows(n, UpdateDirection<Inverse>{v.p.data(), v.p_hat.data(), r.data(), v.q.data(), m});
      const auto apply_A_to_p =
          product(A, v.p_hat.data(), ProjectDirection{{v.q.data(), v.shadow.data()}});
      const auto half_step = rows(n, HalfStep<Inverse>{r.data(), v.s_hat.data(), v.q.data(), m});
      const auto apply_A_to_s = product(A, v.s_hat.data(), ApplyToHalfStep{v.t.data(), r.data()});
      if constexpr (is_fused<Inverse>)
        iteration.repeat(watch, update, direction, apply_A_to_p, half_step, apply_A_to_s);
      else
        iteration.repeat(watch, update, direction,
                         product(*m, v.p.data(), ApplyPreconditioner{v.p_hat.data()}), apply_A_to_p,
                         half_step, product(*m, r.data(), ApplyPreconditioner{v.s_hat.data()}),
                         apply_A_to_s);
    };
    return solve_bicgstab<Backend>("bicgstab", A, M, b, x, control, repeat);
  }
};
} // namespace
} // namespace bicgstab

template <class Backend>
std::unique_ptr<Solver> make_bicgstab()
{
  return std::make_unique<bicgstab::BiCGStab<Backend>>();
}

template std::unique_ptr<Solver> make_bicgstab<ThisBackend>();
} // namespace femgpu::linalg
