#ifndef femgpu_tests_linalg_diffusion_equation_h
#define femgpu_tests_linalg_diffusion_equation_h

#include "linalg/execution/this_backend.h"
#include "linalg/nonlinear/branch_tracer.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/operators/csr_matrix.h"
#include "tests/linalg/test_matrices.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * An equation that is not A x = b + λ W φ(x), of which nothing but residual and Jacobian is known,
 * solved and traced: written once for every backend; nonlinear_operator_test.cc runs it on the
 * host, nonlinear_operator_cuda_test.cu on a CUDA device.
 */
namespace femgpu::linalg::test
{
/// The flux q(s) = s + s³, its derivative and its inverse.
FEMGPU_HD
double flux(const double s)
{
  return s + s * s * s;
}
FEMGPU_HD
double flux_derivative(const double s)
{
  return 1. + 3. * s * s;
}
inline double inverse_flux(const double y)
{
  return 2. / std::sqrt(3.) * std::sinh(std::asinh(1.5 * std::sqrt(3.) * y) / 3.);
}

/// r_i = λ − Σ q(x_i − x_j) over both neighbours of row i in the pattern of a Laplacian, x_j = 0
/// for those that are not there.
struct DiffusionResidual
{
  CsrView<double> A;
  const double *x;
  double lambda;
  double *r;

  FEMGPU_HD
  void operator()(const int i) const
  {
    double r_i = lambda, missing = 3.;
    const auto row = A.entries(i);
    for (int k = 0; k < row.length; ++k, missing -= 1.)
      r_i -= flux(x[i] - x[row.columns[k]]);
    r[i] = r_i - missing * flux(x[i]);
  }
};

struct DiffusionJacobian
{
  CsrView<double> A;
  const double *x;
  double *values;

  FEMGPU_HD
  void operator()(const int i) const
  {
    double diagonal = 0., missing = 3.;
    const auto row = A.entries(i);
    double *const of_row = values + A.row_starts[i];
    int place = 0;
    for (int k = 0; k < row.length; ++k, missing -= 1.)
      if (row.columns[k] == i)
        place = k;
      else {
        of_row[k] = -flux_derivative(x[i] - x[row.columns[k]]);
        diagonal -= of_row[k];
      }
    of_row[place] = diagonal + missing * flux_derivative(x[i]);
  }
};

struct SetConstant
{
  double value;
  double *v;

  FEMGPU_HD
  void operator()(const int i) const
  {
    v[i] = value;
  }
};

template <class Backend>
class DiffusionEquation final : public NonlinearOperator, public EvaluatedResidual
{
public:
  /// @param A the Laplacian of an interval, or a part of it; must outlive this
  DiffusionEquation(const CsrMatrix &A, const double lambda)
      : EvaluatedResidual(A.range(), A.domain()), A(A), r(A.executor(), size()),
        r_at_zero(A.executor(), size())
  {
    set_parameter(lambda);
  }

  const Matrix &linear_part() const override
  {
    return A;
  }
  Action action() const override
  {
    return this;
  }
  void set_parameter(const double to) override
  {
    lambda = to;
    Runner<Backend>(*A.executor()).run(rows(A.n(), SetConstant{lambda, r_at_zero.data()}));
  }

  const double *at_zero() const override
  {
    return r_at_zero.data();
  }
  View view() const override
  {
    return StoredView{A.n(), r.data()};
  }
  const double *prepare(StepRunner &runner, double *x) const override
  {
    run(runner, DiffusionResidual{A.csr_view(), x, lambda, r.data()});
    return r.data();
  }
  void set_jacobian(StepRunner &runner, const double *x, double *values) const override
  {
    run(runner, DiffusionJacobian{A.csr_view(), x, values});
  }
  void set_derivative(StepRunner &runner, const double * /* x */, double *g) const override
  {
    run(runner, SetConstant{1., g});
  }

private:
  std::size_t size() const
  {
    return static_cast<std::size_t>(A.n());
  }
  template <class Body>
  void run(StepRunner &runner, const Body &body) const
  {
    static_cast<Runner<Backend> &>(runner).run(rows(A.n(), body));
  }

  const CsrMatrix &A;
  double lambda = 0.;
  mutable Buffer<double> r;
  Buffer<double> r_at_zero;
};

/// Unknown x_k of the solution with @p m unknowns: the flux falls by λ from each to the next.
inline double exact_diffusion(const int m, const double lambda, const int k)
{
  double x = 0.;
  for (int j = 0; j <= k; ++j)
    x += inverse_flux(lambda * (0.5 * m - j));
  return x;
}

inline void expect_exact(const Buffer<double> &x, const RowSpace &space, const double lambda,
                         const double tolerance)
{
  const std::vector<double> values = x.to_host();
  for (int i = 0; i < space.n(); ++i)
    ASSERT_NEAR(values[static_cast<std::size_t>(i)],
                exact_diffusion(static_cast<int>(space.n_global()), lambda,
                                static_cast<int>(space.first()) + i),
                tolerance)
        << i;
}

/// Newton's method and nonlinear conjugate gradients, on the rows of @p A.
template <class Backend>
void check_methods(const CsrMatrix &A)
{
  constexpr double lambda = 0.03;
  const DiffusionEquation<Backend> equation(A, lambda);
  for (const std::string method : {"newton", "nlcg", "nlcg beta=polak-ribiere"})
    for (const std::string preconditioner : {"identity", "jacobi", "chebyshev"}) {
      SCOPED_TRACE(method + " with " + preconditioner);
      LinearSolverOptions linear;
      linear.solver = "cg";
      linear.preconditioner = preconditioner;
      SolveControl control;
      control.relative_tolerance = 1e-11;
      Buffer<double> x = equation.space().make_vector();
      x.fill_zero();
      const auto solver = make_nonlinear_method(method, linear, Backend::kind);
      solver->setup(equation, /* same pattern */ false);
      const SolveReport report = solver->solve(equation, x, control);
      ASSERT_TRUE(report.converged()) << report.message;
      EXPECT_NEAR(report.rhs_norm, lambda * std::sqrt(equation.space().n_global()), 1e-12);
      EXPECT_LE(report.iterations, method == "newton" ? 12 : 250);
      expect_exact(x, equation.space(), lambda, 1e-7);
    }
}

/// From λ = 0 to 0.1, with a solution for 0.03 on the way.
template <class Backend>
void check_branch(const CsrMatrix &A)
{
  DiffusionEquation<Backend> equation(A, 0.);
  const RowSpace &space = equation.space();
  Buffer<double> weights = space.make_vector();
  const std::vector<double> ones(weights.size(), 1.);
  weights.copy_from_host(ones.data());
  ContinuationOptions options;
  options.linear.preconditioner = "jacobi";
  options.largest_step = 2.;
  options.targets = {0.03};
  options.lambda_end = 0.1;
  const auto corrector = make_branch_corrector(
      equation, {weights, 1. / static_cast<double>(space.n_global())}, options.linear);
  BranchTracer tracer(*corrector, options, space,
                      [&](const BranchPoint &p, BranchRecord & /* record */) {
                        expect_exact(p.x, space, p.lambda, 1e-5);
                      });
  const ContinuationReport report = tracer.trace();
  EXPECT_TRUE(report.converged()) << report.message;
  ASSERT_GT(report.records.size(), 3U);
  EXPECT_EQ(report.records.back().lambda, 0.1);
}
} // namespace femgpu::linalg::test

#endif
