#include "linalg/matrices/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "tests/linalg/test_matrices.h"
#include "tests/ranks/ranks.h"

#include <cstdlib>
#include <fstream>
#include <set>

namespace femgpu::linalg::test
{
namespace
{
/// The outcome of a distributed solve.
struct Result
{
  std::string text;    ///< iterations such as "12", "iteration_limit", or "refused"
  std::string message; ///< set if refused
};

/// Tests every method of the registries with every communicator.
class EveryMethod : public RanksOn
{
protected:
  Result try_to_solve(const LinearSolverOptions &options, const std::string &communicator)
  {
    const ModelProblem problem = problem_for(options.solver);
    std::vector<double> x;
    try {
      const SolveReport report = solve(options, problem.A, problem.b, communicator, x);
      if (!report.converged())
        return {to_string(report.outcome), ""};
      EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * report.target);
      return {std::to_string(report.iterations), ""};
    }
    catch (const Error &error) {
      return {"refused", error.what()};
    }
  }

  /// Adds a line to the table and checks that the communicators agree.
  void add(const std::string &name, const LinearSolverOptions &options)
  {
    SCOPED_TRACE(name);
    lines += "| " + name + " |";
    std::set<std::string> refusals;
    int n_refused = 0;
    for (const std::string &communicator : communicators()) {
      const Result result = try_to_solve(options, communicator);
      lines += " " + result.text + " |";
      if (result.text != "refused")
        continue;
      ++n_refused;
      EXPECT_GT(result.message.size(), 20U) << "says why, and what to do";
      refusals.insert(result.message);
    }
    EXPECT_TRUE(n_refused == 0 || n_refused == static_cast<int>(communicators().size()));
    for (const std::string &refusal : refusals)
      lines += " " + refusal;
    lines += " |\n";
  }

  void add_head(const std::string &what)
  {
    lines += "\n| " + what + " |";
    for (const std::string &communicator : communicators())
      lines += " " + communicator + " |";
    lines += " why refused |\n|";
    for (std::size_t k = 0; k < communicators().size() + 2; ++k)
      lines += "---|";
    lines += "\n";
  }

  void write(const std::string &name) const
  {
    std::ofstream file(name);
    file << lines;
    EXPECT_TRUE(file.flush()) << name;
  }

  std::string lines;
};

/// Writes a table for the backend that ran last to the file that FEMGPU_METHODS_TABLE names.
/// Without this variable, the host is skipped, because distributed_test.cc covers most methods on
/// the host.
TEST_P(EveryMethod, SolvesOrIsRefusedWithItsMessage)
{
  const char *const table = std::getenv("FEMGPU_METHODS_TABLE");
  if (executor->backend() == BackendKind::host && table == nullptr)
    GTEST_SKIP() << "no table is asked for";
  add_head("solver, preconditioner");
  for (const Choice &solver : solvers.choices())
    for (const Choice &preconditioner : linalg::preconditioners.choices()) {
      LinearSolverOptions options = methods(solver.name, preconditioner.name);
      options.control.max_iterations = 400;
      add(solver.name + ", " + preconditioner.name, options);
    }
  add_head("format");
  for (const Choice &format : formats.choices()) {
    LinearSolverOptions options = methods("pipelined-cg", "jacobi");
    options.format = format.name;
    add(format.name, options);
  }
  if (table != nullptr && own_rank() == 0)
    write(table);
}

INSTANTIATE_TEST_SUITE_P(Backends, EveryMethod, testing::Values("host", "cuda"),
                         [](const auto &info) { return info.param; });
} // namespace
} // namespace femgpu::linalg::test
