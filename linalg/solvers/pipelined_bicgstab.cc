#include "linalg/solvers/bicgstab.h"
#include "linalg/solvers/registry.h"

namespace femgpu::linalg
{
namespace bicgstab
{
namespace
{
/// x += α p̂ + ω ŝ;  r = s − ω t;  p = r + β (p − ω q);  p̂ = M⁻¹p;  ρ = (r, r*)
template <bool fused>
struct UpdateVectors
{
  using Reads = VectorList<x, r, shadow, p, p_hat, q, s_hat, t>;
  using Writes = WithHat<fused, p_hat, x, r, p>;
  using Contributes = SumList<&Sums::rr, &Sums::rho>;
  FEMGPU_HD
  void operator()(const State &state, Row<n_vectors> &v, const double m_i, Sums &sum) const
  {
    v[x] += state.alpha * v[p_hat] + state.omega * v[s_hat];
    v[r] -= state.omega * v[t];
    v[p] = v[r] + state.beta * (v[p] - state.omega * v[q]);
    if constexpr (fused)
      v[p_hat] = m_i * v[p];
    sum.rr += v[r] * v[r];
    sum.rho += v[r] * v[shadow];
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
  static constexpr int factor = s_hat;
  using Reads = VectorList<r, shadow>;
  using Writes = VectorList<t>;
  using Contributes = SumList<&Sums::ts, &Sums::tt, &Sums::tr>;
  FEMGPU_HD
  void operator()(const State & /* state */, Row<n_vectors> &v, const double t_i,
                  const double /* m_i */, Sums &sum) const
  {
    v[t] = t_i;
    sum.ts += t_i * v[r];
    sum.tt += t_i * t_i;
    sum.tr += t_i * v[shadow];
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
  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &solution, const SolveControl &control) const override
  {
    const auto repeat = [&](auto &iteration, const auto &m, const VectorSet<n_vectors> &v) {
      constexpr bool fused = is_fused<decltype(m)>;
      const auto diagonal = fused_diagonal(m);
      const auto watch = watch_for<State>(control);
      const auto update = rows(A.n(), v, diagonal, UpdateVectors<fused>());
      const auto apply_A_to_p = product(A, v, diagonal, ProjectDirection());
      const auto half_step = rows(A.n(), v, diagonal, HalfStep<fused>());
      const auto apply_A_to_s = product(A, v, diagonal, ApplyToHalfStep());
      if constexpr (fused)
        iteration.repeat(watch, update, apply_A_to_p, half_step, apply_A_to_s);
      else
        iteration.repeat(watch, update, product(*m, v.data[p], ApplyPreconditioner{v.data[p_hat]}),
                         apply_A_to_p, half_step,
                         product(*m, v.data[r], ApplyPreconditioner{v.data[s_hat]}), apply_A_to_s);
    };
    return solve_bicgstab<Backend>("pipelined-bicgstab", A, M, b, solution, control, repeat);
  }

  std::shared_ptr<const BatchMethod> batch() const override
  {
    return batch_of<Backend, UpdateVectors<true>, ProjectDirection, HalfStep<true>,
                    ApplyToHalfStep>();
  }
};
} // namespace
} // namespace bicgstab

template <>
std::unique_ptr<Solver> make_on<class PipelinedBicgstabSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<bicgstab::PipelinedBiCGStab<ThisBackend>>();
}
} // namespace femgpu::linalg
