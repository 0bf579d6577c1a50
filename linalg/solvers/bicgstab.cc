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
  using Reads = VectorList<x, r, shadow, p_hat, s_hat, t>;
  using Writes = VectorList<x, r>;
  using Contributes = SumList<&Sums::rr, &Sums::rho>;
  FEMGPU_HD
  void operator()(const State &state, Row<n_vectors> &v, const double /* m_i */, Sums &sum) const
  {
    v[x] += state.alpha * v[p_hat] + state.omega * v[s_hat];
    v[r] -= state.omega * v[t];
    sum.rr += v[r] * v[r];
    sum.rho += v[r] * v[shadow];
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
template <bool fused>
struct UpdateDirection
{
  using Reads = VectorList<r, p, q>;
  using Writes = WithHat<fused, p_hat, p>;
  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const State &state, Row<n_vectors> &v, const double m_i, Sums & /* sum */) const
  {
    v[p] = v[r] + state.beta * (v[p] - state.omega * v[q]);
    if constexpr (fused)
      v[p_hat] = m_i * v[p];
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
  static constexpr int factor = s_hat;
  using Reads = VectorList<r>;
  using Writes = VectorList<t>;
  using Contributes = SumList<&Sums::ts, &Sums::tt>;
  FEMGPU_HD
  void operator()(const State & /* state */, Row<n_vectors> &v, const double t_i,
                  const double /* m_i */, Sums &sum) const
  {
    v[t] = t_i;
    sum.ts += t_i * v[r];
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
  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &solution, const SolveControl &control) const override
  {
    const auto repeat = [&](auto &iteration, const auto &m, const VectorSet<n_vectors> &v) {
      constexpr bool fused = is_fused<decltype(m)>;
      const auto diagonal = fused_diagonal(m);
      const auto watch = watch_for<State>(control);
      const auto update = rows(A.n(), v, diagonal, UpdateSolution());
      const auto direction = rows(A.n(), v, diagonal, UpdateDirection<fused>());
      const auto apply_A_to_p = product(A, v, diagonal, ProjectDirection());
      const auto half_step = rows(A.n(), v, diagonal, HalfStep<fused>());
      const auto apply_A_to_s = product(A, v, diagonal, ApplyToHalfStep());
      if constexpr (fused)
        iteration.repeat(watch, update, direction, apply_A_to_p, half_step, apply_A_to_s);
      else
        iteration.repeat(watch, update, direction,
                         product(*m, v.data[p], ApplyPreconditioner{v.data[p_hat]}), apply_A_to_p,
                         half_step, product(*m, v.data[r], ApplyPreconditioner{v.data[s_hat]}),
                         apply_A_to_s);
    };
    return solve_bicgstab<Backend>("bicgstab", A, M, b, solution, control, repeat);
  }

  std::shared_ptr<const BatchMethod> batch() const override
  {
    return batch_of<Backend, UpdateSolution, UpdateDirection<true>, ProjectDirection,
                    HalfStep<true>, ApplyToHalfStep>();
  }
};
} // namespace
} // namespace bicgstab

template <>
std::unique_ptr<Solver> make_on<class BicgstabSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<bicgstab::BiCGStab<ThisBackend>>();
}
} // namespace femgpu::linalg
