#include "linalg/solvers/bicgstab.h"
#include "linalg/solvers/registry.h"

namespace femgpu::linalg
{
namespace bicgstab
{
namespace
{
/// x += α p̂ + ω ŝ;  r = s − ω t;  p = r + β (p − ω q);  p̂ = M⁻¹p;  ρ = (r, r*)
template <class M>
struct UpdateVectors
{
  double *x, *r, *p, *p_hat;
  const double *q, *s_hat, *t, *shadow;
  M m;

  using Contributes = SumList<&Sums::rr, &Sums::rho>;
  FEMGPU_HD
  void operator()(const State &state, const int i, Sums &sum) const
  {
    x[i] += state.alpha * p_hat[i] + state.omega * s_hat[i];
    const double r_i = r[i] - state.omega * t[i];
    r[i] = r_i;
    const double p_i = r_i + state.beta * (p[i] - state.omega * q[i]);
    p[i] = p_i;
    if constexpr (is_fused<M>)
      p_hat[i] = m(i) * p_i;
    sum.rr += r_i * r_i;
    sum.rho += r_i * shadow[i];
  }
};

/// q = A p̂;  α = ρ / (q, r*)
struct ProjectDirection : ApplyToDirection
{
  using Completes = SumList<&Sums::rr, &Sums::rho, &Sums::qr>;
  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.check_bicgstab(sum.rr, sum.rho);
    if (!state.running)
      return;
    state.rho = sum.rho;
    state.set_alpha(sum.qr);
  }
};

/// t = A ŝ;  ω = (t, s) / (t, t);  β = −(t, r*) / (q, r*)
struct ApplyToHalfStep
{
  double *t;
  const double *s, *shadow;

  using Contributes = SumList<&Sums::ts, &Sums::tt, &Sums::tr>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, const double t_i, Sums &sum) const
  {
    t[i] = t_i;
    sum.ts += t_i * s[i];
    sum.tt += t_i * t_i;
    sum.tr += t_i * shadow[i];
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.set_omega(sum.ts, sum.tt);
    state.beta = -sum.tr / state.qr;
  }
};

/**
 * BiCGStab with right preconditioning in the pipelined form with four kernels (Rupp et al. 2016,
 * Algorithm 4; because (s, r*) = 0, the next (r, r*) is −ω (t, r*), and β = −(t, r*)/(q, r*)).
 *
 * Use: the first choice for unsymmetric systems. Needs: nothing of A or M. Cost per
 * iteration: 4 kernels and two points of synchronisation; A twice, 23 vectors and M twice are read
 * or written; where M is no row functor 6 kernels and 25 vectors. Fails: as the classical form.
 */
template <class Backend>
class PipelinedBiCGStab final : public Solver
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
      const auto update =
          rows(n, UpdateVectors<Inverse>{x.data(), r.data(), v.p.data(), v.p_hat.data(), v.q.data(),
                                         v.s_hat.data(), v.t.data(), v.shadow.data(), m});
      const auto apply_A_to_p =
          product(A, v.p_hat.data(), ProjectDirection{{v.q.data(), v.shadow.data()}});
      const auto half_step = rows(n, HalfStep<Inverse>{r.data(), v.s_hat.data(), v.q.data(), m});
      const auto apply_A_to_s =
          product(A, v.s_hat.data(), ApplyToHalfStep{v.t.data(), r.data(), v.shadow.data()});
      if constexpr (is_fused<Inverse>)
        iteration.repeat(watch, update, apply_A_to_p, half_step, apply_A_to_s);
      else
        iteration.repeat(watch, update,
                         product(*m, v.p.data(), ApplyPreconditioner{v.p_hat.data()}), apply_A_to_p,
                         half_step, product(*m, r.data(), ApplyPreconditioner{v.s_hat.data()}),
                         apply_A_to_s);
    };
    return solve_bicgstab<Backend>("pipelined-bicgstab", A, M, b, x, control, repeat);
  }
};
} // namespace
} // namespace bicgstab

template <class Backend>
std::unique_ptr<Solver> make_pipelined_bicgstab()
{
  return std::make_unique<bicgstab::PipelinedBiCGStab<Backend>>();
}

template std::unique_ptr<Solver> make_pipelined_bicgstab<ThisBackend>();
} // namespace femgpu::linalg
