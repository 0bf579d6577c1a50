#include "linalg/direct_fallback.h"
#include "linalg/linear_solver.h"
#include "tests/linalg/on_backend.h"

#ifdef FEMGPU_HAVE_CUDA
#include "linalg/direct/cudss_library.h"
#endif

#include <cmath>
#include <cstdlib>

namespace femgpu::linalg::test
{
namespace
{
/// Tests the direct solver on the host, and on a CUDA device if cuDSS is found.
class DirectTest : public OnBackend
{
protected:
  void SetUp() override
  {
    OnBackend::SetUp();
    if (IsSkipped())
      return;
    LinearSolverOptions options;
    options.solver = "direct";
    solver = std::make_unique<LinearSolver>(executor, options);
    const HostMatrix A = laplacian_1d(1);
    try {
      solver->set_matrix(A.csr(), false);
    }
    catch (const DeviceError &error) {
      GTEST_SKIP() << error.what();
    }
    catch (const ParameterError &error) {
      GTEST_SKIP() << error.what();
    }
  }

  Solved solve(const HostMatrix &A, const std::vector<double> &b, const bool same_pattern = false,
               const double tolerance = 1e-10)
  {
    solver->control().relative_tolerance = tolerance;
    std::vector<double> x(b.size(), guess);
    solver->set_matrix(A.csr(), same_pattern);
    SolveReport report = solver->solve(b.data(), x.data());
    return {std::move(report), std::move(x)};
  }

  void expect_solved(const HostMatrix &A, const bool same_pattern = false)
  {
    const std::vector<double> exact = random_vector(A.n, 1);
    const auto [report, x] = solve(A, multiply(A, exact), same_pattern);
    EXPECT_EQ(to_string(report.outcome), "converged") << report.message;
    EXPECT_LT(relative_difference(x, exact), 1e-8) << report.method.solver_remarks;
  }

  void expect_singular(const HostMatrix &A, const std::vector<double> &b)
  {
    const auto [report, x] = solve(A, b);
    EXPECT_EQ(to_string(report.outcome), "breakdown") << report.message;
    EXPECT_EQ(x, std::vector<double>(b.size(), guess));
  }

