#include "linalg/execution/host/executor.h"
#include "tests/linalg/on_backend.h"

#include "linalg/execution/this_backend.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "linalg/sparse/overlapping_rows.h"
#include "solve/generators/registry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace femgpu::linalg::test
{
namespace
{
class PartsTest : public testing::TestWithParam<std::string>
{};

// The preconditioners chebyshev and neumann multiply by A and import the ghosts themselves.
TEST_P(PartsTest, TakeTheIterationsOfOnePart)
{
  const ModelProblem problem = problem_for(GetParam());
  for (const char *const preconditioner : {"identity", "jacobi", "chebyshev degree=3", "neumann"}) {
    const LinearSolverOptions options = method(GetParam(), preconditioner);
    const Solved alone = solve(std::make_shared<HostExecutor>(1), options, problem.A, problem.b);
    const auto [reports, x] = solve_on_ranks(options, problem.A, problem.b, {}, uneven(problem.A));
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
  const auto first = solve_on_ranks(options, problem.A, problem.b, {}, uneven(problem.A));
  const auto again = solve_on_ranks(options, problem.A, problem.b, {}, uneven(problem.A));
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
    const auto [reports, x] = solve_on_ranks(method(GetParam(), choice.name), problem.A, problem.b,
                                             {}, uneven(problem.A));
    EXPECT_TRUE(reports[0].converged()) << choice.name << ": " << reports[0].message;
    EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * reports[0].target) << choice.name;
    const bool is_of_block = reports[0].method.setup.remarks.find(
                                 "of each subdomain's diagonal block") != std::string::npos;
    EXPECT_EQ(is_of_block, !linalg::preconditioners.traits(choice.name).supports_ghosts)
        << choice.name;
  }
}

/// Returns the entry with global row i and column j.
double entry_of(const HostMatrix &A, const int i, const int j)
{
  for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
    if (A.columns[k] == j)
      return A.values[k];
  return 0.;
}

/// Checks overlapping subdomains. A subdomain must contain its own rows and all rows within a given
/// distance in the graph of A, in global order and with all entries between these rows.
TEST(PartsWithOverlap, AreRowsNearOwnOnesInTheOrderOfAll)
{
  const HostMatrix A = generate("poisson2d-5pt:1x40").A; // a chain of rows
  const std::vector<int> starts = {0, 10, 10, 25, 40};
  const std::vector<LocalMatrix> matrices = cut_matrix(A, starts);
  for (const int layers : {1, 3})
    run_on_ranks(static_cast<int>(matrices.size()), [&](const int p, const auto &communicator) {
      const auto rank = static_cast<std::size_t>(p);
      const ExecutorPtr executor = std::make_shared<HostExecutor>(1);
      const auto range = std::make_shared<RowSpace>(executor, matrices[rank].rows.n, communicator);
      const CsrMatrix own(range, std::make_shared<RowSpace>(*range, matrices[rank].ghosts),
                          matrices[rank].rows.csr());
      const OverlappingRows<HostBackend> near(own, layers);
      const bool has_rows = own.n() > 0;
      const int first = has_rows ? std::max(starts[rank] - layers, 0) : 0,
                end = has_rows ? std::min(starts[rank + 1] + layers, A.n) : 0;
      EXPECT_EQ(near.matrix().n(), end - first);
      EXPECT_EQ(near.matrix().n_columns(), end - first);
      EXPECT_EQ(near.first(), has_rows ? starts[rank] - first : 0);
      const CsrView<double> view = near.matrix().csr_view();
      std::size_t n_entries = 0;
      for (int i = first; i < end; ++i)
        for (int j = first; j < end; ++j)
          n_entries += entry_of(A, i, j) != 0. ? 1 : 0;
      EXPECT_EQ(near.matrix().n_nonzeros(), n_entries);
      for (int i = 0; i < view.n; ++i)
        for (std::size_t k = view.row_starts[i]; k < view.row_starts[i + 1]; ++k)
          EXPECT_EQ(view.values[k], entry_of(A, first + i, first + view.columns[k]));
      const auto back = near.owned_rows(std::make_shared<CsrMatrix>(near.matrix().copy()));
      EXPECT_EQ(back->domain(), own.domain()); // the overlap contains all ghosts of own rows
      EXPECT_EQ(back->host_columns(), own.host_columns());
      EXPECT_EQ(back->host_row_starts(), own.host_row_starts());
    });
}

/// Checks the rows of approximate inverses near a border of subdomains, which depend on rows of
/// both sides: they must agree with the rows computed on one rank.
TEST(PartsOfApproximateInverses, AreThoseOfAllRows)
{
  const std::pair<const char *, const char *> systems[] = {
      {"cg", "elasticity3d-p1:5"}, {"gmres", "convection-diffusion2d:40,0.5"}};
  for (const auto &[solver, system] : systems) {
    const ModelProblem problem = generate(system);
    const bool is_symmetric = std::string(solver) == "cg";
    const std::vector<std::string> choices =
        is_symmetric ? std::vector<std::string>{"fsai", "fsai power=2", "fsai tau=0.4",
                                                "fsai grow=2", "fsai values=float"}
                     : std::vector<std::string>{"sai", "sai side=left", "sai power=2",
                                                "sai tau=0.5 side=left", "sai values=float"};
    for (const std::string &choice : choices) {
      SCOPED_TRACE(choice);
      const LinearSolverOptions options = method(solver, choice);
      const Solved alone = solve(std::make_shared<HostExecutor>(1), options, problem.A, problem.b);
      const auto [reports, x] =
          solve_on_ranks(options, problem.A, problem.b, {}, uneven(problem.A));
      EXPECT_EQ(reports[0].method.setup.n_nonzeros, alone.report.method.setup.n_nonzeros);
      EXPECT_EQ(reports[0].method.setup.remarks, alone.report.method.setup.remarks);
      const std::vector<double> &expected = alone.report.history, &found = reports[0].history;
      ASSERT_GE(std::min(expected.size(), found.size()), 6U);
      for (std::size_t k = 0; k < 6; ++k)
        EXPECT_NEAR(found[k], expected[k], 1e-9 * expected[k]) << k;
      EXPECT_LE(std::abs(reports[0].iterations - alone.report.iterations), 2);
      EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * reports[0].target);
    }
  }
}

