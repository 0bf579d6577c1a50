#include "linalg/solvers/bicgstab.h"
#include "linalg/solvers/registry.h"

namespace femgpu::linalg
{
namespace bicgstab
{
namespace
{
/// Computes x += α p̂ + ω ŝ, r = s − ω t, the new ρ' = (r, r*), and β = (ρ'/ρ)(α/ω).
struct UpdateSolution : RowFormula
{
  using Reads = VectorList<x, r, shadow, t>;
  using Images = ImageList<Image<p_hat, p>, Image<s_hat, r>>;
  using Writes = VectorList<x, r>;
  using Contributes = SumList<&Sums::rr, &Sums::rho>;
  FEMGPU_HD
  void operator()(const State &state, Row<n_vectors> &v, Sums &sum) const
  {
    v[x] += state.alpha * v[p_hat] + state.omega * v[s_hat];
    v[r] -= state.omega * v[t];
    sum.rr += v[r] * v[r];
    sum.rho += v[r] * v[shadow];
  }

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

/// Computes p = r + β (p − ω q).
struct UpdateDirection : RowFormula
{
  using Reads = VectorList<r, p, q>;
  using Writes = VectorList<p>;
  FEMGPU_HD
  void operator()(const State &state, Row<n_vectors> &v, Sums & /* sum */) const
  {
    v[p] = v[r] + state.beta * (v[p] - state.omega * v[q]);
  }
};

/// Computes q = A p̂ and α = ρ / (q, r*).
struct ProjectDirection : ApplyToDirection
{
  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.set_alpha(sum.qr);
  }
};

/// Computes t = A ŝ and ω = (t, s) / (t, t).
struct ApplyToHalfStep : MatrixTimes<s_hat, t>
{
  using Reads = VectorList<r>;
  using Contributes = SumList<&Sums::ts, &Sums::tt>;
  FEMGPU_HD
  void operator()(const State & /* state */, Row<n_vectors> &v, Sums &sum) const
  {
    sum.ts += v[t] * v[r];
    sum.tt += v[t] * v[t];
  }

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
 * Use: unsymmetric systems; the reference for the pipelined form. Needs: no properties of A or M.
 * Cost per iteration: 5 kernels, 3 of them with a reduction, which read or write A twice, M three
 * times and 22 vectors; if M is not diagonal, 7 kernels and 25 vectors. Fails: breakdown if (r, r*)
 * or (q, r*) vanishes up to rounding. It then restarts with another r*, and reports repeated
 * breakdowns without progress.
 */
struct Classical : Form
{
  static constexpr const char *name = "bicgstab";
  using Loop = StepList<UpdateSolution, UpdateDirection, PreconditionerTimes<p, p_hat>,
                        ProjectDirection, HalfStep, PreconditionerTimes<r, s_hat>, ApplyToHalfStep>;
};
} // namespace
} // namespace bicgstab

template <>
std::unique_ptr<Solver> make_on<class BicgstabSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<ShortRecurrence<ThisBackend, bicgstab::Classical>>();
}
} // namespace femgpu::linalg
