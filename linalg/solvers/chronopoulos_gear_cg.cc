#include "linalg/solvers/registry.h"
#include "linalg/solvers/short_recurrence.h"

namespace femgpu::linalg
{
namespace chronopoulos_gear
{
namespace
{
enum Vector : int
{
  x,
  r,
  p,
  s, ///< A p
  u, ///< M⁻¹r
  w, ///< A u
  n_vectors
};

struct State : KrylovState
{
  static constexpr int n_epilogue_values = n_energy;
  double alpha = 0., beta = 0., gamma = 0.; ///< values of the last iteration
};

struct Sums
{
  double gamma, rr, delta;
};

/// Computes p = u + β p, s = w + β s, x += α p and r −= α s.
struct UpdateVectors : RowFormula
{
  using Reads = VectorList<x, r, p, s, w>;
  using Images = ImageList<Image<u, r>>;
  using Writes = VectorList<x, r, p, s>;
  using Contributes = SumList<&Sums::rr>;
  FEMGPU_HD
  void operator()(const State &state, Row<n_vectors> &v, Sums &sum) const
  {
    v[p] = v[u] + state.beta * v[p];
    v[s] = v[w] + state.beta * v[s];
    v[x] += state.alpha * v[p];
    v[r] -= state.alpha * v[s];
    sum.rr += v[r] * v[r];
  }
};

/// Computes u = M⁻¹r and γ = (r, u).
struct ApplyPreconditioner : PreconditionerTimes<r, u>
{
  using Reads = VectorList<r>;
  using Contributes = SumList<&Sums::gamma>;
  FEMGPU_HD
  void operator()(const State & /* state */, Row<n_vectors> &v, Sums &sum) const
  {
    sum.gamma += v[r] * v[u];
  }
};

/// Computes w = A u, δ = (w, u), β = γ/γ₋ and α = γ / (δ − β γ/α₋), where γ₋ and α₋ are from the
/// previous iteration.
struct ApplyMatrix : MatrixTimes<u, w>
{
  using Reads = VectorList<u>;
  using Contributes = SumList<&Sums::delta>;
  FEMGPU_HD
  void operator()(const State & /* state */, Row<n_vectors> &v, Sums &sum) const
  {
    sum.delta += v[w] * v[u];
  }

  using Completes = SumList<&Sums::gamma, &Sums::rr, &Sums::delta>;
  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    const bool is_first = state.gamma == 0.;
    const double beta = is_first ? 0. : sum.gamma / state.gamma;
    const double pAp = is_first ? sum.delta : sum.delta - beta * sum.gamma / state.alpha;
    state.check_spd(sum.rr, sum.gamma, pAp);
    if (!state.running)
      return;
    state.alpha = sum.gamma / pAp;
    state.beta = beta;
    state.gamma = sum.gamma;
    state.count_update(state.alpha * sum.gamma);
  }
};

/**
 * Preconditioned conjugate gradients of Chronopoulos and Gear (1989; Dehnavi 2012, chapter 4): both
 * dot products share one synchronisation point, for any M.
 *
 * Use: with non-diagonal preconditioners. Needs: A and M symmetric positive definite. Cost per
 * iteration: 2 kernels and one synchronisation point; reads or writes A and M once and 12 vectors;
 * if M is not diagonal, 3 kernels and 14 vectors. Fails: as classical CG. Because s = A p follows
 * from a recurrence, the residual of the recurrence drifts from the true one earlier than in the
 * other forms; the true residual decides, and restarts are counted.
 */
struct ChronopoulosGear
{
  using State = chronopoulos_gear::State;
  using Sums = chronopoulos_gear::Sums;
  static constexpr int n_fused = chronopoulos_gear::n_vectors,
                       n_vectors = chronopoulos_gear::n_vectors;
  static constexpr const char *name = "chronopoulos-gear-cg";
  static constexpr bool needs_symmetry = true;
  static constexpr int iterations = 1;
  using First = StepList<>;
  // α = β = 0 initially: the first pass computes u = M⁻¹r and leaves x and r unchanged. Its p and s
  // are discarded by the second pass, in which β is still 0.
  using Loop = StepList<UpdateVectors, ApplyPreconditioner, ApplyMatrix>;
};
} // namespace
} // namespace chronopoulos_gear

template <>
std::unique_ptr<Solver> make_on<class ChronopoulosGearCgSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<ShortRecurrence<ThisBackend, chronopoulos_gear::ChronopoulosGear>>();
}
} // namespace femgpu::linalg
