#include "linalg/solvers/krylov.h"
#include "linalg/solvers/registry.h"

namespace femgpu::linalg
{
namespace
{
/// ‖A r‖ below this times ‖A‖ ‖r‖ is the rounding error of an iteration: no x makes the residual
/// smaller.
constexpr double smallest_slope = 1e-15;

/// Subscripts of the paper: `gamma` is γ_j in iteration j, `gamma_old` γ_{j-1}, and so on.
struct State : KrylovState
{
  double gamma = 1., gamma_old = 1.; ///< norms of v in M⁻¹: off the diagonal of Lanczos' matrix
  double delta = 0.;                 ///< on the diagonal
  double c = 1., c_old = 1.;         ///< rotations
  double s = 0., s_old = 0.;
  double alpha_0 = 0.;                   ///< the diagonal, not yet rotated by what comes below it
  double alpha_1 = 1., alpha_1_old = 1.; ///< the diagonal of R; directions d are w times this
  double alpha_2 = 0., alpha_3 = 0.;     ///< above it
  double eta = 0.;                       ///< ±‖r‖ in M⁻¹
  double tau = 0.;                       ///< step along d that x lags behind
  double r_factor = 1.;                  ///< s² of the residual that lags behind
  double largest = 0.;                   ///< entry of Lanczos' matrix, in place of ‖A‖

  /// γ_1 = (v, M⁻¹v)^½
  FEMGPU_HD
  void begin(const double gamma_squared)
  {
    if (!check_preconditioner(gamma_squared))
      return;
    gamma = sqrt(gamma_squared);
    eta = gamma;
  }

  /// The new column of Lanczos' matrix, after the rotations that are there.
  FEMGPU_HD
  void rotate_column(const double zAz)
  {
    delta = zAz / gamma / gamma;
    alpha_0 = c * delta - c_old * s * gamma;
    alpha_2 = s * delta + c_old * c * gamma;
    alpha_3 = s_old * gamma;
  }

  /// check() of the residual; then the rotation that makes γ_{j+1} zero, and the next step.
  FEMGPU_HD
  void rotate(const double new_rr, const double gamma_squared)
  {
    check(new_rr);
    if (!running)
      return;
    if (gamma == 0.) // and yet r is not zero
      stop(Outcome::indefinite_preconditioner);
    if (!running || !check_preconditioner(gamma_squared))
      return;
    const double gamma_new = sqrt(gamma_squared);
    largest = fmax(largest, fmax(fabs(delta), gamma_new));
    // The norm of A r over that of r, both in M⁻¹; rounding errors of all iterations add up.
    if (hypot(alpha_0, c * gamma_new) <= (10 + iteration) * smallest_slope * largest) {
      stop(Outcome::stagnated);
      return;
    }
    alpha_1_old = alpha_1;
    alpha_1 = hypot(alpha_0, gamma_new);
    c_old = c;
    s_old = s;
    c = alpha_0 / alpha_1;
    s = gamma_new / alpha_1;
    tau = c * eta / alpha_1;
    r_factor = s * s;
    eta = -s * eta;
    gamma_old = gamma;
    gamma = gamma_new;
    ++iteration;
  }

private:
  /// γ² = 0 is the end of the Krylov space, where r = 0; rotate() sees whether it is.
  FEMGPU_HD
  bool check_preconditioner(const double gamma_squared)
  {
    if (!is_finite(gamma_squared))
      stop(Outcome::not_finite);
    else if (gamma_squared < 0.)
      stop(Outcome::indefinite_preconditioner);
    return running;
  }
};

struct Sums
{
  double zAz, gamma_squared, rr;
};

/// v = r;  z = M⁻¹v;  γ² = (v, z)
struct Begin
{
  const double *r;
  double *v, *z;
  DiagonalView m;

  using Contributes = SumList<&Sums::gamma_squared>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, Sums &sum) const
  {
    v[i] = r[i];
    z[i] = m(i) * r[i];
    sum.gamma_squared += r[i] * z[i];
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.begin(sum.gamma_squared);
  }
};

/// The same for any M.
struct BeginWithProduct
{
  const double *r;
  double *v, *z;

  using Contributes = SumList<&Sums::gamma_squared>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, const double z_i, Sums &sum) const
  {
    v[i] = r[i];
    z[i] = z_i;
    sum.gamma_squared += r[i] * z_i;
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.begin(sum.gamma_squared);
  }
};

/// q = A z;  δ = (q, z) / γ²
struct ApplyMatrix
{
  const double *z;
  double *q;

  using Contributes = SumList<&Sums::zAz>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, const double q_i, Sums &sum) const
  {
    q[i] = q_i;
    sum.zAz += q_i * z[i];
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.rotate_column(sum.zAz);
  }
};

/// The vectors of the recurrences; the new v and d take the places of the old ones.
struct Vectors
{
  double *x, *r;
  const double *q, *v, *d;
  double *v_old, *d_old;

