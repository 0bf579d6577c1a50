#include "linalg/base/hash.h"
#include "linalg/solvers/krylov.h"
#include "linalg/solvers/registry.h"
#include "linalg/steps/columns.h"
#include "linalg/steps/row_bodies.h"

namespace femgpu::linalg
{
namespace bicgstab_l
{
namespace
{
constexpr int max_l = 8;

struct State : KrylovState
{
  static constexpr bool supports_variants = true;

  double alpha = 0., beta = 0., omega = 1.;
  double rho = 1.; ///< (r_j, r*) of the previous direction

  /// Computes β of the next direction from @p next = (r_j, r*).
  FEMGPU_HD
  void update_beta(const double next)
  {
    beta = alpha * next / rho;
    rho = next;
    stop_unless_finite(beta, next);
  }
  /// Sets α = ρ / @p gamma.
  FEMGPU_HD
  void set_alpha(const double gamma)
  {
    alpha = rho / gamma;
    stop_unless_finite(alpha, gamma);
  }

private:
  FEMGPU_HD
  void stop_unless_finite(const double quotient, const double divisor)
  {
    if (running && !is_finite(quotient))
      stop(is_finite(divisor) ? Outcome::breakdown : Outcome::not_finite);
  }
};

struct Sums
{
  double rr, rho, gamma;
};

/// Data of the least-squares problem min ‖r_0 − Σ γ_j r_j‖, j = 1, ..., ℓ.
struct SmallProblem
{
  int l;
  double *Z;     ///< (r_i, r_j), by columns: 0 <= i <= l, 1 <= j <= l; factored in place
  double *gamma; ///< γ_1, ..., γ_l

  FEMGPU_HD
  double &z(const int i, const int j) const
  {
    return Z[(j - 1) * (l + 1) + i];
  }

  /// Solves the normal equations by Cholesky's method. Returns false if r_1, ..., r_l are linearly
  /// dependent.
  FEMGPU_HD
  bool solve() const
  {
    for (int j = 1; j <= l; ++j) {
      for (int i = j; i <= l; ++i) {
        double sum = z(i, j);
        for (int k = 1; k < j; ++k)
          sum -= z(i, k) * z(j, k);
        z(i, j) = i == j ? sqrt(sum) : sum / z(j, j);
      }
      double sum = z(0, j);
      for (int k = 1; k < j; ++k)
        sum -= z(j, k) * gamma[k - 1];
      gamma[j - 1] = sum / z(j, j);
    }
    bool is_regular = true;
    for (int j = l; j > 0; --j) {
      double sum = gamma[j - 1];
      for (int k = j + 1; k <= l; ++k)
        sum -= z(k, j) * gamma[k - 1];
      gamma[j - 1] = sum / z(j, j);
      is_regular = is_regular && KrylovState::is_finite(gamma[j - 1]);
    }
    return is_regular;
  }
};

/// The data that the steps (steps/steps.h) of the method use.
struct SolverWorkspace
{
  int n;
  unsigned int first; ///< global number of the first row
  Columns R, U;       ///< l + 1 vectors each
  double *x, *shadow, *z;
  bool fused; ///< M⁻¹ is the diagonal m, and updates of x are immediate
  double *y;  ///< if M⁻¹ is not fused: update of a pass, which ends with x += M⁻¹y
  DiagonalView m;
  SmallProblem small;

  /// Adds M⁻¹ @p v_i to x if M⁻¹ is fused; otherwise adds v_i to y.
  /// @param is_first whether this is the first update of a pass
  FEMGPU_HD
  void add(const int i, const double v_i, const bool is_first = false) const
  {
    if (fused)
      x[i] += m(i) * v_i;
    else
      y[i] = is_first ? v_i : y[i] + v_i;
  }
};

/// Sets u_0 to 0 and r* to r or, after failed runs, to pseudo-random numbers in [-1, 1), which
/// differ in each run.
struct Begin
{
  SolverWorkspace ws;

