#include "linalg/base/hash.h"
#include "linalg/solvers/krylov.h"
#include "linalg/solvers/registry.h"
#include "linalg/steps/columns.h"
#include "linalg/steps/row_bodies.h"

namespace femgpu::linalg
{
namespace idr
{
namespace
{
constexpr int max_shadow_vectors = 16;

struct State : KrylovState
{
  static constexpr bool supports_variants = true;

  double omega = 1.;
  double beta = 0.; ///< the last update was x += β u_k

  FEMGPU_HD
  void stop_unless(const bool is_regular, const double value)
  {
    if (!is_regular)
      stop(is_finite(value) ? Outcome::breakdown : Outcome::not_finite);
  }
};

struct Sums
{
  double rr, tr, tt;
};

/// Small matrices and vectors of the method.
struct SmallProblem
{
  int s;         ///< number of shadow vectors p_0, ..., p_{s-1}
  double *M;     ///< M_ij = (p_i, g_j), lower triangular, by columns
  double *f;     ///< f_i = (p_i, r)
  double *c;     ///< coefficients of g_k, g_{k+1}, ... in the next direction
  double *h;     ///< (p_i, A u)
  double *alpha; ///< coefficients of g_0, ..., g_{k-1}, subtracted from A u

  FEMGPU_HD
  double &m(const int i, const int j) const
  {
    return M[j * s + i];
  }

  /// Solves Σ_j M_ij c_j = f_i for k <= i, j < s. Returns whether c is finite.
  FEMGPU_HD
  bool solve(const int k) const
  {
    for (int i = k; i < s; ++i) {
      double sum = f[i];
      for (int j = k; j < i; ++j)
        sum -= m(i, j) * c[j];
      c[i] = sum / m(i, i);
      if (!KrylovState::is_finite(c[i]))
        return false;
    }
    return true;
  }

  static std::size_t count(const int s)
  {
    return static_cast<std::size_t>(s) * static_cast<std::size_t>(s + 4);
  }
};

/// The data that the steps (steps/steps.h) of the method use.
struct SolverWorkspace
{
  int n;
  unsigned int first; ///< global number of the first row
  Columns P, G, U;    ///< s vectors each
  double *x, *r, *z, *t;
  SmallProblem small;
};

/// Sets the shadow vectors to pseudo-random numbers in [-1, 1), which differ after a failed run.
/// Sets G = U = 0 and M = I; any regular M would do.
struct ChooseShadows
{
  SolverWorkspace ws;

  FEMGPU_HD
  void operator()(const State &state, const int i, Sums & /* sum */) const
  {
    unsigned int number = hash_of(static_cast<unsigned int>(state.failed_runs) + 1U);
    for (int k = 0; k < ws.P.count; ++k) {
      number = hash_of(number ^ hash_of(ws.first + static_cast<unsigned int>(i)));
      ws.P[k][i] = 0x1p-31 * number - 1.;
      ws.G[k][i] = ws.U[k][i] = 0.;
    }
  }

  FEMGPU_HD
  void finish(State &state, const Sums & /* sum */) const
  {
    for (int j = 0; j < ws.small.s; ++j)
      for (int i = 0; i < ws.small.s; ++i)
        ws.small.m(i, j) = i == j ? 1. : 0.;
    state.omega = 1.;
  }
};

/// Computes f = Pᵀ r and the coefficients c of the first direction.
struct ProjectResidual
{
  SmallProblem small;

  FEMGPU_HD
  void entry(const int x, const int /* y */, const double dot) const
  {
    small.f[x] = dot;
  }
  FEMGPU_HD
  void finish(State &state) const
  {
    if (state.running)
      state.stop_unless(small.solve(0), state.rr);
  }
};

/// Computes v = r − Σ_{i≥k} c_i g_i and u_k = Σ_{i≥k} c_i u_i + ω M⁻¹v. If M⁻¹ is not fused into
/// this step, only computes z = v.
template <bool fused>
struct ComputeDirection
{
  SolverWorkspace ws;
  int k;
  DiagonalView m;

  FEMGPU_HD
  void operator()(const State &state, const int i, Sums & /* sum */) const
  {
    const int count = ws.small.s - k;
    const double v_i = ws.r[i] - combination(ws.G.columns(k, count), count, ws.small.c + k, i);
    if constexpr (fused)
      ws.U[k][i] =
          combination(ws.U.columns(k, count), count, ws.small.c + k, i) + state.omega * m(i) * v_i;
    else
      ws.z[i] = v_i;
  }
};

/// Computes u_k = Σ_{i≥k} c_i u_i + ω z, where z = M⁻¹v, if M⁻¹ is not fused.
struct CompleteDirection
{
  SolverWorkspace ws;
  int k;

