#include "linalg/solvers/registry.h"
#include "linalg/solvers/short_recurrence.h"

namespace femgpu::linalg
{
namespace cg
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
  n_vectors
};

struct State : KrylovState
{
  static constexpr int n_epilogue_values = n_energy;
  double alpha = 0., beta = 0., gamma = 0.;
};

struct Sums
{
  double pq, gamma, rr;
};

/// Computes p = z = M⁻¹r and γ = (r, z).
struct Begin : PreconditionerTimes<r, z>
{
  using Reads = VectorList<r>;
  using Writes = VectorList<p>;
  using Contributes = SumList<&Sums::gamma>;
  FEMGPU_HD
  void operator()(const State & /* s */, Row<n_vectors> &v, Sums &sum) const
  {
    v[p] = v[z];
    sum.gamma += v[r] * v[z];
  }

  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    s.gamma = sum.gamma;
  }
};

/// Computes q = A p and α = γ / (p, q).
struct ApplyMatrix : MatrixTimes<p, q>
{
  using Reads = VectorList<p>;
  using Contributes = SumList<&Sums::pq>;
  FEMGPU_HD
  void operator()(const State & /* s */, Row<n_vectors> &v, Sums &sum) const
  {
    sum.pq += v[p] * v[q];
  }

  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    s.check_spd(s.rr, s.gamma, sum.pq);
    if (!s.running)
      return;
    s.alpha = s.gamma / sum.pq;
    s.count_update(s.alpha * s.gamma);
  }
};

/// Computes x += α p and r −= α q.
struct UpdateSolution : RowFormula
{
  using Reads = VectorList<x, r, p, q>;
  using Writes = VectorList<x, r>;
  using Contributes = SumList<&Sums::rr>;
  FEMGPU_HD
  void operator()(const State &s, Row<n_vectors> &v, Sums &sum) const
  {
    v[x] += s.alpha * v[p];
    v[r] -= s.alpha * v[q];
    sum.rr += v[r] * v[r];
  }
};

/// Computes z = M⁻¹r, the new γ' = (r, z), and β = γ'/γ.
struct ApplyPreconditioner : PreconditionerTimes<r, z>
{
  using Reads = VectorList<r>;
  using Contributes = SumList<&Sums::gamma>;
  FEMGPU_HD
  void operator()(const State & /* s */, Row<n_vectors> &v, Sums &sum) const
  {
    sum.gamma += v[r] * v[z];
  }

  using Completes = SumList<&Sums::gamma, &Sums::rr>;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    s.beta = sum.gamma / s.gamma;
    s.gamma = sum.gamma;
    s.rr = sum.rr;
  }
};

/// Computes p = z + β p.
struct UpdateDirection : RowFormula
{
  using Reads = VectorList<p>;
  using Images = ImageList<Image<z, r>>;
  using Writes = VectorList<p>;
  FEMGPU_HD
  void operator()(const State &s, Row<n_vectors> &v, Sums & /* sum */) const
  {
    v[p] = v[z] + s.beta * v[p];
  }
};

/**
 * Preconditioned conjugate gradients in the classical form (Shewchuk 1994, B3; Rupp et al. 2016,
 * Algorithm 1).
 *
 * Use: as reference; rounding errors are slightly smaller than in the pipelined form. Needs: A and
 * M symmetric positive definite. Cost per iteration: 3 kernels, 2 of them with a reduction, which
 * read or write A once, M twice and 11 vectors; if M is not diagonal, 4 kernels, A and M once and
 * 13 vectors. Fails: (p, Ap) <= 0 or (r, M⁻¹r) <= 0, both reported.
 */
struct ConjugateGradients
{
  using State = cg::State;
  using Sums = cg::Sums;
  static constexpr int n_fused = cg::n_fused, n_vectors = cg::n_vectors;
  static constexpr const char *name = "cg";
  static constexpr bool needs_symmetry = true;
  static constexpr int iterations = 1;
  using First = StepList<Begin>;
  using Loop = StepList<ApplyMatrix, UpdateSolution, ApplyPreconditioner, UpdateDirection>;
};
} // namespace
} // namespace cg

template <>
std::unique_ptr<Solver> make_on<class CgSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<ShortRecurrence<ThisBackend, cg::ConjugateGradients>>();
}
} // namespace femgpu::linalg