TEST(Parts, TakeMultigridByThemselves)
{
  const ModelProblem problem = generate("poisson2d-5pt:300");
  LinearSolverOptions options = method("cg", "auto");
  const auto [reports, x] = solve_on_ranks(options, problem.A, problem.b, {}, {0, 20000, 90000});
  EXPECT_TRUE(reports[0].converged()) << reports[0].message;
  EXPECT_EQ(reports[1].method.preconditioner, "multigrid");
}

/// Returns the numbers of iterations with multigrid on one rank and on several ranks.
std::pair<int, int> iterations_with_multigrid(const std::string &system, const std::string &options,
                                              const std::vector<double> &cuts)
{
  const ModelProblem problem = generate(system);
  const bool needs_symmetry = system.find("convection") == std::string::npos;
  const LinearSolverOptions methods =
      method(needs_symmetry ? "cg" : "bicgstab", "multigrid " + options);
  const Solved alone = solve(std::make_shared<HostExecutor>(1), methods, problem.A, problem.b);
  const int block = problem.A.csr().node_size();
  std::vector<int> starts;
  for (const double cut : cuts)
    starts.push_back(static_cast<int>(cut * problem.A.n / block) * block);
  const auto [reports, x] = solve_on_ranks(methods, problem.A, problem.b, {}, starts);
  for (const SolveReport &report : reports) {
    EXPECT_TRUE(report.converged()) << system << ": " << report.message;
    EXPECT_EQ(report.method.setup.levels.size(), reports[0].method.setup.levels.size());
    EXPECT_EQ(report.method.setup.levels[0].rows, problem.A.n);
  }
  EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * reports[0].target) << system;
  return {alone.report.iterations, reports[0].iterations};
}

