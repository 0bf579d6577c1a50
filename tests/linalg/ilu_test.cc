#include "linalg/execution/make_executor.h"
#include "solve/generators/registry.h"
#include "tests/linalg/ilu_checks.h"

#include <algorithm>

namespace femgpu::linalg::test
{
namespace
{
TEST(HostIlu, PatternIsThatOfTheLevels)
{
  check_pattern_is_that_of_the_levels<HostBackend>(make_executor("host"));
}

TEST(HostIlu, ProductOfFactorsIsAOnThePattern)
{
  check_product_of_factors_is_A_on_the_pattern<HostBackend>(make_executor("host"));
}

TEST(HostIlu, FullPatternSolvesTheSystem)
{
  check_full_pattern_solves_the_system<HostBackend>(make_executor("host"));
}

TEST(HostIlu, TriangularSolvesAgree)
{
  check_triangular_solves_agree<HostBackend>(make_executor("host"));
}

TEST(HostIlu, SolvesWithLargeBlocksAgree)
{
  check_solves_with_large_blocks_agree<HostBackend>(make_executor("host"));
}

TEST(HostIlu, SweepsAreTruncatedSeries)
{
  check_sweeps_are_truncated_series<HostBackend>(make_executor("host"));
}

TEST(HostIlu, SweepsContractOrAreReplaced)
{
  check_sweeps_contract_or_are_replaced<HostBackend>(make_executor("host"));
}

TEST(HostIlu, TwoStageIsAlgorithm3)
{
  check_two_stage_is_algorithm_3<HostBackend>(make_executor("host"));
}

TEST(HostIlu, IsSymmetricForSymmetricMatrices)
{
  check_is_symmetric_for_symmetric_matrices<HostBackend>(make_executor("host"));
}

TEST(HostIlu, FactorsAreSymmetricToTheBit)
{
  check_cholesky_factors_are_symmetric_to_the_bit<HostBackend>(make_executor("host"));
}

TEST(HostIlu, UpdateIsSetupWithNewValues)
{
  check_update_is_setup_with_new_values<HostBackend>(make_executor("host"));
}

class Ilu : public OnBackend
{
protected:
  /// Solves and, if the solver reports convergence, checks the true residual.
  Solved run(const std::string &solver, const std::string &preconditioner,
             const ModelProblem &problem, const double tolerance = 1e-8) const
  {
    Solved solved =
        solve(executor, method(solver, preconditioner, tolerance), problem.A, problem.b);
    if (solved.report.converged()) {
      EXPECT_LE(residual_norm(problem.A, problem.b, solved.x), 1.01 * tolerance * norm(problem.b));
    }
    return solved;
  }
  std::string remarks(const std::string &preconditioner, const HostMatrix &A)
  {
    const CsrMatrix csr(executor, A.csr());
    const auto M = make_preconditioner(preconditioner, executor->backend());
    M->setup(csr);
    return M->setup_report().remarks;
  }
};

TEST_P(Ilu, TakesFewerIterationsWithMoreFillAndFewerBlocks)
{
  const ModelProblem problem = generate("poisson3d-7pt:24");
  const auto iterations = [&](std::string preconditioner) {
    if (preconditioner != "jacobi")
      preconditioner += " triangular=levels";
    const Solved solved = run("cg", preconditioner, problem);
    EXPECT_TRUE(solved.report.converged()) << solved.report.message;
    EXPECT_EQ(run("cg", preconditioner, problem).x, solved.x) << "a repeat differs";
    return solved.report.iterations;
  };
  const int jacobi = iterations("jacobi"), ilu_0 = iterations("ilu blocks=1");
  EXPECT_GE(jacobi, 55);
  EXPECT_LE(jacobi, 75);
  EXPECT_GE(ilu_0, 22);
  EXPECT_LE(ilu_0, 34);
  EXPECT_LT(iterations("ilu blocks=1 level=1"), 0.85 * ilu_0);
  EXPECT_LT(iterations("ilu blocks=1 level=2"), 0.75 * ilu_0);
  EXPECT_EQ(iterations("ic blocks=1"), ilu_0);
  EXPECT_GT(iterations("ilu blocks=20"), ilu_0);
  EXPECT_LT(iterations("two-stage blocks=20 outer=2"), iterations("ilu blocks=20"));
  EXPECT_LT(iterations("ilu blocks=8 partition=geometry"), iterations("ilu blocks=24"));
}

TEST_P(Ilu, EverySolverConvergesWithIt)
{
  const ModelProblem spd = generate("elasticity3d-p1:4");
  for (const char *const solver :
       {"cg", "pipelined-cg", "chronopoulos-gear-cg", "bicgstab", "pipelined-bicgstab"})
    for (const char *const preconditioner :
         {"ilu", "ic level=1 blocks=5 partition=geometry", "two-stage outer=3 blocks=3"}) {
      const Solved solved = run(solver, preconditioner, spd);
      EXPECT_TRUE(solved.report.converged())
          << solver << ", " << preconditioner << ": " << solved.report.message;
    }
  const ModelProblem wind = generate("convection-diffusion2d:60,5");
  for (const char *const solver : {"bicgstab", "pipelined-bicgstab"})
    for (const char *const triangular : {"levels", "dependencies", "sweeps"}) {
      const Solved solved = run(solver, "ilu blocks=4 triangular=" + std::string(triangular), wind);
      EXPECT_TRUE(solved.report.converged()) << solver << ": " << solved.report.message;
      EXPECT_LT(solved.report.iterations, 0.6 * run(solver, "jacobi", wind).report.iterations);
    }
}

TEST_P(Ilu, ConjugateGradientsRefuseItForUnsymmetricMatrices)
{
  const ModelProblem wind = generate("convection-diffusion2d:9,5");
  EXPECT_THROW(run("cg", "ilu", wind), Error);
  EXPECT_NE(text_of<SolverError>([&] { remarks("ic", wind.A); }).find("row 0"), std::string::npos);
}

TEST_P(Ilu, BadPivotsAreFoundShiftedAndReported)
{
  // Elimination makes the pivot of row 1 of `lost` 0; row 2 of `none` has no diagonal entry.
  const HostMatrix lost = dense({{1., 2., 0.}, {2., 4., 1.}, {0., 1., 3.}});
  const std::string text = remarks("ilu blocks=1", lost);
  EXPECT_NE(text.find("1 pivots nearly zero, the first in row 1"), std::string::npos) << text;
  EXPECT_NE(text.find("A + 0.001 diag(A)"), std::string::npos) << text;
  const HostMatrix none = dense({{1., 1., 0.}, {1., 3., 1.}, {0., 1., 0.}});
  EXPECT_EQ(remarks("ilu blocks=1", none).find("pivots"), std::string::npos) << "fill makes one";
  EXPECT_NE(remarks("ilu blocks=1", laplacian_2d(9, 7))
                .find("0 % of A outside the blocks, fill 1, up to"),
            std::string::npos);
}

TEST_P(Ilu, CholeskyFactorsOfAnIndefiniteMatrixAreShifted)
{
  HostMatrix A = laplacian_2d(20, 20);
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      A.values[k] -= A.columns[k] == i ? 1.5 : 0.;
  const std::string text = remarks("ic blocks=1", A);
  EXPECT_NE(text.find("pivots not positive, the first in row"), std::string::npos) << text;
}

TEST_P(Ilu, PivotsThatNoShiftHelpsAreAnError)
{
  const HostMatrix zero_row = dense({{1., 0., 0.}, {0., 0., 0.}, {0., 0., 2.}});
  const std::string zero = text_of<SolverError>([&] { remarks("ilu", zero_row); });
  EXPECT_NE(zero.find("row 1"), std::string::npos) << zero;
  const HostMatrix negative = dense({{1., 0., 0.}, {0., 1., 0.}, {0., 0., -2.}});
  const std::string not_positive = text_of<SolverError>([&] { remarks("ic", negative); });
  EXPECT_NE(not_positive.find("row 2"), std::string::npos) << not_positive;
  EXPECT_EQ(remarks("ilu", negative).find("pivots"), std::string::npos);
}

TEST_P(Ilu, WrongOptionsAreRefused)
{
  const auto refusal = [&](const std::string &text) {
    return text_of<ParameterError>([&] { remarks(text, laplacian_2d(5, 4)); });
  };
  EXPECT_NE(refusal("ilu blocks=0").find("auto or an integer from 1"), std::string::npos);
  EXPECT_NE(refusal("ilu blocks=few").find("auto"), std::string::npos);
  EXPECT_NE(refusal("ilu level=-1").find("from 0"), std::string::npos);
  EXPECT_NE(refusal("ilu outer=2").find("no option 'outer'"), std::string::npos);
  EXPECT_NE(refusal("two-stage outer=0").find("from 1"), std::string::npos);
  EXPECT_NE(refusal("two-stage factor=cholesky").find("ilu or ic"), std::string::npos);
  EXPECT_NE(refusal("ilu partition=random").find("metis"), std::string::npos);
  const std::string nowhere = text_of<ParameterError>(
      [&] { remarks("ilu partition=geometry blocks=2", random_spd(9, 2, 1)); });
  EXPECT_NE(nowhere.find("coordinates"), std::string::npos) << nowhere;
  EXPECT_NE(refusal("ilu triangular=cusparse").find("sweeps"), std::string::npos);
}

TEST_P(Ilu, MoreBlocksThanRowsAreAsManyAsRows)
{
  const std::string text = remarks("ilu blocks=100", laplacian_1d(33));
  EXPECT_NE(text.find("33 contiguous blocks (100 requested)"), std::string::npos) << text;
  EXPECT_NE(remarks("ilu", HostMatrix()).find("ILU(0)"), std::string::npos);
}

TEST_P(Ilu, EvenStepsThatAreIndefiniteAreFoundByConjugateGradients)
{
  // The off-diagonal entries are so large that 2P − A of single rows is not positive definite.
  const HostMatrix A = dense({{1., .9, .9}, {.9, 1., .9}, {.9, .9, 1.}});
  ModelProblem problem;
  problem.A = A;
  problem.b = {1., 1., 1.};
  EXPECT_EQ(run("cg", "two-stage blocks=3 outer=2", problem).report.outcome,
            Outcome::indefinite_preconditioner);
  EXPECT_TRUE(run("cg", "two-stage blocks=3 outer=1", problem).report.converged());
}

INSTANTIATE_TEST_SUITE_P(Backends, Ilu, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
