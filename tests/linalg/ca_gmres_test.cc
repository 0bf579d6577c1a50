#include "linalg/base/lapack.h"
#include "linalg/powers/arnoldi_matrix.h"
#include "linalg/powers/krylov_basis.h"
#include "linalg/solvers/registry.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace femgpu::linalg::test
{
namespace
{
using Complex = std::complex<double>;

TEST(Lapack, EigenvaluesOfAHessenbergMatrix)
{
  // The companion matrix of (z - 2)(z² + 2 z + 5), stored by columns with leading dimension 4.
  const std::vector<double> H = {0., 1., 0., 7., 10., 0., 1., 7., -1., 0., 0., 7.};
  std::vector<double> companion = H;
  companion[0] = 0.;
  companion[4] = 0.;
  companion[8] = 10.; // z³ = 10 - z - 0 z²
  companion[9] = -1.;
  companion[10] = 0.;
  const std::vector<Complex> values = hessenberg_eigenvalues(companion, 3, 4);
  ASSERT_EQ(values.size(), 3U);
  for (const Complex &z : values)
    EXPECT_NEAR(std::abs(z * z * z + z - 10.), 0., 1e-12);
  EXPECT_TRUE(hessenberg_eigenvalues({}, 0, 1).empty());
}

TEST(Lapack, ConditionNumbers)
{
  EXPECT_NEAR(condition_number({4., 0., 0., 0.5}, 2), 8., 1e-14);
  EXPECT_NEAR(condition_number({1., 0., 0., 1.}, 2), 1., 1e-15);
  EXPECT_TRUE(std::isinf(condition_number({1., 1., 1., 1. - 1e-300}, 2)) ||
              condition_number({1., 1., 1., 1.}, 2) > 1e15);
  EXPECT_TRUE(std::isinf(condition_number({std::nan(""), 0., 0., 1.}, 2)));
}

TEST(KrylovBasis, LejaOrderByHand)
{
  const std::vector<Complex> ordered = leja_order({{1., 0.}, {3., 0.}, {2.5, 0.}, {0., 0.}}, 4);
  // Leja order: 3, then the farthest point 0, then 1, because |1-3||1-0| = 2 exceeds
  // |2.5-3||2.5-0| = 1.25.
  EXPECT_EQ(ordered, (std::vector<Complex>{{3., 0.}, {0., 0.}, {1., 0.}, {2.5, 0.}}));
  EXPECT_EQ(leja_order({{1., 0.}, {1., 0.}, {1., 0.}}, 3).size(), 3U);
}

TEST(KrylovBasis, ComplexPairsStayTogether)
{
  const std::vector<Complex> ritz = {{1., 0.}, {0., 2.}, {0., -2.}, {0.5, 0.}};
  const std::vector<Complex> ordered = leja_order(ritz, 4);
  EXPECT_EQ(ordered[0], Complex(0., 2.));
  EXPECT_EQ(ordered[1], Complex(0., -2.));
  const std::vector<BasisStep> steps = newton_basis(ritz, 2);
  EXPECT_EQ(steps[0].shift, 0.);
  EXPECT_EQ(steps[0].square, 0.);
  EXPECT_NEAR(steps[1].square, 4. * steps[0].scale, 1e-15);
}

TEST(KrylovBasis, WithoutRitzValuesThereAreMonomials)
{
  for (const BasisStep &step : newton_basis({}, 3)) {
    EXPECT_EQ(step.shift, 0.);
    EXPECT_EQ(step.scale, 1.);
  }
  EXPECT_EQ(monomial_basis({{0., 4.}, {0., -4.}}, 2)[1].scale, 0.25);
}

/// Tests all variants of CA-GMRES, some with explicit options and others with the defaults.
class CaGmresTest : public OnBackend
{
protected:
  SolveReport run(const std::string &solver, const std::string &system,
                  const std::string &preconditioner, const double tolerance = 1e-8,
                  const int max_iterations = 20000) const
  {
    const ModelProblem problem = generate(system);
    LinearSolverOptions options = method(solver, preconditioner, tolerance);
    options.control.max_iterations = max_iterations;
    return solve(executor, options, problem.A, problem.b).report;
  }
};

TEST_P(CaGmresTest, NeedsAsManyRestartsAsGmres)
{
  for (const char *const system : {"convection-diffusion2d:40,1", "convection-diffusion2d:40,1000",
                                   "elasticity3d-p1:4", "poisson2d-p1:40"})
    for (const char *const preconditioner : {"identity", "jacobi", "ilu"}) {
      const SolveReport reference = run("gmres restart=30", system, preconditioner);
      for (const char *const options :
           {"s=1", "s=5", "s=7 borth=mgs", "s=10 tsqr=caqr", "s=15 tsqr=svqr", "s=5 tsqr=mgs",
            "s=5 tsqr=cgs", "s=5 basis=monomial", "s=5 passes=1"}) {
        const SolveReport report =
            run(std::string("ca-gmres restart=30 ") + options, system, preconditioner);
        EXPECT_TRUE(report.converged()) << report.message;
        EXPECT_NEAR(report.restarts, reference.restarts, std::max(1., 0.1 * reference.restarts))
            << options << " on " << system << " with " << preconditioner;
        EXPECT_NEAR(report.iterations, reference.iterations,
                    std::max(3., 0.1 * reference.iterations))
            << options << " on " << system << " with " << preconditioner;
      }
    }
}

TEST_P(CaGmresTest, PowersMayBeMadeInAnyWay)
{
  const SolveReport plain = run("ca-gmres restart=30 s=6", "convection-diffusion2d:60,2", "jacobi");
  for (const char *const powers : {"powers=blocked block=400", "powers=streamed", "powers=auto"}) {
    const SolveReport report = run(std::string("ca-gmres restart=30 s=6 ") + powers,
                                   "convection-diffusion2d:60,2", "jacobi");
    EXPECT_TRUE(report.converged()) << powers << ": " << report.message;
    EXPECT_NEAR(report.iterations, plain.iterations, 2) << powers;
  }
}

// Set-up builds the matrix powers from copies of the matrix's values. A change of the values must
// update these copies.
TEST_P(CaGmresTest, PowersFollowTheMatrix)
{
  const ModelProblem problem = generate("poisson2d-p1:60");
  HostMatrix twice = problem.A;
  for (double &value : twice.values)
    value *= 2.;
  for (const std::string powers : {"plain", "blocked block=400", "streamed", "auto"}) {
    SCOPED_TRACE(powers);
    LinearSolver solver(executor, method("ca-gmres restart=30 s=6 powers=" + powers, "jacobi"));
    std::vector<double> first(problem.b.size(), 0.), again = first, halved = first;
    solver.set_matrix(problem.A.csr(), false);
    const SolveReport report = solver.solve(problem.b.data(), first.data());
    solver.solve(problem.b.data(), again.data());
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_TRUE(have_same_bits(first, again));
    solver.set_matrix(twice.csr(), true);
    EXPECT_TRUE(solver.solve(problem.b.data(), halved.data()).converged());
    for (double &value : halved)
      value *= 2.;
    EXPECT_TRUE(have_same_bits(first, halved)); // scaling by powers of two is exact
  }
}

// In a long block, the vectors of a monomial basis are linearly dependent up to rounding. The
// solver must detect and report this dependence, and recover.
TEST_P(CaGmresTest, ABasisThatIsTooIllConditionedIsTold)
{
  for (const char *const tsqr : {"cholqr", "svqr", "caqr"}) {
    const SolveReport report =
        run(std::string("ca-gmres restart=60 s=30 basis=monomial tsqr=") + tsqr, "poisson2d-p1:64",
            "jacobi");
    EXPECT_TRUE(report.converged()) << tsqr << ": " << report.message;
    EXPECT_NE(report.method.solver_remarks.find(';'), std::string::npos)
        << report.method.solver_remarks;
    const SolveReport newton =
        run(std::string("ca-gmres restart=60 s=10 tsqr=") + tsqr, "poisson2d-p1:64", "jacobi");
    EXPECT_TRUE(newton.converged()) << tsqr << ": " << newton.message;
    EXPECT_EQ(newton.method.solver_remarks.find("reduced"), std::string::npos)
        << newton.method.solver_remarks;
  }
}

TEST_P(CaGmresTest, ErrorsAreMeasuredOnRequest)
{
  const SolveReport report =
      run("ca-gmres restart=40 s=8 errors=yes tsqr=caqr", "convection-diffusion2d:40,1", "jacobi");
  EXPECT_TRUE(report.converged()) << report.message;
  const std::size_t at = report.method.solver_remarks.find("orthogonality error ");
  ASSERT_NE(at, std::string::npos) << report.method.solver_remarks;
  EXPECT_LT(std::stod(report.method.solver_remarks.substr(at + 20)), 1e-12);
}

TEST_P(CaGmresTest, RefusesWhatItCannotDo)
{
  for (const char *const wrong :
       {"ca-gmres s=0", "ca-gmres s=33", "ca-gmres basis=chebyshev", "ca-gmres tsqr=qr",
        "ca-gmres powers=fast", "ca-gmres passes=3", "ca-gmres step=3"})
    EXPECT_THROW(make_solver(wrong, executor->backend()), ParameterError) << wrong;
  const std::string text = text_of<ParameterError>(
      [&] { run("ca-gmres powers=blocked", "convection-diffusion2d:10,1", "ilu"); });
  EXPECT_NE(text.find("powers=plain"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Backends, CaGmresTest, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