TEST(PartsOfMultigrid, TakeTheIterationsOfOnePart)
{
  for (const char *const system :
       {"poisson2d-5pt:150", "poisson3d-7pt:24", "poisson3d-27pt:20", "elasticity3d-p1:8",
        "anisotropic2d:80,0.01", "convection-diffusion2d:70,0.5"})
    for (const std::vector<double> &cuts :
         {std::vector<double>{0., 0.5, 1.}, {0., 0.2, 0.2, 0.55, 1.}, {0., 0.3, 0.7, 1.}}) {
      const auto [alone, distributed] = iterations_with_multigrid(system, "", cuts);
      EXPECT_LE(distributed, alone + 2 + alone / 4) << system << ", " << cuts.size() - 1;
    }
}

TEST(PartsOfMultigrid, HaveEverySmootherAndCycle)
{
  for (const char *const options :
       {"smoother=l1-jacobi", "smoother=block-jacobi", "smoother=fsai", "cycle=W", "values=double",
        "coarsest=20", "coarsest=1", "theta=0.2", "degree=3"}) {
    const auto [alone, distributed] =
        iterations_with_multigrid("poisson2d-5pt:60", options, {0., 0.4, 0.7, 1.});
    EXPECT_LE(distributed, alone + 3 + alone / 3) << options;
  }
}

TEST(PartsOfMultigrid, RepeatBitForBit)
{
  const ModelProblem problem = generate("poisson2d-5pt:70");
  const LinearSolverOptions options = method("pipelined-cg", "multigrid");
  const std::vector<int> starts = {0, 1000, 3000, 4900};
  const auto first = solve_on_ranks(options, problem.A, problem.b, {}, starts);
  const auto again = solve_on_ranks(options, problem.A, problem.b, {}, starts);
  EXPECT_TRUE(have_same_bits(again.x, first.x));
}

TEST(Parts, AreScaledAsOnePart)
{
  for (const auto &[system, solver, scaling] :
       {std::array{"poisson3d-27pt:12", "cg", "symmetric"},
        std::array{"convection-diffusion2d:29,0.5", "bicgstab", "balance"},
        std::array{"circuit:900", "gmres", "balance"}}) {
    const ModelProblem problem = generate(system);
    LinearSolverOptions options = method(solver, "jacobi");
    options.scaling = scaling;
    const Solved alone = solve(std::make_shared<HostExecutor>(1), options, problem.A, problem.b);
    const auto [reports, x] = solve_on_ranks(options, problem.A, problem.b, {}, uneven(problem.A));
    for (const SolveReport &report : reports) {
      EXPECT_TRUE(report.converged()) << system << ": " << report.message;
      EXPECT_LE(std::abs(report.iterations - alone.report.iterations),
                2 + alone.report.iterations / 20)
          << system;
      EXPECT_NEAR(report.rhs_norm, alone.report.rhs_norm, 1e-12 * alone.report.rhs_norm);
    }
    EXPECT_NEAR(residual_norm(problem.A, problem.b, x), reports[0].original.residual,
                1e-6 * reports[0].original.residual + 1e-13);
    options.preconditioner = "multigrid";
    if (std::string(solver) == "gmres") // the circuit's diagonal is not positive
      continue;
    const auto with_multigrid =
        solve_on_ranks(options, problem.A, problem.b, {}, uneven(problem.A));
    EXPECT_TRUE(with_multigrid.reports[0].converged()) << system;
  }
}

TEST(Parts, GoOnTogetherWithJacobiWhereThereIsNoMultigrid)
{
  ModelProblem problem = generate("poisson2d-5pt:300");
  for (int k = problem.A.row_starts[100]; k < problem.A.row_starts[101]; ++k)
    if (problem.A.columns[k] == 100)
      problem.A.values[k] = -4.;
  LinearSolverOptions options = method("gmres restart=5", "auto");
  options.control.max_iterations = 700;
  const auto [reports, x] = solve_on_ranks(options, problem.A, problem.b, {}, {0, 20000, 90000});
  for (const SolveReport &report : reports)
    EXPECT_EQ(report.method.preconditioner, "jacobi") << report.method.setup.remarks;
}