  static constexpr double guess = 0.25;
  std::unique_ptr<LinearSolver> solver;
};

TEST_P(DirectTest, SolvesMatricesOfAllKindsAndSizes)
{
  for (const int n : {1, 2, 31, 32, 33, 597})
    expect_solved(laplacian_1d(n));
  expect_solved(laplacian_2d(61, 43));
  expect_solved(box_27(17, 9, 11));
  expect_solved(convection_diffusion(40, 37, 5., -3.));
  expect_solved(random_dominant(500, 7, 1));
  expect_solved(arrow(100));
}

TEST_P(DirectTest, SolvesIndefiniteMatrices)
{
  expect_solved(dense({{1., 2.}, {2., 1.}}));                          // positive diagonal
  expect_solved(dense({{0., 1., 0.}, {0., 0., 2.}, {3., 0., 0.}}));    // zero diagonal
  expect_solved(dense({{2., 0., 1.}, {0., 3., -1.}, {1., -1., 0.}}));  // saddle point
  expect_solved(dense({{-2., 1., 0.}, {1., -2., 1.}, {0., 1., -2.}})); // negative definite
  HostMatrix A = laplacian_2d(30, 30); // below the second eigenvalue
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      A.values[k] -= A.columns[k] == i ? 0.05 : 0.;
  expect_solved(A);
}

TEST_P(DirectTest, DoesNotDependOnUnits)
{
  for (const double unit : {1e-30, 1e30}) {
    HostMatrix A = laplacian_2d(20, 20), B = convection_diffusion(20, 20, 5., -3.);
    for (HostMatrix *const matrix : {&A, &B})
      for (int i = 0; i < matrix->n; ++i) { // odd unknowns have another unit
        for (int k = matrix->row_starts[i]; k < matrix->row_starts[i + 1]; ++k)
          matrix->values[k] *=
              (i % 2 == 1 ? 1e-4 : 1.) * (matrix->columns[k] % 2 == 1 ? 1e-4 : 1.) * unit;
      }
    expect_solved(A);
    expect_solved(B);
  }
}

TEST_P(DirectTest, NewValuesMayReuseTheAnalysis)
{
  HostMatrix A = laplacian_2d(40, 41); // is regular without its diagonal, too
  expect_solved(A);
  for (double &value : A.values)
    value *= 3.;
  expect_solved(A, true);
  A.values[1] -= 0.5; // unsymmetric
  expect_solved(A, true);
  for (int i = 0; i < A.n; ++i) // tiny diagonal entries: other pivots
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      A.values[k] = A.columns[k] == i ? 1e-9 : A.values[k] * (1. + 0.01 * i);
  const std::vector<double> b = random_vector(A.n, 2);
  const SolveReport report = solve(A, b, true).report;
  if (executor->backend() == BackendKind::host)
    EXPECT_TRUE(report.converged()) << report.message;
  else // cuDSS exchanges rows only within a supernode
    EXPECT_TRUE(report.converged() || report.message.find("use backend host") != std::string::npos)
        << report.message;
  A.values = laplacian_2d(40, 41).values;
  expect_solved(A, true);
  solver->release();
  expect_solved(A);
}

TEST_P(DirectTest, SingularMatricesBreakDownAndKeepTheGuess)
{
  expect_singular(dense({{1., 1.}, {1., 1.}}), {1., 0.});
  expect_singular(dense({{1., 2., 0.}, {0., 0., 0.}, {3., 0., 1.}}), {1., 1., 1.}); // zero row
  expect_singular(dense({{1., 2., 3.}, {1., 0., 0.}, {2., 0., 0.}}), {1., 1., 1.}); // no matching
  expect_solved(laplacian_1d(3));
}

TEST_P(DirectTest, SolutionOfANearlySingularMatrixIsNotAccepted)
{
  const HostMatrix A = neumann_1d(50);
  const SolveReport report = solve(A, random_vector(A.n, 1)).report;
  EXPECT_FALSE(report.converged()) << report.message;
}

TEST_P(DirectTest, RepeatedSolvesAreIdenticalUnlessReportedOtherwise)
{
  const HostMatrix A = box_27(12, 12, 12);
  const std::vector<double> b = random_vector(A.n, 3);
  const Solved first = solve(A, b), second = solve(A, b, true), third = solve(A, b);
  if (first.report.method.is_reproducible) {
    EXPECT_TRUE(have_same_bits(first.x, third.x));
    EXPECT_LT(relative_difference(first.x, second.x), 1e-12);
  }
  else
    EXPECT_NE(first.report.method.solver_remarks.find("last bits"), std::string::npos);
}

TEST_P(DirectTest, ReportNamesTheBackend)
{
  const HostMatrix A = laplacian_1d(5);
  const SolveReport report = solve(A, {1., 2., 3., 4., 5.}).report;
  EXPECT_EQ(report.method.backend, executor->name());
  EXPECT_EQ(report.method.solver, "direct");
  EXPECT_EQ(report.iterations, 0);
  EXPECT_LE(report.true_residual, report.target);
}

TEST_P(DirectTest, SolvesScaledAndReorderedSystemsAndSeveralColumns)
{
  LinearSolverOptions options;
  options.solver = "direct";
  options.scaling = "matching";
  options.ordering = "rcm";
  options.format = "sell";
  LinearSolver transformed(executor, options);
  const HostMatrix A = convection_diffusion(30, 31, 5., -3.);
  transformed.set_matrix(A.csr(), false);
  const std::vector<double> exact = random_vector(2 * A.n, 1);
  std::vector<double> B, X(exact.size());
  for (int c = 0; c < 2; ++c) {
    const auto begin = exact.begin() + static_cast<std::ptrdiff_t>(c) * A.n;
    const std::vector<double> b = multiply(A, {begin, begin + A.n});
    B.insert(B.end(), b.begin(), b.end());
  }
  for (const SolveReport &report : transformed.solve(B.data(), X.data(), 2))
    EXPECT_EQ(report.outcome, Outcome::converged) << report.message;
  EXPECT_LT(relative_difference(X, exact), 1e-9);
}

TEST_P(DirectTest, GuessesChangeNothing)
{
  const HostMatrix A = box_27(6, 7, 8);
  const std::vector<double> exact = random_vector(A.n, 1), b = multiply(A, exact);
  solver->set_matrix(A.csr(), false);
  for (const double guess : {0., 1., 1e10, 1e300, std::nan("")}) {
    std::vector<double> x(b.size(), guess);
    const SolveReport report = solver->solve(b.data(), x.data());
    EXPECT_LT(relative_difference(x, exact), 1e-10) << guess << " " << report.message;
  }
}

TEST_P(DirectTest, OperatorsWithoutEntriesAreRefused)
{
  const HostMatrix A = laplacian_1d(5);
  EXPECT_THROW(solver->set_operator(std::make_shared<CsrMatrix>(executor, A.csr())), SolverError);
}

TEST_P(DirectTest, FallsBackToTheHost)
{
  const HostMatrix A = laplacian_2d(10, 10);
  const std::vector<double> b = random_vector(A.n, 1);
  std::vector<double> x(b.size());
  EXPECT_TRUE(solve_direct(executor, A.csr(), b.data(), x.data(), {}).converged());
  EXPECT_LT(residual_norm(A, b, x), 1e-10 * norm(b));
}

INSTANTIATE_TEST_SUITE_P(Backends, DirectTest, backends(), backend_name);

#ifdef FEMGPU_HAVE_CUDA
TEST(CudssTest, MissingLibraryIsAnErrorWithTheCure)
{
  const std::string text = text_of<DeviceError>([] { CudssLibrary("/nowhere/libcudss.so.1"); });
  for (const char *const part :
       {"needs cuDSS", "/nowhere/libcudss.so.1", "pip install", "FEMGPU_CUDSS", "backend host"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(CudssTest, OtherLibrariesAndVersionsAreRefused)
{
  const std::string other = text_of<DeviceError>([] { CudssLibrary("libm.so.6"); });
  EXPECT_NE(other.find("libm.so.6 has no function cudssGetProperty"), std::string::npos) << other;
  const std::string old = text_of<DeviceError>([] { CudssLibrary(FEMGPU_OLD_CUDSS); });
  EXPECT_NE(old.find("needs cuDSS 1.0"), std::string::npos) << old;
  EXPECT_NE(old.find("has version 0.7.1"), std::string::npos) << old;
}

TEST(CudssTest, LibraryHasAllFunctions)
{
  const char *const file = std::getenv("FEMGPU_CUDSS");
  if (file == nullptr)
    GTEST_SKIP() << "FEMGPU_CUDSS does not name a library";
  EXPECT_EQ(CudssLibrary(file).version.rfind("1.0.", 0), 0U);
}

/// Tests cuDSS on a CUDA device whose memory is limited.
TEST(CudssTest, ExhaustedMemoryIsAnErrorWithNumbers)
{
  ExecutorPtr executor;
  try {
    executor = make_executor("cuda", {0, std::size_t{32} << 20});
    CudssLibrary::get();
  }
  catch (const DeviceError &error) {
    GTEST_SKIP() << error.what();
  }
  const HostMatrix A = laplacian_3d(40, 40, 40); // the factors need several hundred megabytes
  LinearSolverOptions options;
  options.solver = "direct";
  LinearSolver solver(executor, options);
  const std::string text = text_of<DeviceError>([&] { solver.set_matrix(A.csr(), false); });
  EXPECT_NE(text.find("granted"), std::string::npos) << text;
  const HostMatrix small = laplacian_1d(10);
  solver.set_matrix(small.csr(), false);
  const std::vector<double> b = random_vector(small.n, 1);
  std::vector<double> x(b.size());
  EXPECT_TRUE(solver.solve(b.data(), x.data()).converged());
}
#endif
} // namespace
} // namespace femgpu::linalg::test
