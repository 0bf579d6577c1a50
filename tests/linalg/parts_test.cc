#include "tests/linalg/on_backend.h"

#include "linalg/generators/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace femgpu::linalg::test
{
namespace
{
/// Parts of very different size, one of them without rows.
std::vector<int> uneven(const HostMatrix &A)
{
  return {0, A.n / 5, A.n / 5, A.n / 2, A.n};
}

ModelProblem problem_for(const std::string &solver)
{
  return generate(solvers.traits(solver).needs_symmetry ? "poisson2d-5pt:31x23"
                                                        : "convection-diffusion2d:29,0.5");
}

/// Every solver of the registry but ca-gmres, which needs one part, and stationary iterations,
/// which do not converge with any preconditioner (richardson_test.cc).
std::vector<std::string> solvers_with_parts()
{
  std::vector<std::string> names;
  for (const Choice &choice : solvers.choices())
    if (choice.name != "ca-gmres" && choice.name != "richardson" && choice.name != "multigrid")
      names.push_back(choice.name);
  return names;
}

class PartsTest : public testing::TestWithParam<std::string>
{};

// Chebyshev and Neumann are made of products with A, whose ghosts they bring themselves.
TEST_P(PartsTest, TakeTheIterationsOfOnePart)
{
  const ModelProblem problem = problem_for(GetParam());
  for (const char *const preconditioner : {"identity", "jacobi", "chebyshev degree=3", "neumann"}) {
    const LinearSolverOptions options = method(GetParam(), preconditioner);
    const Solved alone = solve(std::make_shared<HostExecutor>(1), options, problem.A, problem.b);
    const auto [reports, x] = solve_in_parts(options, problem.A, problem.b, {}, uneven(problem.A));
    for (const SolveReport &report : reports) {
      EXPECT_TRUE(report.converged()) << preconditioner << ": " << report.message;
      EXPECT_LE(std::abs(report.iterations - alone.report.iterations),
                2 + alone.report.iterations / 20)
          << preconditioner;
      EXPECT_EQ(report.true_residual, reports[0].true_residual);
      EXPECT_NEAR(report.rhs_norm, alone.report.rhs_norm, 1e-14 * alone.report.rhs_norm);
    }
    EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * reports[0].target);
  }
}

TEST_P(PartsTest, RepeatBitForBit)
{
  const ModelProblem problem = problem_for(GetParam());
  const LinearSolverOptions options = method(GetParam(), "jacobi");
  const auto first = solve_in_parts(options, problem.A, problem.b, {}, uneven(problem.A));
  const auto again = solve_in_parts(options, problem.A, problem.b, {}, uneven(problem.A));
  EXPECT_TRUE(have_same_bits(again.x, first.x));
  EXPECT_TRUE(have_same_bits(again.reports[0].history, first.reports[0].history));
}

TEST_P(PartsTest, HaveAnyPreconditionerOfTheirOwnBlocks)
{
  const ModelProblem problem = problem_for("cg");
  const bool needs_symmetry = solvers.traits(GetParam()).needs_symmetry;
  for (const Choice &choice : linalg::preconditioners.choices()) {
    if (needs_symmetry && choice.name == "sai")
      continue;
    const auto [reports, x] = solve_in_parts(method(GetParam(), choice.name), problem.A, problem.b,
                                             {}, uneven(problem.A));
    EXPECT_TRUE(reports[0].converged()) << choice.name << ": " << reports[0].message;
    EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * reports[0].target) << choice.name;
    const bool is_of_block =
        reports[0].method.setup.remarks.find("of each part's own block") != std::string::npos;
    EXPECT_EQ(is_of_block, !linalg::preconditioners.traits(choice.name).takes_ghosts)
        << choice.name;
  }
}

TEST(Parts, TakeNoMultigridByThemselves)
{
  const ModelProblem problem = generate("poisson2d-5pt:300");
  LinearSolverOptions options = method("cg", "auto");
  const auto [reports, x] = solve_in_parts(options, problem.A, problem.b, {}, {0, 20000, 90000});
  EXPECT_TRUE(reports[0].converged()) << reports[0].message;
  EXPECT_NE(
      reports[1].method.setup.remarks.find("jacobi for good: Multigrid needs all rows in one"),
      std::string::npos)
      << reports[1].method.setup.remarks;
}

TEST(Parts, HaveNumbersOfAnySize)
{
  const ModelProblem problem = generate("poisson2d-5pt:20");
  std::vector<double> tiny = problem.b;
  for (double &value : tiny)
    value = std::ldexp(value, -900);
  std::fill_n(tiny.begin(), 50, 0.); // the first part needs the units of the other
  std::vector<double> ordinary = problem.b;
  std::fill_n(ordinary.begin(), 50, 0.);
  const auto solve = [&](const std::vector<double> &b) {
    return solve_in_parts(method("pipelined-cg", "jacobi"), problem.A, b, {}, {0, 50, 400});
  };
  const auto expected = solve(ordinary), found = solve(tiny);
  EXPECT_TRUE(found.reports[0].converged()) << found.reports[0].message;
  for (std::size_t i = 0; i < found.x.size(); ++i)
    EXPECT_EQ(std::ldexp(found.x[i], 900), expected.x[i]);
  EXPECT_EQ(found.reports[0].backward_error, expected.reports[1].backward_error);
}