  FEMGPU_HD
  void operator()(const State &state, const int i, const double z_i, Sums & /* sum */) const
  {
    const int count = ws.small.s - k;
    ws.U[k][i] = combination(ws.U.columns(k, count), count, ws.small.c + k, i) + state.omega * z_i;
  }
};

/// Computes h = Pᵀ A u, M_ik, β = f_k / M_kk, and the α for which g = A u − Σ_{j<k} α_j g_j is
/// orthogonal to p_0, ..., p_{k-1}.
struct ProjectImage
{
  SmallProblem small;
  int k;

  FEMGPU_HD
  void entry(const int x, const int /* y */, const double dot) const
  {
    small.h[x] = dot;
  }
  FEMGPU_HD
  void finish(State &state) const
  {
    for (int i = 0; i < small.s; ++i) {
      double sum = small.h[i];
      for (int j = 0; j < (i < k ? i : k); ++j)
        sum -= small.m(i, j) * small.alpha[j];
      if (i < k)
        small.alpha[i] = sum / small.m(i, i);
      else
        small.m(i, k) = sum;
    }
    state.beta = small.f[k] / small.m(k, k);
    state.stop_unless(KrylovState::is_finite(state.beta), small.f[k] + small.m(k, k));
  }
};

/// Computes g_k −= Σ α_j g_j, u_k −= Σ α_j u_j, x += β u_k and r −= β g_k. Updates f, and solves
/// for the coefficients c of direction k + 1.
struct UpdateIterate
{
  SolverWorkspace ws;
  int k;
  DiagonalView m;
  double *z; ///< receives M⁻¹r; nullptr: not needed

  using Contributes = SumList<&Sums::rr>;
  FEMGPU_HD
  void operator()(const State &state, const int i, Sums &sum) const
  {
    const double g_i = ws.G[k][i] - combination(ws.G.columns(0, k), k, ws.small.alpha, i);
    const double u_i = ws.U[k][i] - combination(ws.U.columns(0, k), k, ws.small.alpha, i);
    ws.G[k][i] = g_i;
    ws.U[k][i] = u_i;
    ws.x[i] += state.beta * u_i;
    const double r_i = ws.r[i] - state.beta * g_i;
    ws.r[i] = r_i;
    if (z != nullptr)
      z[i] = m(i) * r_i;
    sum.rr += r_i * r_i;
  }

  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    for (int i = k + 1; i < ws.small.s; ++i)
      ws.small.f[i] -= state.beta * ws.small.m(i, k);
    ++state.iteration;
    state.check(sum.rr);
    if (state.running)
      state.stop_unless(ws.small.solve(k + 1), sum.rr);
  }
};

/// Computes t = A z, and ω = (t, r) / (t, t), increased if t and r are nearly orthogonal.
struct ChooseOmega
{
  const double *r;
  double *t;

  using Contributes = SumList<&Sums::tr, &Sums::tt>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, const double t_i, Sums &sum) const
  {
    t[i] = t_i;
    sum.tr += t_i * r[i];
    sum.tt += t_i * t_i;
  }

  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    constexpr double min_cosine = 0.7;
    const double lengths = sqrt(sum.tt) * sqrt(state.rr);
    const double bounded = fabs(sum.tr) < min_cosine * lengths // also where t and r are orthogonal
                               ? copysign(min_cosine * lengths, sum.tr)
                               : sum.tr;
    state.omega = bounded / sum.tt;
    state.stop_unless(state.omega != 0. && KrylovState::is_finite(state.omega), sum.tr + sum.tt);
  }
};

/// Computes x += ω z and r −= ω t.
struct ReduceResidual
{
  double *x, *r;
  const double *z, *t;

  using Contributes = SumList<&Sums::rr>;
  FEMGPU_HD
  void operator()(const State &state, const int i, Sums &sum) const
  {
    x[i] += state.omega * z[i];
    const double r_i = r[i] - state.omega * t[i];
    r[i] = r_i;
    sum.rr += r_i * r_i;
  }

  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    ++state.iteration;
    state.check(sum.rr);
  }
};

