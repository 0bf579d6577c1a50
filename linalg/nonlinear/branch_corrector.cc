#include "linalg/nonlinear/branch_corrector.h"
#include "linalg/nonlinear/hermite.h"
#include "linalg/nonlinear/jacobian.h"
#include "linalg/nonlinear/residual.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace femgpu::linalg
{
namespace
{
struct Sums
{
  double rr, gg, bb; // (r, r), (g, g) with g = ∂r/∂λ, and (b, b)
  double along;      // (ẋ₀, x − x₀)
  double pa, pv, vv; // (p, a), (p, v) and (v, v) of Products
};

struct State : LoopState
{
  Sums sums{};
};

/// Computes the contribution of row i to the inner product (y, z) = θ Σ w_i y_i z_i / Σ w_i.
struct Metric
{
  const double *w;
  double factor; ///< θ / Σ w_i

  FEMGPU_HD
  double operator()(const int i, const double y, const double z) const
  {
    return factor * w[i] * y * z;
  }
};

/// Computes g = ∂r/∂λ, r = r(x), and (ẋ₀, x − x₀), where x₀ and ẋ₀ belong to the point at which the
/// step starts.
template <class Row>
struct Evaluate
{
  Row row;
  Metric metric;
  const double *x;
  const double *x_0, *x_dot_0;
  double *g, *r;

  using Contributes = SumList<&Sums::rr, &Sums::gg, &Sums::bb, &Sums::along>;
  FEMGPU_HD
  void operator()(const State & /* s */, const int i, const double Ax_i, Sums &sum) const
  {
    const double x_i = x[i], b_i = row.b[i];
    double g_i = 0.;
    const double r_i = row.residual(i, x_i, Ax_i, g_i);
    g[i] = g_i;
    r[i] = r_i;
    sum.rr += r_i * r_i;
    sum.gg += g_i * g_i;
    sum.bb += b_i * b_i;
    sum.along += metric(i, x_dot_0[i], x_i - x_0[i]);
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    set_sums(s.sums, sum, Completes{});
  }
};

/// Computes the inner products (p, a), (p, v) and (v, v).
struct Products
{
  Metric metric;
  const double *p, *a, *v;

  using Contributes = SumList<&Sums::pa, &Sums::pv, &Sums::vv>;
  FEMGPU_HD
  void operator()(const State & /* s */, const int i, Sums &sum) const
  {
    sum.pa += metric(i, p[i], a[i]);
    sum.pv += metric(i, p[i], v[i]);
    sum.vv += metric(i, v[i], v[i]);
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    set_sums(s.sums, sum, Completes{});
  }
};

/// Computes x += a + Δλ v.
struct AddCorrection
{
  double *x;
  const double *a, *v;
  double lambda_change;

  FEMGPU_HD
  void operator()(const int i) const
  {
    x[i] += a[i] + lambda_change * v[i];
  }
};

struct Coefficients
{
  double c_1, c_2, c_3, c_4;
};

/// Computes y = c₁ v₁ + c₂ v₂ + c₃ v₃ + c₄ v₄.
struct Combine
{
  const double *v_1, *v_2, *v_3, *v_4;
  Coefficients c;
  double *y;

  FEMGPU_HD
  void operator()(const int i) const
  {
    y[i] = c.c_1 * v_1[i] + c.c_2 * v_2[i] + c.c_3 * v_3[i] + c.c_4 * v_4[i];
  }
};

/// If rounding ends a linear solve early, Newton's method uses its result if the relative residual
/// is at most this.
constexpr double max_linear_residual = 1e-2;

/**
 * Newton's method for the system of r(x, λ) = 0 and the equation of the plane, N = 0 with
 * N = (ẋ₀, x − x₀) + λ̇₀ (λ − λ₀) − σ (Keller 1977; Allgower and Georg 1990, chapter 10). The
 * bordered system
 *
 *     [ J          −g ] [Δx]   [ r ]
 *     [ (ẋ₀, .)    λ̇₀ ] [Δλ] = [ −N ]
 *
 * with g = ∂r/∂λ is solved by block elimination: J a = r, J v = g, Δx = a + Δλ v.
 *
 * If J is nearly singular, as at a fold, a and v are large along the same vector, but the equation
 * of the plane determines the component of Δx along this vector. The remaining error of the first
 * equation consists of the residuals of the two linear systems, which the next iteration corrects.
 * Cost of a correction: a product, a refresh of J and two linear solves, or one linear solve for a
 * given λ. The tangent of a point takes another linear solve.
 */
template <class Backend>
class Corrector final : public BranchCorrector
{
public:
  Corrector(SemilinearEquation &F, const BranchMetric &metric, const LinearSolverOptions &linear)
      : F(F), metric{metric.weights.data(), metric.factor}, solver(linear, Backend::kind),
        jacobian(linear.format), iteration(F.space()), runner(*F.space().executor()), g(vector()),
        r(vector()), a(vector()), v(vector())
  {
    linear_control.relative_tolerance = linear.control.relative_tolerance;
    linear_control.max_iterations = linear.control.max_iterations;
    solver.set_up(F.matrix(), false);
    jacobian.setup(F.matrix());
  }

  CorrectorResult correct(BranchPoint &p, const BranchPoint *const from, const double sigma,
                          const SolveControl &control, const int min_corrections) override
  {
    CorrectorResult correction;
    for (;; ++correction.corrections) {
      const Sums sums = evaluate(p, from != nullptr ? *from : p);
      correction.residual = std::sqrt(sums.rr);
      const double size = std::sqrt(sums.bb) + std::abs(p.lambda) * std::sqrt(sums.gg);
      correction.target = std::max(control.absolute_tolerance, control.relative_tolerance * size);
      double arc = 0.;
      if (from != nullptr) {
        arc = sums.along + from->lambda_dot * (p.lambda - from->lambda);
        p.sigma = arc;
      }
      if (has_finished(correction, control, min_corrections) || !solve(p, r, a, correction))
        return with_message(correction, p.lambda);
      double lambda_change = 0.;
      if (from != nullptr) {
        if (!solve_with_current_jacobian(g, v, correction))
          return with_message(correction, p.lambda);
        const Sums plane_products = products(from->x_dot.data(), a.data(), v.data());
        lambda_change = (sigma - arc - plane_products.pa) / (from->lambda_dot + plane_products.pv);
      }
      runner.run(rows(F.n(), AddCorrection{p.x.data(), a.data(),
                                           from != nullptr ? v.data() : a.data(), lambda_change}));
      p.lambda += lambda_change;
    }
  }

  void find_tangent(BranchPoint &p, const BranchPoint &before, CorrectorResult &correction) override
  {
    if (!solve(p, g, v, correction))
      return;
    const Sums sums = products(before.x_dot.data(), v.data(), v.data());
    const double along = before.lambda_dot + sums.pv;
    if (!std::isfinite(sums.vv) || !std::isfinite(along)) {
      correction.outcome = Outcome::not_finite;
      correction.message = "The tangent of the branch is not finite.";
      return;
    }
    p.lambda_dot = (along < 0. ? -1. : 1.) / std::sqrt(1. + sums.vv);
    combine({p.lambda_dot, 0., 0., 0.}, v, v, v, v, p.x_dot);
  }

  double cosine(const BranchPoint &p, const BranchPoint &q) override
  {
    return p.lambda_dot * q.lambda_dot + products(p.x_dot.data(), q.x_dot.data(), v.data()).pa;
  }

  double distance(const BranchPoint &p, const BranchPoint &q) override
  {
    combine({1., -1., 0., 0.}, p.x, q.x, p.x, q.x, a);
    return std::hypot(p.lambda - q.lambda, std::sqrt(products(a.data(), a.data(), a.data()).vv));
  }

  void predict(const BranchPoint &p, BranchPoint &to) override
  {
    to.lambda = p.lambda + to.sigma * p.lambda_dot;
    combine({1., to.sigma, 0., 0.}, p.x, p.x_dot, p.x, p.x_dot, to.x);
  }

  void interpolate(const BranchPoint &p, const BranchPoint &q, BranchPoint &to) override
  {
    const auto w = HermiteCubic::weights(p.sigma, q.sigma, to.sigma);
    const double dp = w.dpa * p.speed;
    const double dq = w.dpb * q.speed;
    to.lambda = w.pa * p.lambda + dp * p.lambda_dot + w.pb * q.lambda + dq * q.lambda_dot;
    combine({w.pa, dp, w.pb, dq}, p.x, p.x_dot, q.x, q.x_dot, to.x);
  }

private:
  /// Returns whether to stop correcting. If so, sets correction.outcome.
  static bool has_finished(CorrectorResult &correction, const SolveControl &control,
                           const int min_corrections)
  {
    if (!std::isfinite(correction.residual) || !std::isfinite(correction.target))
      correction.outcome = Outcome::not_finite;
    else if (correction.residual <= correction.target && correction.corrections >= min_corrections)
      correction.outcome = Outcome::converged;
    else if (correction.corrections >= control.max_iterations)
      correction.outcome = Outcome::iteration_limit;
    else
      return false;
    return true;
  }

  CorrectorResult with_message(CorrectorResult correction, const double lambda) const
  {
    if (correction.converged() || !correction.message.empty())
      return correction;
    std::ostringstream text;
    text.precision(6);
    text << "Newton's method did not converge to the branch near lambda = " << lambda << " in "
         << correction.corrections << " corrections: " << F.residual_name << " = ";
    text.precision(3);
    text << std::scientific << correction.residual << ", target " << correction.target << ".";
    correction.message = text.str();
    return correction;
  }

  Sums evaluate(BranchPoint &p, const BranchPoint &from)
  {
    F.set_parameter(p.lambda);
    iteration.set_state({});
    F.visit_row([&](const auto &row) {
      using Row = std::decay_t<decltype(row)>;
      iteration.once(product(F.matrix().csr(), p.x.data(),
                             Evaluate<Row>{row, metric, p.x.data(), from.x.data(),
                                           from.x_dot.data(), g.data(), r.data()}));
    });
    return iteration.get_state().sums;
  }

  Sums products(const double *const p, const double *const first, const double *const second)
  {
    iteration.set_state({});
    iteration.once(rows(F.n(), Products{metric, p, first, second}));
    return iteration.get_state().sums;
  }

  /// Refreshes J for @p p and solves J y = @p f. Returns false if the linear solve fails.
  bool solve(BranchPoint &p, const Buffer<double> &f, Buffer<double> &y,
             CorrectorResult &correction)
  {
    F.set_parameter(p.lambda);
    jacobian.refresh(F, p.x);
    return solve_with_current_jacobian(f, y, correction);
  }

  bool solve_with_current_jacobian(const Buffer<double> &f, Buffer<double> &y,
                                   CorrectorResult &correction)
  {
    y.fill_zero();
    const SolveReport report = solver.solve(*jacobian, f, y, linear_control);
    correction.linear_iterations += report.iterations;
    const bool is_rounded = report.outcome == Outcome::stagnated &&
                            report.true_residual <= max_linear_residual * report.rhs_norm;
    if (report.converged() || is_rounded)
      return true;
    correction.outcome = report.outcome;
    correction.message = "A linear system of the branch could not be solved: " + report.message;
    return false;
  }

  using Vector = Buffer<double>;
  void combine(const Coefficients &c, const Vector &v_1, const Vector &v_2, const Vector &v_3,
               const Vector &v_4, Vector &y)
  {
    runner.run(rows(F.n(), Combine{v_1.data(), v_2.data(), v_3.data(), v_4.data(), c, y.data()}));
  }

  Buffer<double> vector() const
  {
    return F.space().make_vector();
  }

  SemilinearEquation &F;
  Metric metric;
  PreconditionedSolver solver;
  JacobianMatrix<Backend> jacobian;
  SolveControl linear_control;
  Iteration<Backend, State, Sums> iteration;
  Runner<Backend> runner;
  Buffer<double> g, r, a, v;
};
} // namespace

template <>
std::unique_ptr<BranchCorrector> make_corrector_on<ThisBackend>(SemilinearEquation &F,
                                                                const BranchMetric &metric,
                                                                const LinearSolverOptions &linear)
{
  return std::make_unique<Corrector<ThisBackend>>(F, metric, linear);
}
} // namespace femgpu::linalg
