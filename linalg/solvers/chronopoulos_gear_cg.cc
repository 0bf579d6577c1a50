#include "linalg/solvers/krylov.h"
#include "linalg/solvers/registry.h"

namespace femgpu::linalg
{
namespace
{
struct State : KrylovState
{
  double alpha = 0., beta = 0., gamma = 0.; ///< γ of the last iteration
};

struct Sums
{
  double gamma, rr, delta;
};

/// p = u + β p;  s = w + β s;  x += α p;  r -= α s
struct UpdateResidual
{
  double *x, *r, *p, *s;
  const double *u, *w;

  using Contributes = SumList<&Sums::rr>;
  FEMGPU_HD
  void operator()(const State &state, const int i, Sums &sum) const
  {
    update(state, i, sum);
  }

  /// The new r_i.
  FEMGPU_HD
  double update(const State &state, const int i, Sums &sum) const
  {
    const double p_i = u[i] + state.beta * p[i];
    const double s_i = w[i] + state.beta * s[i];
    p[i] = p_i;
    s[i] = s_i;
    x[i] += state.alpha * p_i;
    const double r_i = r[i] - state.alpha * s_i;
    r[i] = r_i;
    sum.rr += r_i * r_i;
    return r_i;
  }
};

/// The same, then u = M⁻¹r;  γ = (r, u)
struct UpdateVectors
{
  UpdateResidual residual;
  double *u;
  DiagonalView m;

  using Contributes = SumList<&Sums::gamma, &Sums::rr>;
  FEMGPU_HD
  void operator()(const State &state, const int i, Sums &sum) const
  {
    const double r_i = residual.update(state, i, sum);
    const double u_i = m(i) * r_i;
    u[i] = u_i;
    sum.gamma += r_i * u_i;
  }
};

/// u = M⁻¹r;  γ = (r, u)
struct ApplyPreconditioner
{
  const double *r;
  double *u;

  using Contributes = SumList<&Sums::gamma>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, const double u_i, Sums &sum) const
  {
    u[i] = u_i;
    sum.gamma += r[i] * u_i;
  }
};

/// w = A u;  δ = (w, u);  β = γ/γ₋;  α = γ / (δ − β γ/α₋)
struct ApplyMatrix
{
  const double *u;
  double *w;

  using Contributes = SumList<&Sums::delta>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, const double w_i, Sums &sum) const
  {
    w[i] = w_i;
    sum.delta += w_i * u[i];
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
    ++state.iteration;
  }
};

/**
 * Preconditioned conjugate gradients of Chronopoulos and Gear (1989; Dehnavi 2012, chapter 4): both
 * dot products at one point of synchronisation, for any M.
 *
 * Use: with preconditioners that are no row functors. Needs: A and M symmetric positive definite.
 * Cost per iteration: 2 kernels and one point of synchronisation; A, 13 vectors and M once are read
 * or written; where M is no row functor 3 kernels and 14 vectors. Fails: as classical CG. s = A p
 * follows from a recurrence, so that it loses the residual earlier than the other forms; the true
 * residual decides, and restarts are counted.
 */
template <class Backend>
class ChronopoulosGearCG final : public Solver
{
public:
  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &x, const SolveControl &control) const override
  {
    require_symmetric("chronopoulos-gear-cg", M);
    const RowSpace &space = *A.domain();
    Buffer<double> p = space.make_vector(), s = space.make_vector();
    Buffer<double> u = space.make_vector(), w = space.make_vector();
    const auto iterate = [&](auto &iteration, const auto &m, Buffer<double> &r) {
      const auto watch = watch_for<State>(control);
      // α = β = 0 at first: the first pass makes u = M⁻¹r and changes nothing else
      fill_zero({&p, &s, &u, &w});
      const UpdateResidual residual{x.data(), r.data(), p.data(), s.data(), u.data(), w.data()};
      if constexpr (is_fused<decltype(m)>)
        iteration.repeat(watch, rows(A.n(), UpdateVectors{residual, u.data(), m}),
                         product(A, u.data(), ApplyMatrix{u.data(), w.data()}));
      else
        iteration.repeat(watch, rows(A.n(), residual),
                         product(*m, r.data(), ApplyPreconditioner{r.data(), u.data()}),
                         product(A, u.data(), ApplyMatrix{u.data(), w.data()}));
    };
    return solve_with_steps<Backend, State, Sums>("chronopoulos-gear-cg", A, M, b, x, control,
                                                  {{1, 13, 1}, {1, 14, 1}}, iterate);
  }
};
} // namespace

template <>
std::unique_ptr<Solver> make_on<class ChronopoulosGearCgSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<ChronopoulosGearCG<ThisBackend>>();
}
} // namespace femgpu::linalg
