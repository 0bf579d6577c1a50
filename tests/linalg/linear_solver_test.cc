#include "linalg/execution/make_executor.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace femgpu::linalg::test
{
namespace
{
class LinearSolverTest : public OnBackend
{};

TEST_P(LinearSolverTest, FollowsNewValuesRightHandSidesAndPatterns)
{
  LinearSolver solver(executor, method("pipelined-cg", "jacobi", 1e-13));
  const std::vector<double> b = {2., 4., 8.};
  std::vector<double> x(3);
  HostMatrix A = diagonal({1., 2., 4.});
  solver.set_matrix(A.csr(), false);
  EXPECT_TRUE(solver.solve(b.data(), x.data()).converged());
  EXPECT_EQ(x, (std::vector<double>{2., 2., 2.}));

  A.values = {2., 4., 8.};
  solver.set_matrix(A.csr(), true);
  EXPECT_TRUE(solver.solve(b.data(), x.data()).converged());
  EXPECT_EQ(x, (std::vector<double>{1., 1., 1.}));

  const std::vector<double> doubled = {4., 8., 16.};
  EXPECT_TRUE(solver.solve(doubled.data(), x.data()).converged());
  EXPECT_EQ(x, (std::vector<double>{2., 2., 2.}));

  const HostMatrix larger = laplacian_1d(100);
  const std::vector<double> rhs = random_vector(100, 1);
  x.assign(100, 0.);
  solver.set_matrix(larger.csr(), false);
  EXPECT_TRUE(solver.solve(rhs.data(), x.data()).converged());
  EXPECT_LE(residual_norm(larger, rhs, x), 1.01e-13 * norm(rhs));
}

TEST_P(LinearSolverTest, FirstMatrixMayClaimToHaveTheSamePattern)
{
  const HostMatrix A = diagonal({1., 2.});
  LinearSolver solver(executor, method("cg", "jacobi"));
  solver.set_matrix(A.csr(), true);
  const std::vector<double> b = {1., 2.};
  std::vector<double> x(2);
  EXPECT_TRUE(solver.solve(b.data(), x.data()).converged());
  EXPECT_EQ(x, (std::vector<double>{1., 1.}));
}

TEST_P(LinearSolverTest, ControlCanBeChangedBetweenSolves)
{
  const HostMatrix A = laplacian_2d(20, 20);
  const std::vector<double> b = random_vector(400, 1);
  std::vector<double> x(400);
  LinearSolver solver(executor, method("cg", "jacobi"));
  solver.set_matrix(A.csr(), false);
  solver.control().max_iterations = 2;
  EXPECT_EQ(solver.solve(b.data(), x.data()).outcome, Outcome::iteration_limit);
  solver.control().max_iterations = 1000;
  EXPECT_EQ(solver.solve(b.data(), x.data()).outcome, Outcome::converged);
}

TEST_P(LinearSolverTest, CountsTransferAndSetupOnce)
{
  const HostMatrix A = laplacian_2d(100, 100);
  const std::vector<double> b = random_vector(10000, 1);
  std::vector<double> x(10000);
  LinearSolver solver(executor, method("cg", "jacobi"));
  solver.set_matrix(A.csr(), false);
  const SolveReport first = solver.solve(b.data(), x.data());
  EXPECT_GT(first.costs.setup_seconds, 0.);
  EXPECT_GT(first.costs.transfer.seconds, 0.);
  EXPECT_EQ(solver.solve(b.data(), x.data()).costs.setup_seconds, 0.);
}

/// Solves with a matrix ten times as large as the memory limit.
TEST_P(LinearSolverTest, AMatrixBeyondTheMemoryGrantedIsReadFromTheHost)
{
  const ModelProblem problem = generate("banded:8000,100");
  const std::size_t bytes = 12 * problem.A.columns.size(), memory_limit = bytes / 10;
  const ExecutorPtr limited = make_executor(GetParam(), {1, memory_limit});
  for (const auto &[solver, preconditioner] : std::vector<std::pair<std::string, std::string>>{
           {"pipelined-cg", "jacobi"},
           {"gmres restart=8", "chebyshev degree=2"},
           {"ca-gmres restart=8 s=4", "identity"},
           {"ca-gmres restart=8 s=4 powers=streamed", "jacobi"},
           {"ca-gmres restart=8 s=4 powers=auto", "identity"},
           {"ca-gmres restart=18 s=4 powers=auto", "identity"}}) { // the basis leaves little memory
    SCOPED_TRACE(solver);
    const LinearSolverOptions options = method(solver, preconditioner);
    const Solved within = solve(executor, options, problem.A, problem.b);
    LinearSolver beyond(limited, options);
    std::vector<double> x(problem.b.size(), 0.);
    beyond.begin_pattern(problem.A.csr());
    beyond.set_matrix(problem.A.csr(), false);
    const SolveReport report = beyond.solve(problem.b.data(), x.data());
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_NE(report.method.format.find("from host memory"), std::string::npos)
        << report.method.format;
    EXPECT_LE(std::abs(report.iterations - within.report.iterations), 1);
    EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * report.target);
    beyond.set_matrix(problem.A.csr(), true);
    EXPECT_EQ(beyond.solve(problem.b.data(), x.data()).iterations, 0);
  }
  EXPECT_LE(limited->peak_bytes(), memory_limit);
  const std::string text = text_of<DeviceError>(
      [&] { solve(limited, method("gmres restart=100", "jacobi"), problem.A, problem.b); });
  EXPECT_NE(text.find("granted"), std::string::npos) << text;
}

TEST_P(LinearSolverTest, SamePatternMovesValuesAndVectorsAlone)
{
  HostMatrix A = laplacian_2d(40, 30);
  const std::size_t n = 1200, nonzeros = A.values.size(), of_vector = 8 * n;
  const std::vector<double> b = random_vector(1200, 1);
  std::vector<double> x(n);
  LinearSolver solver(executor, method("cg", "jacobi"));
  solver.set_matrix(A.csr(), false);
  EXPECT_EQ(solver.solve(b.data(), x.data()).costs.transfer.bytes,
            copied_bytes(4 * (n + 1) + 12 * nonzeros) + 3 * of_vector);
  for (double &value : A.values)
    value *= 2.;
  solver.set_matrix(A.csr(), true);
  std::vector<double> half(n);
  const SolveReport report = solver.solve(b.data(), half.data());
  EXPECT_EQ(report.costs.transfer.bytes, copied_bytes(8 * nonzeros) + 3 * of_vector);
  EXPECT_EQ(report.costs.transfer.overlapped_seconds, 0.);
  for (double &value : half)
    value *= 2.;
  EXPECT_LT(relative_difference(half, x), 1e-9);
  EXPECT_EQ(solver.solve(b.data(), x.data()).costs.transfer.bytes, 3 * of_vector);
}

TEST_P(LinearSolverTest, PatternThatWasBegunGivesTheSameBits)
{
  for (const char *const ordering : {"none", "rcm"}) {
    LinearSolverOptions options = method("pipelined-cg", "jacobi");
    options.ordering = ordering;
    options.scaling = "symmetric";
    LinearSolver early(executor, options), late(executor, options);
    for (const int size : {30, 90, 17}) { // a new pattern for each size
      HostMatrix A = laplacian_2d(size, size);
      const std::vector<double> b = random_vector(A.n, 1), values = A.values;
      std::vector<double> x(b.size()), y(b.size());
      A.values.assign(A.values.size(), std::nan(""));
      early.begin_pattern(A.csr());
      std::copy(values.begin(), values.end(), A.values.begin()); // in place of an assembly
      early.set_matrix(A.csr(), false);
      late.set_matrix(A.csr(), false);
      const SolveReport report = early.solve(b.data(), x.data());
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_EQ(report.costs.transfer.bytes, late.solve(b.data(), y.data()).costs.transfer.bytes);
      EXPECT_EQ(x, y);
      EXPECT_GT(report.costs.transfer.seconds, 0.);
      EXPECT_GE(report.costs.transfer.overlapped_seconds, 0.);
      EXPECT_GT(report.costs.transfer.gigabytes_per_second(), 0.);
    }
  }
}

TEST_P(LinearSolverTest, PatternThatWasBegunIsHiddenBehindTheAssembly)
{
  if (copied_bytes(1) == 0)
    GTEST_SKIP() << "the host reads the matrix where it is";
  const HostMatrix A = laplacian_2d(300, 300);
  const std::vector<double> b = random_vector(A.n, 1);
  std::vector<double> x(b.size());
  LinearSolver solver(executor, method("pipelined-cg", "jacobi"));
  solver.begin_pattern(A.csr());
  std::this_thread::sleep_for(std::chrono::milliseconds(200)); // in place of an assembly
  solver.set_matrix(A.csr(), false);
  solver.control().max_iterations = 1;
  EXPECT_GT(solver.solve(b.data(), x.data()).costs.transfer.overlapped_seconds, 0.);
}

TEST_P(LinearSolverTest, PatternMayBeBegunForNothing)
{
  const HostMatrix small = laplacian_1d(50), large = laplacian_2d(100, 100);
  const std::vector<double> b = random_vector(50, 1);
  std::vector<double> x(50);
  LinearSolver solver(executor, method("cg", "jacobi", 1e-12));
  solver.begin_pattern(large.csr());
  solver.begin_pattern(small.csr());
  solver.set_matrix(small.csr(), false);
  EXPECT_TRUE(solver.solve(b.data(), x.data()).converged());
  solver.begin_pattern(large.csr()); // the destructor waits for the background thread
}

TEST_P(LinearSolverTest, PatternThatDoesNotFitTheMatrixIsAnError)
{
  const HostMatrix small = laplacian_1d(50), large = laplacian_1d(60);
  LinearSolver solver(executor, method("cg", "jacobi"));
  solver.begin_pattern(large.csr());
  EXPECT_THROW(solver.set_matrix(small.csr(), false), SolverError);
}

TEST_P(LinearSolverTest, TooLittleMemoryForAPatternThatWasBegunIsTheSameError)
{
  if (copied_bytes(1) == 0)
    GTEST_SKIP() << "the host reads the matrix where it is";
  const HostMatrix A = laplacian_1d(50);
  HostCsr huge = A.csr();
  huge.n_nonzeros = std::size_t(1) << 58;
  LinearSolver solver(executor, method("cg", "jacobi", 1e-12));
  const std::string text = text_of<DeviceError>([&] { solver.set_matrix(huge, false); });
  EXPECT_NO_THROW(solver.begin_pattern(huge));
  const std::string again = text_of<DeviceError>([&] { solver.set_matrix(huge, false); });
  EXPECT_EQ(again.substr(0, again.find(" but only ")), text.substr(0, text.find(" but only ")));
  EXPECT_NE(text.find("iB"), std::string::npos) << text;

  const std::vector<double> b = random_vector(50, 1);
  std::vector<double> x(50);
  solver.set_matrix(A.csr(), true);
  EXPECT_TRUE(solver.solve(b.data(), x.data()).converged());
}

INSTANTIATE_TEST_SUITE_P(Backends, LinearSolverTest, backends(), backend_name);

TEST(LinearSolver, UnknownNamesAreErrors)
{
  EXPECT_THROW(LinearSolver(make_executor("host"), method("jacobi", "cg")), ParameterError);
  EXPECT_THROW(LinearSolver(make_executor("host"), method("cg", "cg")), ParameterError);
}

TEST(LinearSolver, BalancingIsRefusedWithConjugateGradients)
{
  LinearSolverOptions options = method("pipelined-cg", "jacobi");
  options.scaling = "balance";
  const std::string text =
      text_of<ParameterError>([&] { LinearSolver(make_executor("host"), options); });
  EXPECT_NE(text.find("needs a symmetric one"), std::string::npos) << text;
  options.solver = "bicgstab";
  EXPECT_NO_THROW(LinearSolver(make_executor("host"), options));
}

TEST(LinearSolver, ConjugateGradientsRefuseAnUnsymmetricPreconditionerBeforeTheyGetAMatrix)
{
  for (const char *const solver : {"cg", "pipelined-cg", "chronopoulos-gear-cg"}) {
    const std::string text = text_of<ParameterError>(
        [&] { LinearSolver(make_executor("host"), method(solver, "sai")); });
    EXPECT_NE(text.find("needs a symmetric preconditioner"), std::string::npos) << text;
  }
  EXPECT_NO_THROW(LinearSolver(make_executor("host"), method("bicgstab", "sai")));
}

/// Compares CUDA with the host. The parameters are the solver and the preconditioner.
class CudaAgainstHost : public testing::TestWithParam<std::tuple<std::string, std::string>>,
                        protected WithExecutor
{
protected:
  void SetUp() override
  {
    if (const std::string obstacle = start("cuda"); !obstacle.empty())
      GTEST_SKIP() << obstacle;
  }
};

TEST_P(CudaAgainstHost, SolutionsAndIterationsAgree)
{
  const ExecutorPtr host = make_executor("host");
  const auto &[solver, preconditioner] = GetParam();
  for (const HostMatrix &A : {laplacian_1d(33), laplacian_2d(63, 63), box_27(20, 20, 20),
                              arrow(3000), random_spd(100007, 6, 1), random_spd(5000, 50, 2)}) {
    const std::vector<double> b = random_vector(A.n, 5);
    LinearSolverOptions options = method(solver, preconditioner, 1e-13);
    const Solved reference = solve(host, options, A, b);
    EXPECT_TRUE(reference.report.converged()) << reference.report.message;
    for (const char *const format : {"csr", "csr threads=32", "sell max-padding=1e4", "pcsr"}) {
      SCOPED_TRACE(std::to_string(A.n) + " rows, " + format);
      options.format = format;
      const Solved solved = solve(executor, options, A, b);
      EXPECT_TRUE(solved.report.converged()) << solved.report.message;
      // The arrow matrix has three eigenvalues, so rounding alone determines the last steps.
      EXPECT_NEAR(solved.report.iterations, reference.report.iterations, A.n == 3000 ? 3 : 1);
      EXPECT_LT(relative_difference(solved.x, reference.x), 1e-10);
      EXPECT_EQ(solve(executor, options, A, b).x, solved.x) << "a repeat differs";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, CudaAgainstHost,
                         testing::Combine(spd_solvers(), testing::Values(std::string("identity"),
                                                                         std::string("jacobi"))),
                         words);
} // namespace
} // namespace femgpu::linalg::test
