#include "linalg/solvers/bicgstab.h"
#include "linalg/solvers/registry.h"

namespace femgpu::linalg
{
namespace bicgstab
{
namespace
{
/// Computes x += α p̂ + ω ŝ, r = s − ω t, p = r + β (p − ω q) and ρ = (r, r*).
struct UpdateVectors : RowFormula
{
  using Reads = VectorList<x, r, shadow, p, q, t>;
  using Images = ImageList<Image<p_hat, p>, Image<s_hat, r>>;
  using Writes = VectorList<x, r, p>;
  using Contributes = SumList<&Sums::rr, &Sums::rho>;
  FEMGPU_HD
  void operator()(const State &state, Row<n_vectors> &v, Sums &sum) const
  {
    v[x] += state.alpha * v[p_hat] + state.omega * v[s_hat];
    v[r] -= state.omega * v[t];
    v[p] = v[r] + state.beta * (v[p] - state.omega * v[q]);
    sum.rr += v[r] * v[r];
    sum.rho += v[r] * v[shadow];
  }
};

/// Checks r, and computes q = A p̂ and α = ρ / (q, r*).
struct CheckAndProject : ApplyToDirection
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

/// Computes t = A ŝ, ω = (t, s) / (t, t) and β = −(t, r*) / (q, r*).
struct ApplyAndSetBeta : MatrixTimes<s_hat, t>
{
  using Reads = VectorList<r, shadow>;
  using Contributes = SumList<&Sums::ts, &Sums::tt, &Sums::tr>;
  FEMGPU_HD
  void operator()(const State & /* state */, Row<n_vectors> &v, Sums &sum) const
  {
    sum.ts += v[t] * v[r];
    sum.tt += v[t] * v[t];
    sum.tr += v[t] * v[shadow];
  }

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
 * Use: the first choice for unsymmetric systems. Needs: no properties of A or M. Cost per
 * iteration: 4 kernels and two synchronisation points; reads or writes A twice, M twice and 21
 * vectors; if M is not diagonal, 6 kernels and 25 vectors. Fails: as the classical form.
 */
struct Pipelined : Form
{
  static constexpr const char *name = "pipelined-bicgstab";
  using Loop = StepList<UpdateVectors, PreconditionerTimes<p, p_hat>, CheckAndProject, //
                        HalfStep, PreconditionerTimes<r, s_hat>, ApplyAndSetBeta>;
};
} // namespace
} // namespace bicgstab

template <>
std::unique_ptr<Solver> make_on<class PipelinedBicgstabSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<ShortRecurrence<ThisBackend, bicgstab::Pipelined>>();
}
} // namespace femgpu::linalg
