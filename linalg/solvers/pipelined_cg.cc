#include "linalg/solvers/registry.h"
#include "linalg/solvers/short_recurrence.h"

namespace femgpu::linalg
{
namespace pipelined_cg
{
namespace
{
enum Vector : int
{
  x,
  r,
  p,
  q, ///< A p
  n_fused,
  z = n_fused, ///< M⁻¹r
  s,           ///< M⁻¹q
  n_vectors
};

struct Sums
{
  double gamma, rr, pq, qs;
};

struct State : KrylovState
{
  static constexpr int n_epilogue_values = n_energy;
  double alpha = 0., beta = 0.;
};

/// Computes z = M⁻¹r before the loop, in which a recurrence updates z.
using Begin = PreconditionerTimes<r, z>;

/// Computes x += α p, r −= α q, z −= α s, p = z + β p and γ = (r, z).
struct UpdateVectors : RowFormula
{
  using Reads = VectorList<x, r, p, q>;
  using Images = ImageList<Image<z, r>, Image<s, q>>;
  using Writes = VectorList<x, r, z, p>;
  using Contributes = SumList<&Sums::gamma, &Sums::rr>;
  template <class Row>
  FEMGPU_HD
  void operator()(const State &state, Row &v, Sums &sum) const
  {
    v[x] += state.alpha * v[p];
    v[r] -= state.alpha * v[q];
    v[z] = v.image(r, v[z] - state.alpha * v[s]);
    v[p] = v[z] + state.beta * v[p];
    sum.gamma += v[r] * v[z];
    sum.rr += v[r] * v[r];
  }
};

/// Computes q = A p and (p, q).
struct ApplyMatrix : MatrixTimes<p, q>
{
  using Reads = VectorList<p>;
  using Contributes = SumList<&Sums::pq>;
  FEMGPU_HD
  void operator()(const State & /* state */, Row<n_vectors> &v, Sums &sum) const
  {
    sum.pq += v[p] * v[q];
  }
};

/// Computes s = M⁻¹q, α = γ / (p, q) and β = α² (q, s) / γ − 1.
struct ApplyPreconditioner : PreconditionerTimes<q, s>
{
  using Reads = VectorList<q>;
  using Contributes = SumList<&Sums::qs>;
  FEMGPU_HD
  void operator()(const State & /* state */, Row<n_vectors> &v, Sums &sum) const
  {
    sum.qs += v[q] * v[s];
  }

  using Completes = SumList<&Sums::gamma, &Sums::rr, &Sums::pq, &Sums::qs>;
  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    const double inverse_pq = reciprocal(sum.pq); // α/γ; the slowest operation, so it begins first
    state.check_spd(sum.rr, sum.gamma, sum.pq);
    state.alpha = sum.gamma * inverse_pq;
    // γ'/γ > 0, but its formula may round to a negative number if γ' is tiny.
    const double beta = state.alpha * (sum.qs * inverse_pq) - 1.;
    state.beta = beta > 0. ? beta : 0.;
    state.count_update(state.alpha * sum.gamma);
  }
};

/**
 * Preconditioned conjugate gradients in the pipelined form with two kernels (Rupp et al. 2016,
 * Algorithm 2, in the inner product of M⁻¹: because (z, q) = (p, q) = γ/α, the next γ follows from
 * (q, M⁻¹q)).
 *
 * Use: the default for symmetric positive definite systems. Needs: A and M symmetric positive
 * definite. Cost per iteration: 2 kernels and one synchronisation point; reads or writes A once, M
 * twice and 9 vectors. If M is not diagonal: 3 kernels, A and M once and 14 vectors; a recurrence
 * with s = M⁻¹q updates z = M⁻¹r. Fails: as classical CG. β is computed from a difference, so that
 * directions lose conjugacy slightly earlier; the true residual decides, and restarts are counted.
 */
struct PipelinedConjugateGradients
{
  using State = pipelined_cg::State;
  using Sums = pipelined_cg::Sums;
  static constexpr int n_fused = pipelined_cg::n_fused, n_vectors = pipelined_cg::n_vectors;
  static constexpr const char *name = "pipelined-cg";
  static constexpr bool needs_symmetry = true;
  static constexpr int iterations = 1;
  using First = StepList<Begin>;
  // α = β = 0 initially: the first pass sets p = z and changes nothing else
  using Loop = StepList<UpdateVectors, ApplyMatrix, ApplyPreconditioner>;
};
} // namespace
} // namespace pipelined_cg

template <>
std::unique_ptr<Solver> make_on<class PipelinedCgSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<
      ShortRecurrence<ThisBackend, pipelined_cg::PipelinedConjugateGradients>>();
}
} // namespace femgpu::linalg
