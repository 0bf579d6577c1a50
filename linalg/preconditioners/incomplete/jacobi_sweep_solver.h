#ifndef femgpu_linalg_preconditioners_incomplete_jacobi_sweep_solver_h
#define femgpu_linalg_preconditioners_incomplete_jacobi_sweep_solver_h

#include "linalg/base/hash.h"
#include "linalg/preconditioners/incomplete/triangular_solver.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <sstream>
#include <utility>

/**
 * @file
 * Solves with incomplete factors by Jacobi sweeps, in which all rows are independent.
 */
namespace femgpu::linalg
{
/// Stores t in v.z, or adds it to v.z, as v specifies.
template <class Backend>
void write_vector(Runner<Backend> &steps, const int n, const SolveVectors &v, const double *t)
{
  steps.run(rows(n, [v, t] FEMGPU_BODY(const int i) { v.write(i, t[i]); }));
}

struct TestState : LoopState
{
  double bb = 0., rr = 0.;
};

struct TestSums
{
  double bb, rr;
};

/// Computes r = b − (D + L) u, and the sums (b, |D|⁻¹ b) and (r, |D|⁻¹ r).
struct TestResidual
{
  const double *b, *u, *inverse;

  using Contributes = SumList<&TestSums::bb, &TestSums::rr>;
  FEMGPU_HD
  void operator()(const TestState & /* s */, const int i, const double Lu_i, TestSums &sums) const
  {
    const double r_i = b[i] - (u[i] / inverse[i] + Lu_i);
    sums.bb += b[i] * b[i] * fabs(inverse[i]);
    sums.rr += r_i * r_i * fabs(inverse[i]);
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(TestState &s, const TestSums &sums) const
  {
    s.bb = sums.bb;
    s.rr = sums.rr;
  }
};

/**
 * Solves each triangle by Jacobi sweeps w' = D⁻¹ (b − L w), starting from w = D⁻¹ b. This is a
 * truncated Neumann series, exact after as many sweeps as the triangle has levels (schedule.h).
 * Both triangles together apply Σ (−D⁻¹U)^k D⁻¹ Σ (−L D⁻¹)^k, which is symmetric for a symmetric M,
 * and positive definite if D is.
 *
 * With fewer sweeps than levels, errors may grow, because the powers of L D⁻¹ grow unless the
 * off-diagonal entries of rows are small compared with the diagonal. Each update therefore
 * measures, for two right-hand sides, the share of the residual that remains, in the norm of |D|⁻¹,
 * which does not depend on units. An automatic number of sweeps is doubled until this share is
 * small; if even max_sweeps do not reduce the residual, the triangles are solved exactly.
 */
template <class Backend>
class JacobiSweepSolver final : public SolverWithTriangles<Backend>
{
public:
  /// @param requested_sweeps number of sweeps; 0: automatic
  JacobiSweepSolver(const IncompleteFactors<Backend> &factors, const int requested_sweeps)
      : JacobiSweepSolver(factors, requested_sweeps, natural_order(factors))
  {}

  void update() override
  {
    SolverWithTriangles<Backend>::update();
    exact.reset();
    n_sweeps = requested_sweeps > 0 ? requested_sweeps : min_sweeps;
    residual_ratio = measure_residual_ratio();
    while (requested_sweeps == 0 && !(residual_ratio <= target_share) && n_sweeps < max_sweeps) {
      n_sweeps *= 2;
      residual_ratio = measure_residual_ratio();
    }
    if (requested_sweeps == 0 && !(residual_ratio < 1.))
      solve_exactly();
  }
  void solve(StepRunner &runner, const SolveVectors &v) const override
  {
    if (exact)
      return exact->solve(runner, v);
    sweep(runner, v);
  }
  std::size_t bytes() const override
  {
    if (exact)
      return exact->bytes();
    return static_cast<std::size_t>(n_sweeps) *
               (lower.bytes() + upper.bytes() + 6 * vectors[0].bytes()) +
           5 * vectors[0].bytes();
  }
  std::string name() const override
  {
    std::ostringstream text;
    text.precision(2);
    text << (exact ? exact->name() + ", because " : "") << n_sweeps << " Jacobi sweeps per triangle"
         << (exact ? " leave " : ", which leave ") << residual_ratio << " of the residual";
    return text.str();
  }