  /**
   * x += τ d;  r = s² r − τ v, both of the iteration before;
   * v₊ = q/γ − (δ/γ) v − (γ/γ₋) v₋;  d₊ = z/γ − (α₃/α₁₋) d₋ − (α₂/α₁) d.
   * @return v₊
   */
  FEMGPU_HD
  double update(const State &state, const int i, const double z_i, Sums &sum) const
  {
    const double v_i = v[i];
    const double d_i = d[i];
    x[i] += state.tau * d_i;
    const double r_i = state.r_factor * r[i] - state.tau * v_i;
    r[i] = r_i;
    sum.rr += r_i * r_i;
    d_old[i] = z_i / state.gamma - state.alpha_3 / state.alpha_1_old * d_old[i] -
               state.alpha_2 / state.alpha_1 * d_i;
    const double v_new =
        (q[i] - state.delta * v_i) / state.gamma - state.gamma / state.gamma_old * v_old[i];
    v_old[i] = v_new;
    return v_new;
  }
};

/// All recurrences, and z = M⁻¹v;  γ₊² = (v, z)
struct UpdateVectors
{
  Vectors vectors;
  double *z;
  DiagonalView m;

  using Contributes = SumList<&Sums::gamma_squared, &Sums::rr>;
  FEMGPU_HD
  void operator()(const State &state, const int i, Sums &sum) const
  {
    const double m_i = m(i);
    const double v_new = vectors.update(state, i, m_i * vectors.v[i], sum);
    const double z_new = m_i * v_new;
    z[i] = z_new;
    sum.gamma_squared += v_new * z_new;
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.rotate(sum.rr, sum.gamma_squared);
  }
};

/// All recurrences, for any M.
struct UpdateResidual
{
  Vectors vectors;
  const double *z;

  using Contributes = SumList<&Sums::rr>;
  FEMGPU_HD
  void operator()(const State &state, const int i, Sums &sum) const
  {
    vectors.update(state, i, z[i], sum);
  }
};

/// z = M⁻¹v;  γ₊² = (v, z)
struct ApplyPreconditioner
{
  const double *v;
  double *z;

  using Contributes = SumList<&Sums::gamma_squared>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, const double z_i, Sums &sum) const
  {
    z[i] = z_i;
    sum.gamma_squared += v[i] * z_i;
  }

  using Completes = SumList<&Sums::gamma_squared, &Sums::rr>;
  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.rotate(sum.rr, sum.gamma_squared);
  }
};

/**
 * Preconditioned minimal residuals (Paige and Saunders 1975; Elman, Silvester and Wathen 2014,
 * Algorithm 4.1). The directions d are w without their factor 1/α₁, so that only x and r lag behind
 * by one iteration. r = s² r − τ v is the residual itself (Choi, Paige and Saunders 2011), so that
 * its Euclidean norm ends the solve, while the method minimises its norm in M⁻¹.
 *
 * Use: symmetric indefinite A. Needs: A symmetric, singular too if the system has a solution; M
 * symmetric positive definite. Cost per iteration: 2 kernels, both with a reduction; A, 14 vectors
 * and M once are read or written; where M is no row functor 3 kernels and 16 vectors; and one
 * iteration more to see the last residual. Fails: (v, M⁻¹v) < 0, reported; stagnated where the
 * system has no solution. x loses digits by the square of the condition number of A, which restarts
 * from the true residual bring back.
 */
template <class Backend>
class MinRes final : public Solver
{
public:
  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &x, const SolveControl &control) const override
  {
    require_symmetric("minres", M);
    const RowSpace &space = *A.domain();
    Buffer<double> q = space.make_vector(), z = space.make_vector();
    Buffer<double> v = space.make_vector(), d = space.make_vector();
    Buffer<double> v_old = space.make_vector(), d_old = space.make_vector();
    const auto iterate = [&](auto &iteration, const auto &m, Buffer<double> &r) {
      const int rows_of_A = A.n();
      const auto watch = watch_for<State>(control);
      fill_zero({&v_old, &d, &d_old});
      const auto apply_matrix = product(A, z.data(), ApplyMatrix{z.data(), q.data()});
      // Two iterations a pass, in which old and new change places.
      const Vectors odd{x.data(), r.data(),     q.data(),    v.data(),
                        d.data(), v_old.data(), d_old.data()};
      const Vectors even{x.data(),     r.data(), q.data(), v_old.data(),
                         d_old.data(), v.data(), d.data()};
      if constexpr (is_fused<decltype(m)>) {
        const auto update = [&](const Vectors &vectors) {
          return rows(rows_of_A, UpdateVectors{vectors, z.data(), m});
        };
        iteration.once(rows(rows_of_A, Begin{r.data(), v.data(), z.data(), m}));
        iteration.repeat(watch, apply_matrix, update(odd), apply_matrix, update(even));
      }
      else {
        const auto update = [&](const Vectors &vectors) {
          return rows(rows_of_A, UpdateResidual{vectors, z.data()});
        };
        const auto precondition = [&](const Vectors &vectors) {
          return product(*m, vectors.v_old, ApplyPreconditioner{vectors.v_old, z.data()});
        };
        iteration.once(product(*m, r.data(), BeginWithProduct{r.data(), v.data(), z.data()}));
        iteration.repeat(watch, apply_matrix, update(odd), precondition(odd), //
                         apply_matrix, update(even), precondition(even));
      }
    };
    return solve_with_steps<Backend, State, Sums>("minres", A, M, b, x, control,
                                                  {{1, 14, 1}, {1, 16, 1}}, iterate);
  }
};
} // namespace

template <>
std::unique_ptr<Solver> make_on<class MinresSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<MinRes<ThisBackend>>();
}
} // namespace femgpu::linalg
