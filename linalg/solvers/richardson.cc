#include "linalg/solvers/registry.h"
#include "linalg/solvers/short_recurrence.h"

namespace femgpu::linalg
{
namespace richardson
{
namespace
{
enum Vector : int
{
  x,
  r,
  z, ///< M⁻¹r
  q, ///< A z
  n_vectors
};

using State = KrylovState;

struct Sums
{
  double rr;
};

/// x += z;  r -= q
struct UpdateVectors : OfRow
{
  using Reads = VectorList<x, r, z, q>;
  using Writes = VectorList<x, r>;
  using Contributes = SumList<&Sums::rr>;
  FEMGPU_HD
  void operator()(const State & /* state */, Row<n_vectors> &v, Sums &sum) const
  {
    v[x] += v[z];
    v[r] -= v[q];
    sum.rr += v[r] * v[r];
  }
};

using ApplyPreconditioner = Preconditions<r, z>;

/// q = A z
struct ApplyMatrix : MatrixTimes<z, q>
{
  using Contributes = SumList<>;
  using Completes = SumList<&Sums::rr>;
  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.check(sum.rr);
    state.iteration += state.running ? 1 : 0;
  }
};

/**
 * The stationary iteration x += M⁻¹(b − A x) (Saad 2003, §4.1).
 *
 * Use: with an M that is a solver of its own, as a cycle of multigrid; it has no inner products, so
 * nothing is asked of A and M but that I − M⁻¹A has a spectral radius below 1. Cost per iteration:
 * 2 kernels and one point of synchronisation; A, 9 vectors and M once are read or written; where M
 * is no diagonal 3 kernels and 10 vectors. Fails: by divergence, which is reported. Conjugate
 * gradients with the same M take fewer iterations, and converge where this does not.
 */
struct Richardson
{
  using State = richardson::State;
  using Sums = richardson::Sums;
  static constexpr int n_fused = richardson::n_vectors, n_vectors = richardson::n_vectors;
  static constexpr const char *name = "richardson";
  static constexpr bool needs_symmetry = false;
  static constexpr int iterations = 1;
  using First = StepList<>;
  // z = q = 0 at first: the first pass makes z = M⁻¹r and changes nothing else
  using Loop = StepList<UpdateVectors, ApplyPreconditioner, ApplyMatrix>;
};
} // namespace
} // namespace richardson

template <>
std::unique_ptr<Solver> make_on<class RichardsonSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<ShortRecurrence<ThisBackend, richardson::Richardson>>();
}
} // namespace femgpu::linalg