  void sweep(StepRunner &runner, const SolveVectors &v) const
  {
    auto &steps = static_cast<Runner<Backend> &>(runner);
    const double *const inverse = factors.view().inverse;
    double *w = vectors[0].data(), *w_new = vectors[1].data();
    steps.run(rows(n, [=] FEMGPU_BODY(const int i) { w[i] = inverse[i] * v.read(i); }));
    for (int sweep = 0; sweep < n_sweeps; ++sweep, std::swap(w, w_new))
      steps.run(product(lower, w, [=] FEMGPU_BODY(const int i, const double Lw_i) {
        w_new[i] = inverse[i] * (v.read(i) - Lw_i);
      }));
    double *z = w, *z_new = w_new, *z_next = vectors[2].data();
    for (int sweep = 0; sweep < n_sweeps; ++sweep, std::swap(z_new, z_next)) {
      steps.run(product(upper, z, [=] FEMGPU_BODY(const int i, const double Uz_i) {
        z_new[i] = w[i] - inverse[i] * Uz_i;
      }));
      z = z_new;
    }
    write_vector(steps, n, v, z);
  }

  /// Stores b_i = ξ_i √|d_i|. Either all ξ_i are 1, in which case the residual decreases most
  /// slowly if off-diagonal entries are negative, or they are random numbers.
  void make_test_vector(const bool is_random, double *const b) const
  {
    const double *const inverse = factors.view().inverse;
    Runner<Backend>(*lower.executor()).run(rows(n, [=] FEMGPU_BODY(const int i) {
      const unsigned int hash = hash_of(static_cast<unsigned int>(i));
      const double xi = is_random ? static_cast<double>(hash >> 8U) / (1 << 23) - 1. : 1.;
      b[i] = xi / sqrt(fabs(inverse[i]));
    }));
  }

  /// Returns the share of the residual of M z = b that remains after the sweeps, the maximum over
  /// two test vectors b.
  double measure_residual_ratio() const
  {
    if (n == 0)
      return 0.;
    const double *const inverse = factors.view().inverse;
    Buffer<double> b = this->make_vector(), solution = this->make_vector();
    double *const z = solution.data(), *const u = vectors[0].data();
    Runner<Backend> steps(*lower.executor());
    Iteration<Backend, TestState, TestSums> iteration(*lower.range());
    double largest = 0.;
    for (const bool is_random : {false, true}) {
      make_test_vector(is_random, b.data());
      sweep(steps, {b.data(), nullptr, z, nullptr, false});
      steps.run(product(upper, z, [=] FEMGPU_BODY(const int i, const double Uz_i) {
        u[i] = z[i] + inverse[i] * Uz_i; // ((D + U) z)_i / d_i
      }));
      iteration.set_state({});
      iteration.once(product(lower, u, TestResidual{b.data(), u, inverse}));
      const TestState state = iteration.get_state();
      const double reduction = std::sqrt(state.rr / state.bb);
      largest = reduction <= largest ? largest : reduction; // NaN is kept
    }
    return largest;
  }

private:
  // On a GPU, 24 sweeps take about as long as an exact solve for a 3D problem, and a fraction of
  // that time for a 2D problem. If half of the residual remains, a solver takes hardly more
  // iterations than with exact solves.
  static constexpr int min_sweeps = 3, max_sweeps = 24;
  static constexpr double target_share = 0.5;

  void solve_exactly()
  {
    if constexpr (Backend::kind == BackendKind::host)
      exact = std::make_unique<BlockwiseSolver<Backend>>(factors);
    else
      exact = std::make_unique<DependencySolver<Backend>>(factors);
    exact->update();
  }

  static std::vector<int> natural_order(const IncompleteFactors<Backend> &factors)
  {
    std::vector<int> rows(static_cast<std::size_t>(factors.partition().n()));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }
  JacobiSweepSolver(const IncompleteFactors<Backend> &factors, const int requested_sweeps,
                    const std::vector<int> &rows)
      : SolverWithTriangles<Backend>(factors, rows, rows), requested_sweeps(requested_sweeps),
        n(lower.n())
  {
    for (Buffer<double> &vector : vectors)
      vector = this->make_vector();
  }

  using SolverWithTriangles<Backend>::factors, SolverWithTriangles<Backend>::lower,
      SolverWithTriangles<Backend>::upper;
  int requested_sweeps, n, n_sweeps = 0;
  double residual_ratio = 0.;              ///< the share of the residual that sweeps leave
  std::unique_ptr<TriangularSolver> exact; ///< used if sweeps do not reduce the residual
  mutable Buffer<double> vectors[3];
};
} // namespace femgpu::linalg

#endif