TEST_P(PartsTest, HaveAMatrixInAnyFormat)
{
  const ModelProblem problem = problem_for(GetParam());
  for (const char *const format :
       {"csr", "csr values=float", "ellpack-r", "sell columns=short", "coo", "pcsr"}) {
    LinearSolverOptions options = method(GetParam(), "jacobi");
    options.format = format;
    const auto [reports, x] = solve_in_parts(options, problem.A, problem.b, {}, uneven(problem.A));
    EXPECT_TRUE(reports[0].converged()) << format << ": " << reports[0].message;
    EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * reports[0].target) << format;
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, PartsTest, testing::ValuesIn(solvers_with_parts()),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class PartsOnCuda : public OnCuda
{};

TEST_F(PartsOnCuda, TakeTheIterationsOfPartsOnTheHost)
{
  for (const std::string &solver : solvers_with_parts()) {
    const ModelProblem problem = problem_for(solver);
    for (const char *const preconditioner :
         {"identity", "jacobi", "chebyshev degree=3", "block-jacobi", "ilu", "fsai", "multigrid"}) {
      SCOPED_TRACE(solver + " with " + preconditioner);
      const LinearSolverOptions options = method(solver, preconditioner);
      const auto on_host = solve_in_parts(options, problem.A, problem.b, {}, uneven(problem.A));
      const auto [reports, x] =
          solve_in_parts(options, problem.A, problem.b, {}, uneven(problem.A), "cuda");
      for (const SolveReport &report : reports) {
        EXPECT_EQ(report.outcome, on_host.reports[0].outcome) << report.message;
        EXPECT_LE(std::abs(report.iterations - on_host.reports[0].iterations),
                  2 + on_host.reports[0].iterations / 10);
        EXPECT_TRUE(have_same_bits(report.history, reports[0].history));
      }
      if (reports[0].converged()) {
        EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * reports[0].target);
      }
    }
  }
}

TEST_F(PartsOnCuda, HaveAMatrixInAnyFormatAndRepeatBitForBit)
{
  const ModelProblem problem = generate("elasticity3d-p1:5");
  for (const char *const format :
       {"csr", "csr values=float", "ellr-t", "sell columns=short", "coo", "pcsr"}) {
    SCOPED_TRACE(format);
    LinearSolverOptions options = method("pipelined-cg", "jacobi");
    options.format = format;
    const std::vector<int> starts = {0, problem.A.n / 3, problem.A.n};
    const auto first = solve_in_parts(options, problem.A, problem.b, {}, starts, "cuda");
    const auto again = solve_in_parts(options, problem.A, problem.b, {}, starts, "cuda");
    EXPECT_TRUE(first.reports[0].converged()) << first.reports[0].message;
    EXPECT_EQ(first.reports[0].method.execution, "driven by the host");
    EXPECT_TRUE(have_same_bits(first.x, again.x));
  }
  LinearSolverOptions options = method("pipelined-cg", "jacobi");
  options.format = "cusparse-csr";
  EXPECT_NE(text_of<ParameterError>([&] {
              solve_in_parts(options, problem.A, problem.b, {}, {0, 30, problem.A.n}, "cuda");
            }).find("all rows"),
            std::string::npos);
}

TEST(Parts, AreRefusedWhereTheyCannotBe)
{
  const ModelProblem problem = problem_for("gmres");
  const auto refusal = [&](const LinearSolverOptions &options) {
    return text_of<ParameterError>(
        [&] { solve_in_parts(options, problem.A, problem.b, {}, uneven(problem.A)); });
  };
  EXPECT_NE(refusal(method("ca-gmres", "jacobi")).find("'ca-gmres'"), std::string::npos);
  LinearSolverOptions options = method("gmres", "jacobi");
  options.format = "auto";
  EXPECT_NE(refusal(options).find("'auto'"), std::string::npos);
  options.format = "bsr block=1";
  EXPECT_NE(refusal(options).find("several parts"), std::string::npos);
  options.format = "bsell block=1";
  EXPECT_NE(refusal(options).find("several parts"), std::string::npos);
  options.format = "csr";
  options.scaling = "symmetric";
  EXPECT_NE(refusal(options).find("neither scaled nor ordered"), std::string::npos);
}

TEST(RowSpace, GhostsHaveTheValuesOfTheirOwners)
{
  const HostMatrix A = generate("circuit:200").A; // unsymmetric, with long rows
  const std::vector<MatrixPart> parts = cut_matrix(A, uneven(A));
  const std::vector<double> v = random_vector(A.n, 3), expected = multiply(A, v);
  run_parts(static_cast<int>(parts.size()), [&](const int p, const auto &communicator) {
    const MatrixPart &part = parts[static_cast<std::size_t>(p)];
    const RowSpace rows(std::make_shared<HostExecutor>(1), part.end - part.begin, communicator);
    EXPECT_EQ(rows.n_global(), A.n);
    EXPECT_EQ(rows.first(), part.begin);
    EXPECT_EQ(rows.n_with_ghosts(), static_cast<std::size_t>(rows.n()));
    const RowSpace space(rows, part.ghosts);
    Buffer<double> of_part = space.make_vector();
    std::copy_n(v.begin() + part.begin, space.n(), of_part.data());
    space.bring_ghosts(of_part.data());
    for (int i = 0; i < space.n(); ++i) {
      double sum = 0.;
      for (int k = part.rows.row_starts[i]; k < part.rows.row_starts[i + 1]; ++k)
        sum += part.rows.values[k] * of_part.data()[part.rows.columns[k]];
      EXPECT_NEAR(sum, expected[part.begin + i],
                  1e-12 * std::abs(expected[part.begin + i]) + 1e-12);
    }
  });
}
} // namespace
} // namespace femgpu::linalg::test