/**
 * IDR(s) with bi-orthogonal residuals (Van Gijzen and Sonneveld 2011, Algorithm 913), right
 * preconditioned. The s inner products of a direction are computed together, and a small triangular
 * system replaces the sequential orthogonalisation.
 *
 * Use: unsymmetric systems for which BiCGStab breaks down or stagnates, e.g. due to strong
 * convection; with s = 4, IDR needs hardly more iterations than GMRES without a restart. Options:
 * s. Needs: no properties of A or M; 3 s + 4 vectors. An iteration has one product with A and M;
 * (s + 1) iterations confine the residual to the next smaller space. Cost: 4 kernels, 2 of them
 * with a reduction, and about 3 s + 10 vectors; A and M once. Fails: M_kk = 0 or ω = 0 is a
 * breakdown, followed by a restart with other shadow vectors.
 */
template <class Backend>
class IDR final : public Solver
{
public:
  explicit IDR(Method &method) : shadows(method.integer("s", 4, 1, max_shadow_vectors))
  {}

  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &x, const SolveControl &control) const override
  {
    const RowSpace &space = *A.range();
    const int s =
        static_cast<int>(std::clamp<long long>(shadows, 1, std::max(space.n_global(), 1LL)));
    WorkVectors work(A, 3 * s + 3);
    Buffer<double> numbers(A.executor(), SmallProblem::count(s));
    GramMemory dots(A.executor(), s, space.communicator());
    const Columns columns{numbers.data(), static_cast<std::size_t>(s), s + 4};
    const SmallProblem small{
        s, columns[0], columns[s], columns[s + 1], columns[s + 2], columns[s + 3]};
    const auto iterate = [&](auto &iteration, const auto &m, double * /* initial_x */) {
      const SolverWorkspace ws{A.n(),
                               static_cast<unsigned int>(space.first()),
                               work.columns(0, s),
                               work.columns(s, s),
                               work.columns(2 * s, s),
                               x.data(),
                               work[3 * s],
                               work[3 * s + 1],
                               work[3 * s + 2],
                               small};
      const auto project = gram(ws.n, ws.P, {ws.r, ws.P.stride, 1}, ProjectResidual{small}, dots);
      iteration.once(rows(ws.n, ChooseShadows{ws}));
      repeat(iteration, watch_for<State>(control), A, m, ws, project, dots);
    };
    const auto width = static_cast<std::size_t>(s);
    const std::size_t vectors = (width * (3 * width + 12) + width + 9) / (width + 1);
    return solve_with_steps<Backend, State, Sums>("idr", A, M, b, x, work[3 * s], control,
                                                  {{1, vectors, 1}, {1, vectors + 2, 1}}, iterate);
  }

private:
  template <class Iteration, class M, class Project>
  static void repeat(Iteration &iteration, const Watch<State> &watch, const Matrix &A, const M &m,
                     const SolverWorkspace &ws, const Project &project, GramMemory &dots)
  {
    constexpr bool fused = is_fused<M>;
    const DiagonalView diagonal = fused_diagonal(m);
    const int s = ws.small.s;
    const bool is_identity = fused && diagonal.is_identity();
    double *const z = is_identity ? ws.r : ws.z; // M⁻¹r
    const auto update_iterate = [&](const int k) {
      const auto image = gram(ws.n, ws.P, ws.G.columns(k, 1), ProjectImage{ws.small, k}, dots);
      const bool makes_z = fused && !is_identity && k == s - 1;
      return std::tuple(product(A, ws.U[k], StoreProduct{ws.G[k]}), image,
                        rows(ws.n, UpdateIterate{ws, k, diagonal, makes_z ? z : nullptr}));
    };
    const auto direction = [&](const int k) {
      return std::tuple_cat(std::tuple(rows(ws.n, ComputeDirection<fused>{ws, k, diagonal})),
                            preconditioning(m, ws.z, CompleteDirection{ws, k}), update_iterate(k));
    };
    const auto reduce = std::tuple_cat(preconditioning(m, ws.r, StoreProduct{ws.z}),
                                       std::tuple(product(A, z, ChooseOmega{ws.r, ws.t}),
                                                  rows(ws.n, ReduceResidual{ws.x, ws.r, z, ws.t})));
    std::apply(
        [&](const auto &...steps) {
          iteration.repeat(watch, project, counted_steps(s, direction), steps...);
        },
        reduce);
  }

  int shadows;
};
} // namespace
} // namespace idr

template <>
std::unique_ptr<Solver> make_on<class IdrSolver, ThisBackend>(Method &method)
{
  return std::make_unique<idr::IDR<ThisBackend>>(method);
}
} // namespace femgpu::linalg
