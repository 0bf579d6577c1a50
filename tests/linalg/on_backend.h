#ifndef femgpu_tests_linalg_on_backend_h
#define femgpu_tests_linalg_on_backend_h

#include "linalg/base/error.h"
#include "linalg/execution/make_executor.h"
#include "linalg/linear_solver.h"
#include "linalg/memory/executor.h"
#include "tests/linalg/test_matrices.h"
#include "tests/linalg/thread_ranks.h"

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace femgpu::linalg::test
{
constexpr double eps = 2.3e-16;

/// The preconditioners that every solver fuses into its kernels.
constexpr const char *preconditioners[] = {"identity", "jacobi"};

/// The base of tests that run on every backend and are skipped if the backend is unavailable.
class WithExecutor
{
protected:
  ExecutorPtr executor;

  /// Makes the executor of @p backend. "two_parts" denotes the host with rows distributed over two
  /// subdomains. Returns why the executor is unavailable, or an empty string.
  std::string start(const std::string &backend)
  {
    try {
      executor = make_executor(backend == "two_parts" ? "host" : backend);
    }
    catch (const DeviceError &error) {
      return error.what();
    }
    return "";
  }

  /// Returns how many of the @p bytes of a matrix are copied: none on the host, which reads the
  /// matrix in place.
  std::size_t copied_bytes(const std::size_t bytes) const
  {
    return executor->backend() == BackendKind::host ? 0 : bytes;
  }
};

/// A test that needs a CUDA device.
class OnCuda : public testing::Test, protected WithExecutor
{
protected:
  void SetUp() override
  {
    if (const std::string obstacle = start("cuda"); !obstacle.empty())
      GTEST_SKIP() << obstacle;
  }
};

/// A test whose parameter is the backend.
class OnBackend : public testing::TestWithParam<std::string>, protected WithExecutor
{
protected:
  void SetUp() override
  {
    if (const std::string obstacle = start(GetParam()); !obstacle.empty())
      GTEST_SKIP() << obstacle;
  }
};

/// The result of a solve.
struct Solved
{
  SolveReport report;
  std::vector<double> x;
};

/// Solves A x = b from x0, or from 0 if x0 is empty.
inline Solved solve(const ExecutorPtr &executor, const LinearSolverOptions &options,
                    const HostMatrix &A, const std::vector<double> &b, std::vector<double> x0 = {})
{
  x0.resize(b.size());
  LinearSolver solver(executor, options);
  solver.set_matrix(A.csr(), false);
  SolveReport report = solver.solve(b.data(), x0.data());
  return {std::move(report), std::move(x0)};
}

/// A test whose parameters are the backend (or "two_parts", see start()) and the solver.
class OnBackendWithSolver : public testing::TestWithParam<std::tuple<std::string, std::string>>,
                            protected WithExecutor
{
protected:
  void SetUp() override
  {
    solver = std::get<1>(GetParam());
    if (is_distributed() && (solver.rfind("ca-gmres", 0) == 0 || solver == "direct"))
      GTEST_SKIP() << solver << " needs all rows in one part";
    if (const std::string obstacle = start(std::get<0>(GetParam())); !obstacle.empty())
      GTEST_SKIP() << obstacle;
  }

  Solved run(const LinearSolverOptions &options, const HostMatrix &A, const std::vector<double> &b,
             const std::vector<double> &x0 = {}) const
  {
    if (!is_distributed())
      return solve(executor, options, A, b, x0);
    auto [reports, x] = solve_on_ranks(options, A, b, x0, {0, A.n / 3, A.n});
    EXPECT_EQ(reports[0].outcome, reports[1].outcome);
    EXPECT_TRUE(have_same_bits(reports[0].history, reports[1].history));
    return {std::move(reports[0]), std::move(x)};
  }

  static bool is_distributed()
  {
    return std::get<0>(GetParam()) == "two_parts";
  }

  std::string solver;
};

inline LinearSolverOptions method(const std::string &solver, const std::string &preconditioner,
                                  const double relative_tolerance = 1e-10)
{
  LinearSolverOptions options;
  options.solver = solver;
  options.preconditioner = preconditioner;
  options.control.relative_tolerance = relative_tolerance;
  return options;
}

/// Returns the name of a test with two string parameters.
inline std::string words(const testing::TestParamInfo<std::tuple<std::string, std::string>> &info)
{
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param);
  for (char &c : name)
    c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

/// Runs @p action, which must throw an Exception, and returns its message.
template <class Exception, class Action>
std::string text_of(Action &&action)
{
  try {
    action();
  }
  catch (const Exception &error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

/// Returns the backends that were compiled. A test checks at run time whether a GPU is available.
inline std::vector<std::string> compiled_backends()
{
#ifdef FEMGPU_HAVE_CUDA
  return {"host", "cuda"};
#else
  return {"host"};
#endif
}

inline auto backends()
{
  return testing::ValuesIn(compiled_backends());
}

/// Returns the compiled backends and "two_parts", the host with rows distributed over two
/// subdomains.
inline auto backends_and_two_ranks()
{
  std::vector<std::string> names = compiled_backends();
  names.emplace_back("two_parts");
  return testing::ValuesIn(names);
}

/// Returns the solvers for symmetric positive definite systems.
inline auto spd_solvers()
{
  return testing::Values(std::string("cg"), std::string("pipelined-cg"),
                         std::string("chronopoulos-gear-cg"));
}

inline auto general_solvers()
{
  return testing::Values(std::string("bicgstab"), std::string("pipelined-bicgstab"));
}

/// Returns solvers whose options determine how many vectors they use, so that the compiler does not
/// know this number.
inline auto wide_solvers()
{
  return testing::Values(std::string("idr"), std::string("idr s=1"), std::string("idr s=8"),
                         std::string("bicgstab-l"), std::string("bicgstab-l l=1"),
                         std::string("bicgstab-l l=4"));
}

/// Returns the variants of GMRES, which solve any system.
inline auto forms_of_gmres()
{
  return testing::Values(std::string("gmres"), std::string("gmres orthogonalisation=mgs"),
                         std::string("gmres orthogonalisation=cgs"), std::string("fgmres"),
                         std::string("pipelined-gmres"), std::string("ca-gmres s=4"));
}

inline std::string backend_name(const testing::TestParamInfo<std::string> &info)
{
  return info.param;
}
} // namespace femgpu::linalg::test

#endif