  using Contributes = SumList<&Sums::rho>;
  FEMGPU_HD
  void operator()(const State &state, const int i, Sums &sum) const
  {
    const auto seed = static_cast<unsigned int>(state.failed_runs);
    const unsigned int number = ws.first + static_cast<unsigned int>(i);
    const double r_i = ws.R[0][i];
    ws.shadow[i] = seed == 0 ? r_i : 0x1p-31 * hash_of(number ^ hash_of(seed)) - 1.;
    ws.U[0][i] = 0.;
    sum.rho += r_i * ws.shadow[i];
  }

  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.alpha = 0.;
    state.rho = 1.;
    state.update_beta(sum.rho);
  }
};

/// Computes u_i = r_i − β u_i for i <= j and, if M⁻¹ is fused into this step, z = M⁻¹u_j.
struct ComputeDirection
{
  SolverWorkspace ws;
  int j;

  FEMGPU_HD
  void operator()(const State &state, const int i, Sums & /* sum */) const
  {
    double u_i = 0.;
    for (int k = 0; k <= j; ++k) {
      u_i = ws.R[k][i] - state.beta * ws.U[k][i];
      ws.U[k][i] = u_i;
    }
    if (ws.fused)
      ws.z[i] = ws.m(i) * u_i;
  }
};

/// Computes u_{j+1} = A z and α = ρ / (u_{j+1}, r*).
struct ApplyToDirection
{
  const double *shadow;
  double *u;

  using Contributes = SumList<&Sums::gamma>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, const double u_i, Sums &sum) const
  {
    u[i] = u_i;
    sum.gamma += u_i * shadow[i];
  }

  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.set_alpha(sum.gamma);
  }
};

/// Computes x += α M⁻¹u_0, r_i −= α u_{i+1} for i <= j and, if M⁻¹ is fused, z = M⁻¹r_j.
struct UpdateIterate
{
  SolverWorkspace ws;
  int j;

  FEMGPU_HD
  void operator()(const State &state, const int i, Sums & /* sum */) const
  {
    ws.add(i, state.alpha * ws.U[0][i], j == 0);
    double r_i = 0.;
    for (int k = 0; k <= j; ++k) {
      r_i = ws.R[k][i] - state.alpha * ws.U[k + 1][i];
      ws.R[k][i] = r_i;
    }
    if (ws.fused)
      ws.z[i] = ws.m(i) * r_i;
  }
};

/// Computes r_{j+1} = A z and, if another direction follows in the pass, the β of this direction.
struct ApplyToResidual
{
  const double *shadow;
  double *r;
  bool is_last;

  using Contributes = SumList<&Sums::rho>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, const double r_i, Sums &sum) const
  {
    r[i] = r_i;
    sum.rho += r_i * shadow[i];
  }

  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    if (!is_last)
      state.update_beta(sum.rho);
  }
};

/// Computes (r_i, r_j) for all i and, if j = ℓ, also γ and ω = γ_ℓ.
struct Minimise
{
  SmallProblem small;
  int j;

  FEMGPU_HD
  void entry(const int x, const int /* y */, const double dot) const
  {
    small.z(x, j) = dot;
  }
  FEMGPU_HD
  void finish(State &state) const
  {
    if (j < small.l || !state.running)
      return;
    const double rr = small.z(1, 1); // overwritten below
    const bool is_regular = small.solve();
    state.omega = small.gamma[small.l - 1];
    if (!is_regular || state.omega == 0.)
      state.stop(KrylovState::is_finite(rr) ? Outcome::breakdown : Outcome::not_finite);
  }
};

/// Computes x += M⁻¹ Σ γ_j r_{j-1}, r_0 −= Σ γ_j r_j, u_0 −= Σ γ_j u_j, and the β of the next
/// direction.
struct ReduceResidual
{
  SolverWorkspace ws;

  using Contributes = SumList<&Sums::rr, &Sums::rho>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, Sums &sum) const
  {
    const int l = ws.small.l;
    const double *const gamma = ws.small.gamma;
    ws.add(i, combination(ws.R.columns(0, l), l, gamma, i));
    ws.U[0][i] -= combination(ws.U.columns(1, l), l, gamma, i);
    const double r_i = ws.R[0][i] - combination(ws.R.columns(1, l), l, gamma, i);
    ws.R[0][i] = r_i;
    sum.rr += r_i * r_i;
    sum.rho += r_i * ws.shadow[i];
  }

  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.rho *= -state.omega;
    if (ws.fused)
      end_pass(state, sum);
    else {
      state.rr = sum.rr; // for AddPreconditioned
      state.beta = sum.rho;
    }
  }

  FEMGPU_HD
  static void end_pass(State &state, const Sums &sum)
  {
    ++state.iteration;
    state.check(sum.rr);
    if (state.running)
      state.update_beta(sum.rho);
  }
};

