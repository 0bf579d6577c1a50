#include "linalg/solvers/krylov.h"
#include "linalg/solvers/registry.h"
#include "linalg/solvers/work_vectors.h"
#include "linalg/steps/row_bodies.h"

namespace femgpu::linalg
{
namespace richardson
{
namespace
{
struct Sums
{
  double rr;
};

/// Stops at the iteration limit.
struct CheckLimit
{
  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const KrylovState & /* state */, const int /* i */, Sums & /* sum */) const
  {}

  FEMGPU_HD
  void finish(KrylovState &state, const Sums & /* sum */) const
  {
    if (state.iteration >= state.max_iterations)
      state.stop(Outcome::iteration_limit);
  }
};

/// Computes z = M⁻¹r if M⁻¹ is fused into this step.
struct Precondition
{
  const double *r;
  DiagonalView m;
  double *z;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const KrylovState & /* state */, const int i, Sums & /* sum */) const
  {
    z[i] = m(i) * r[i];
  }
};

/// Computes x += z and r −= A z.
struct Advance
{
  const double *z;
  double *x, *r;

  using Contributes = SumList<&Sums::rr>;
  FEMGPU_HD
  void operator()(const KrylovState & /* state */, const int i, const double Az_i, Sums &sum) const
  {
    x[i] += z[i];
    const double r_i = r[i] - Az_i;
    r[i] = r_i;
    sum.rr += r_i * r_i;
  }

  FEMGPU_HD
  void finish(KrylovState &state, const Sums &sum) const
  {
    ++state.iteration;
    state.check(sum.rr);
  }
};

/**
 * The stationary iteration x += M⁻¹(b − A x) (Saad 2003, §4.1).
 *
 * Use: with an M⁻¹ that is itself a solver for A, such as a multigrid cycle. No inner products are
 * needed, and A and M need no properties except that I − M⁻¹A has a spectral radius below 1. Cost
 * per iteration: 2 kernels and one synchronisation point; reads or writes A and M once and 7
 * vectors. Fails: divergence, which is reported. Conjugate gradients with the same M take fewer
 * iterations, and converge in more cases.
 */
template <class Backend>
class Richardson final : public Solver
{
public:
  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &x, const SolveControl &control) const override
  {
    WorkVectors work(A, 2);
    double *const r = work[0], *const z = work[1];
    const auto iterate = [&](auto &iteration, const auto &m, double * /* initial_x */) {
      const auto watch = watch_for<KrylovState>(control);
      iteration.once(rows(1, CheckLimit{}));
      const auto advance = product(A, z, Advance{z, x.data(), r});
      if constexpr (is_fused<decltype(m)>)
        iteration.repeat(watch, rows(A.n(), Precondition{r, fused_diagonal(m), z}), advance);
      else
        iteration.repeat(watch, product(*m, r, StoreProduct{z}), advance);
    };
    return solve_with_steps<Backend, KrylovState, Sums>("richardson", A, M, b, x, r, control,
                                                        {{1, 7, 1}, {1, 7, 1}}, iterate);
  }
};
} // namespace
} // namespace richardson

template <>
std::unique_ptr<Solver> make_on<class RichardsonSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<richardson::Richardson<ThisBackend>>();
}
} // namespace femgpu::linalg