TEST(Parts, ConvergeToRounding)
{
  const ModelProblem problem = generate("poisson2d-5pt:60");
  LinearSolverOptions options = method("cg", "jacobi");
  options.control.relative_tolerance = 1e-17;
  const Solved alone = solve(std::make_shared<HostExecutor>(1), options, problem.A, problem.b);
  const auto [reports, x] = solve_on_ranks(options, problem.A, problem.b, {}, uneven(problem.A));
  EXPECT_EQ(alone.report.outcome, Outcome::converged_to_rounding);
  for (const SolveReport &report : reports) {
    EXPECT_EQ(report.outcome, Outcome::converged_to_rounding) << report.message;
    EXPECT_EQ(report.forward_error, reports[0].forward_error);
  }
}

TEST(Parts, HaveNumbersOfAnySize)
{
  const ModelProblem problem = generate("poisson2d-5pt:20");
  std::vector<double> tiny = problem.b;
  for (double &value : tiny)
    value = std::ldexp(value, -900);
  std::fill_n(tiny.begin(), 50, 0.); // the first rank, with b = 0, needs the other rank's scale
  std::vector<double> ordinary = problem.b;
  std::fill_n(ordinary.begin(), 50, 0.);
  const auto solve = [&](const std::vector<double> &b) {
    return solve_on_ranks(method("pipelined-cg", "jacobi"), problem.A, b, {}, {0, 50, 400});
  };
  const auto expected = solve(ordinary), found = solve(tiny);
  EXPECT_TRUE(found.reports[0].converged()) << found.reports[0].message;
  for (std::size_t i = 0; i < found.x.size(); ++i)
    EXPECT_EQ(std::ldexp(found.x[i], 900), expected.x[i]);
  EXPECT_EQ(found.reports[0].backward_error, expected.reports[1].backward_error);
}

/// Checks block formats on several ranks. Borders of subdomains must not divide a node.
TEST(Parts, HaveBlocks)
{
  const ModelProblem problem = generate("elasticity3d-p1:5");
  const int n = problem.A.n, third = n / 9 * 3;
  for (const std::string format : {"bsr", "bsr block=3", "bsell slice=4", "bsr block=1"}) {
    SCOPED_TRACE(format);
    LinearSolverOptions options = method("pipelined-cg", "jacobi");
    const auto expected = solve_on_ranks(options, problem.A, problem.b, {}, {0, third, n, n});
    options.format = format;
    const auto [reports, x] = solve_on_ranks(options, problem.A, problem.b, {}, {0, third, n, n});
    EXPECT_TRUE(reports[0].converged()) << reports[0].message;
    EXPECT_LE(std::abs(reports[0].iterations - expected.reports[0].iterations), 2);
    EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * reports[0].target);
  }
  LinearSolverOptions options = method("pipelined-cg", "jacobi");
  options.format = "bsr";
  EXPECT_NE(text_of<ParameterError>([&] {
              solve_on_ranks(options, problem.A, problem.b, {}, {0, third + 1, n});
            }).find("split blocks of 3"),
            std::string::npos);
}

