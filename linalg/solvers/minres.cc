#include "linalg/solvers/registry.h"
#include "linalg/solvers/short_recurrence.h"

namespace femgpu::linalg
{
namespace minres
{
namespace
{
/// If ‖A r‖ / (‖A‖ ‖r‖) is below this, it is the rounding error of an iteration, and no x has a
/// smaller residual.
constexpr double smallest_slope = 1e-15;

/// Names as in Elman, Silvester and Wathen 2014, Algorithm 4.1: `gamma` is γ_j in iteration j,
/// `gamma_old` is γ_{j-1}, and so on.
struct State : KrylovState
{
  double gamma = 1., gamma_old = 1.; ///< off-diagonals of the Lanczos matrix: norms of v in M⁻¹
  double delta = 0.;                 ///< diagonal of the Lanczos matrix
  double c = 1., c_old = 1.;         ///< cosines of rotations
  double s = 0., s_old = 0.;         ///< sines of rotations
  double alpha_0 = 0.; ///< diagonal entry of R before the entry below it is eliminated
  double alpha_1 = 1., alpha_1_old = 1.; ///< diagonal entry of R; direction d is α₁ w
  double alpha_2 = 0., alpha_3 = 0.;     ///< entries of R above the diagonal
  double eta = 0.;                       ///< ±‖r‖ in the norm of M⁻¹
  double tau = 0.;                       ///< step along d that has yet to be added to x
  double r_factor = 1.;                  ///< s² for the next update of r
  double largest = 0.; ///< largest entry of the Lanczos matrix, used instead of ‖A‖

  /// Begins a run.
  /// @param gamma_squared γ_1² = (v, M⁻¹v)
  FEMGPU_HD
  void begin(const double gamma_squared)
  {
    if (!check_preconditioner(gamma_squared))
      return;
    gamma = sqrt(gamma_squared);
    eta = gamma;
  }

  /// Applies the previous rotations to the new column of the Lanczos matrix.
  FEMGPU_HD
  void rotate_column(const double zAz)
  {
    delta = zAz / gamma / gamma;
    alpha_0 = c * delta - c_old * s * gamma;
    alpha_2 = s * delta + c_old * c * gamma;
    alpha_3 = s_old * gamma;
  }

  /// Checks the residual, then computes the rotation that eliminates γ_{j+1}, and the next τ.
  FEMGPU_HD
  void rotate(const double new_rr, const double gamma_squared)
  {
    check(new_rr);
    if (!running)
      return;
    if (gamma == 0.) // although r is not zero
      stop(Outcome::indefinite_preconditioner);
    if (!running || !check_preconditioner(gamma_squared))
      return;
    const double gamma_new = sqrt(gamma_squared);
    largest = fmax(largest, fmax(fabs(delta), gamma_new));
    // hypot() is ‖A r‖ / ‖r‖ in the norm of M⁻¹; rounding errors of all iterations accumulate.
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
  /// Stops unless γ² is finite and non-negative. γ² = 0 marks the end of the Krylov space, where r
  /// should be 0; rotate() checks r. Returns whether the loop continues.
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

enum Vector : int
{
  x,
  r,
  q, ///< A z
  z, ///< M⁻¹v of the last v
  v_even,
  v_odd,
  d_even,
  d_odd,
  n_vectors
};

/// Computes v = r, z = M⁻¹v and γ² = (v, z).
struct Begin : PreconditionerTimes<r, z>
{
  using Reads = VectorList<r>;
  using Writes = VectorList<v_even>;
  using Contributes = SumList<&Sums::gamma_squared>;
  FEMGPU_HD
  void operator()(const State & /* state */, Row<n_vectors> &v, Sums &sum) const
  {
    v[v_even] = v[r];
    sum.gamma_squared += v[r] * v[z];
  }

  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.begin(sum.gamma_squared);
  }
};

/// Computes q = A z and δ = (q, z) / γ².
struct ApplyMatrix : MatrixTimes<z, q>
{
  using Reads = VectorList<z>;
  using Contributes = SumList<&Sums::zAz>;
  FEMGPU_HD
  void operator()(const State & /* state */, Row<n_vectors> &v, Sums &sum) const
  {
    sum.zAz += v[q] * v[z];
  }

  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.rotate_column(sum.zAz);
  }
};

/**
 * Computes x += τ d and r = s² r − τ v, both for the previous iteration, and the new
 * v₊ = q/γ − (δ/γ) v − (γ/γ₋) v₋ and d₊ = z/γ − (α₃/α₁₋) d₋ − (α₂/α₁) d, which overwrite the old
 * v₋ and d₋.
 */
template <int v_now, int v_old, int d, int d_old>
struct UpdateVectors : RowFormula
{
  using Reads = VectorList<x, r, q, v_now, v_old, d, d_old>;
  using Images = ImageList<Image<z, v_now>>;
  using Writes = VectorList<x, r, v_old, d_old>;
  using Contributes = SumList<&Sums::rr>;
  FEMGPU_HD
  void operator()(const State &state, Row<n_vectors> &v, Sums &sum) const
  {
    v[x] += state.tau * v[d];
    v[r] = state.r_factor * v[r] - state.tau * v[v_now];
    sum.rr += v[r] * v[r];
    v[d_old] = v[z] / state.gamma - state.alpha_3 / state.alpha_1_old * v[d_old] -
               state.alpha_2 / state.alpha_1 * v[d];
    v[v_old] =
        (v[q] - state.delta * v[v_now]) / state.gamma - state.gamma / state.gamma_old * v[v_old];
  }
};

/// Computes z = M⁻¹v and γ₊² = (v, z).
template <int v_new>
struct ApplyPreconditioner : PreconditionerTimes<v_new, z>
{
  using Reads = VectorList<v_new>;
  using Contributes = SumList<&Sums::gamma_squared>;
  FEMGPU_HD
  void operator()(const State & /* state */, Row<n_vectors> &v, Sums &sum) const
  {
    sum.gamma_squared += v[v_new] * v[z];
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
 * by one iteration. r = s² r − τ v is the residual itself (Choi, Paige and Saunders 2011): the
 * Euclidean norm of r ends the solve, while the method minimises the norm of r in M⁻¹.
 *
 * Use: symmetric indefinite A. Needs: A symmetric; it may be singular if the system has a solution;
 * M symmetric positive definite. Cost per iteration: 2 kernels, both with a reduction, which read
 * or write A and M once and 14 vectors; if M is not diagonal, 3 kernels and 16 vectors. One
 * additional iteration computes the last residual. Fails: (v, M⁻¹v) < 0, reported; stagnated if the
 * system has no solution. x loses digits with the square of the condition number of A; restarts
 * from the true residual recover them.
 */
struct MinimalResiduals
{
  using State = minres::State;
  using Sums = minres::Sums;
  static constexpr int n_fused = minres::n_vectors, n_vectors = minres::n_vectors;
  static constexpr const char *name = "minres";
  static constexpr bool needs_symmetry = true;
  static constexpr int iterations = 2; ///< per pass; old and new vectors swap roles in between
  using First = StepList<Begin>;
  using Loop = StepList<ApplyMatrix, UpdateVectors<v_even, v_odd, d_even, d_odd>,
                        ApplyPreconditioner<v_odd>, //
                        ApplyMatrix, UpdateVectors<v_odd, v_even, d_odd, d_even>,
                        ApplyPreconditioner<v_even>>;
};
} // namespace
} // namespace minres

template <>
std::unique_ptr<Solver> make_on<class MinresSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<ShortRecurrence<ThisBackend, minres::MinimalResiduals>>();
}
} // namespace femgpu::linalg