/// Ends a pass if M⁻¹ is not fused, with x += M⁻¹y.
struct AddPreconditioned : AddProduct
{
  FEMGPU_HD
  void finish(State &state, const Sums & /* sum */) const
  {
    ReduceResidual::end_pass(state, {state.rr, state.beta, 0.});
  }
};

/**
 * BiCGStab(ℓ) (Sleijpen and Fokkema 1993), right preconditioned: ℓ steps of BiCG, after which the
 * residual is minimised over ℓ powers of A by means of the normal equations.
 *
 * Use: unsymmetric systems with eigenvalues far from the real axis, e.g. due to strong convection,
 * for which BiCGStab (ℓ = 1) stagnates. Options: l. Needs: no properties of A or M; 2 l + 5
 * vectors. An iteration has 2 l products with A and M. Cost: 5 l + 1 kernels, 3 l + 1 of them with
 * a reduction, and about 4 l² + 18 l vectors. Fails: breakdown as in BiCGStab, followed by a
 * restart with another r*.
 */
template <class Backend>
class BiCGStabL final : public Solver
{
public:
  explicit BiCGStabL(Method &method) : l(method.integer("l", 2, 1, max_l))
  {}

  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &x, const SolveControl &control) const override
  {
    const auto width = static_cast<std::size_t>(l), products = 2 * width;
    WorkVectors work(A, 2 * (l + 1) + 3);
    Buffer<double> numbers(A.executor(), (width + 1) * width + width);
    GramMemory dots(A.executor(), l + 1, A.range()->communicator());
    const SmallProblem small{l, numbers.data(), numbers.data() + (width + 1) * width};
    const auto iterate = [&](auto &iteration, const auto &m, double * /* initial_x */) {
      constexpr bool fused = is_fused<decltype(m)>;
      const SolverWorkspace ws{A.n(),
                               static_cast<unsigned int>(A.range()->first()),
                               work.columns(0, l + 1),
                               work.columns(l + 1, l + 1),
                               x.data(),
                               work[2 * l + 2],
                               work[2 * l + 3],
                               fused,
                               work[2 * l + 4],
                               fused_diagonal(m),
                               small};
      iteration.once(rows(ws.n, Begin{ws}));
      repeat(iteration, watch_for<State>(control), A, m, ws, dots);
    };
    const std::size_t vectors = 4 * width * width + 18 * width + 8;
    return solve_with_steps<Backend, State, Sums>(
        "bicgstab-l", A, M, b, x, work[0], control,
        {{products, vectors, products}, {products, vectors + 2 * products + 3, products + 1}},
        iterate);
  }

private:
  template <class Iteration, class M>
  static void repeat(Iteration &iteration, const Watch<State> &watch, const Matrix &A, const M &m,
                     const SolverWorkspace &ws, GramMemory &dots)
  {
    const int l = ws.small.l;
    const auto minimise = counted_steps(l, [&](const int j) {
      return std::tuple(gram(ws.n, ws.R, ws.R.columns(j + 1, 1), Minimise{ws.small, j + 1}, dots));
    });
    const auto reduce = rows(ws.n, ReduceResidual{ws});
    const auto step = [&](const int j) {
      const StoreProduct in_z{ws.z};
      return std::tuple_cat(
          std::tuple(rows(ws.n, ComputeDirection{ws, j})), preconditioning(m, ws.U[j], in_z),
          std::tuple(product(A, ws.z, ApplyToDirection{ws.shadow, ws.U[j + 1]}),
                     rows(ws.n, UpdateIterate{ws, j})),
          preconditioning(m, ws.R[j], in_z),
          std::tuple(product(A, ws.z, ApplyToResidual{ws.shadow, ws.R[j + 1], j == l - 1})));
    };
    std::apply(
        [&](const auto &...last) {
          iteration.repeat(watch, counted_steps(l, step), minimise, reduce, last...);
        },
        preconditioning(m, ws.y, AddPreconditioned{{ws.x}}));
  }

  int l;
};
} // namespace
} // namespace bicgstab_l

template <>
std::unique_ptr<Solver> make_on<class BicgstabLSolver, ThisBackend>(Method &method)
{
  return std::make_unique<bicgstab_l::BiCGStabL<ThisBackend>>(method);
}
} // namespace femgpu::linalg