TEST_P(PartsTest, HaveAMatrixInAnyFormat)
{
  const ModelProblem problem = problem_for(GetParam());
  for (const char *const format :
       {"csr", "csr values=float", "ellpack-r", "sell columns=short", "coo", "pcsr"}) {
    LinearSolverOptions options = method(GetParam(), "jacobi");
    options.format = format;
    const auto [reports, x] = solve_on_ranks(options, problem.A, problem.b, {}, uneven(problem.A));
    EXPECT_TRUE(reports[0].converged()) << format << ": " << reports[0].message;
    EXPECT_LE(residual_norm(problem.A, problem.b, x), 1.01 * reports[0].target) << format;
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, PartsTest, testing::ValuesIn(distributed_solvers()),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class PartsOnCuda : public OnCuda
{};

TEST_F(PartsOnCuda, TakeTheIterationsOfPartsOnTheHost)
{
  for (const std::string &solver : distributed_solvers()) {
    const ModelProblem problem = problem_for(solver);
    for (const char *const preconditioner : {"identity", "jacobi", "chebyshev degree=3",
                                             "block-jacobi", "ilu", "fsai", "sai", "multigrid"}) {
      if (preconditioner == std::string("sai") && solvers.traits(solver).needs_symmetry)
        continue;
      SCOPED_TRACE(solver + " with " + preconditioner);
      const LinearSolverOptions options = method(solver, preconditioner);
      const auto on_host = solve_on_ranks(options, problem.A, problem.b, {}, uneven(problem.A));
      const auto [reports, x] =
          solve_on_ranks(options, problem.A, problem.b, {}, uneven(problem.A), "cuda");
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
    const auto first = solve_on_ranks(options, problem.A, problem.b, {}, starts, "cuda");
    const auto again = solve_on_ranks(options, problem.A, problem.b, {}, starts, "cuda");
    EXPECT_TRUE(first.reports[0].converged()) << first.reports[0].message;
    EXPECT_EQ(first.reports[0].method.execution, "driven by the host");
    EXPECT_TRUE(have_same_bits(first.x, again.x));
  }
  LinearSolverOptions options = method("pipelined-cg", "jacobi");
  options.format = "cusparse-csr";
  EXPECT_NE(text_of<ParameterError>([&] {
              solve_on_ranks(options, problem.A, problem.b, {}, {0, 30, problem.A.n}, "cuda");
            }).find("does not support"),
            std::string::npos);
}

TEST(Parts, AreRefusedWhereTheyCannotBe)
{
  const ModelProblem problem = problem_for("gmres");
  const auto refusal = [&](const LinearSolverOptions &options) {
    return text_of<ParameterError>(
        [&] { solve_on_ranks(options, problem.A, problem.b, {}, uneven(problem.A)); });
  };
  LinearSolverOptions options = method("gmres", "jacobi");
  options.ordering = "rcm";
  EXPECT_NE(refusal(options).find("'rcm' needs all rows in one subdomain"), std::string::npos);
}

TEST(RowSpace, GhostsHaveTheValuesOfTheirOwners)
{
  const HostMatrix A = generate("circuit:200").A; // unsymmetric, with long rows
  const std::vector<LocalMatrix> matrices = cut_matrix(A, uneven(A));
  const std::vector<double> v = random_vector(A.n, 3), expected = multiply(A, v);
  run_on_ranks(static_cast<int>(matrices.size()), [&](const int p, const auto &communicator) {
    const LocalMatrix &local = matrices[static_cast<std::size_t>(p)];
    const RowSpace rows(std::make_shared<HostExecutor>(1), local.end - local.begin, communicator);
    EXPECT_EQ(rows.n_global(), A.n);
    EXPECT_EQ(rows.first(), local.begin);
    EXPECT_EQ(rows.n_with_ghosts(), static_cast<std::size_t>(rows.n()));
    const RowSpace space(rows, local.ghosts);
    Buffer<double> of_rank = space.make_vector();
    std::copy_n(v.begin() + local.begin, space.n(), of_rank.data());
    space.update_ghost_values(of_rank.data());
    for (int i = 0; i < space.n(); ++i) {
      double sum = 0.;
      for (int k = local.rows.row_starts[i]; k < local.rows.row_starts[i + 1]; ++k)
        sum += local.rows.values[k] * of_rank.data()[local.rows.columns[k]];
      EXPECT_NEAR(sum, expected[local.begin + i],
                  1e-12 * std::abs(expected[local.begin + i]) + 1e-12);
    }
  });
}
} // namespace
} // namespace femgpu::linalg::test
