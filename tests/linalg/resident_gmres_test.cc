#include "linalg/steps/resident_shape.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace femgpu::linalg::test
{
namespace
{
const ResidentLimits h100 = {132, 232448, 16};

ResidentSystem basis_of(const int n, const int length, const int columns)
{
  return {n, static_cast<std::size_t>(n) * static_cast<std::size_t>(length), length, columns};
}

TEST(BasisShape, EveryRowHasAThreadAndItsPlace)
{
  for (const int columns : {2, 6, 31, 61})
    for (const int length : {1, 7, 8, 9, 27, 81, 200})
      for (int n = 1; n < 200000; n += 1 + n / 7) {
        const int numbers = columns * columns + 7 * columns;
        const auto shape = choose_basis_shape(basis_of(n, length, columns), numbers, h100);
        if (!shape)
          continue;
        SCOPED_TRACE(std::to_string(n) + " rows of " + std::to_string(length) + ": " +
                     shape->description());
        EXPECT_GE(shape->slice * shape->blocks, n);
        EXPECT_LT(shape->slice * (shape->blocks - 1), n);
        EXPECT_LE(shape->slice * shape->lanes, 2 * basis_threads);
        EXPECT_LE(shape->blocks, h100.multiprocessors);
        EXPECT_LE(8U * static_cast<std::size_t>(shape->slice * columns + numbers),
                  h100.shared_bytes);
      }
}

TEST(BasisShape, WhatHasNoPlaceIsNotResident)
{
  const auto blocks = [](const ResidentSystem &system) {
    const auto shape = choose_basis_shape(system, 1200, h100);
    return shape ? shape->blocks : 0;
  };
  EXPECT_EQ(blocks(basis_of(225, 7, 31)), 1);
  EXPECT_EQ(blocks(basis_of(65025, 7, 31)), 132);
  EXPECT_EQ(blocks(basis_of(1046529, 7, 31)), 0);
  EXPECT_EQ(blocks(basis_of(65025, 7, 101)), 0);
  EXPECT_EQ(blocks(basis_of(5000, 2000, 31)), 0); // a row would need more threads than a block has
  EXPECT_FALSE(choose_basis_shape(basis_of(225, 7, 200), 40000, h100));
  EXPECT_FALSE(choose_basis_shape(basis_of(0, 0, 2), 20, h100));
}

/// Compares the resident execution of pipelined-gmres (basis on the chip) with its graph execution.
class ResidentGmres : public testing::Test, protected WithExecutor
{
protected:
  void SetUp() override
  {
    if (const std::string obstacle = start("cuda"); !obstacle.empty())
      GTEST_SKIP() << obstacle;
  }

  static LinearSolverOptions with(const Execution execution, const int restart,
                                  const char *preconditioner)
  {
    LinearSolverOptions options =
        method("pipelined-gmres restart=" + std::to_string(restart), preconditioner, 1e-8);
    options.control.execution = execution;
    return options;
  }

  Solved run(const LinearSolverOptions &options, const HostMatrix &A,
             const std::vector<double> &b) const
  {
    return solve(executor, options, A, b);
  }

  void compare(const HostMatrix &A, const int restart) const
  {
    const std::vector<double> b = random_vector(A.n, 5);
    for (const char *const preconditioner : preconditioners) {
      const Solved graph = run(with(Execution::graph, restart, preconditioner), A, b);
      const LinearSolverOptions options = with(Execution::resident, restart, preconditioner);
      const Solved resident = run(options, A, b);
      SCOPED_TRACE(std::to_string(A.n) + " rows, " + preconditioner + ", restart " +
                   std::to_string(restart) + ", " + resident.report.method.execution);
      EXPECT_EQ(resident.report.method.execution.find("resident: "), 0U);
      ASSERT_TRUE(graph.report.converged()) << graph.report.message;
      ASSERT_TRUE(resident.report.converged()) << resident.report.message;
      EXPECT_LE(residual_norm(A, b, resident.x), 1.01e-8 * norm(b));
      EXPECT_NEAR(resident.report.iterations, graph.report.iterations,
                  2. + 0.02 * graph.report.iterations);
      EXPECT_NEAR(resident.report.restarts, graph.report.restarts,
                  1. + 0.02 * graph.report.restarts);
      // ‖r‖² is computed by subtraction: its error is relative to the initial ‖r‖².
      const std::vector<double> &history = graph.report.history;
      const std::size_t count = std::min(resident.report.history.size(), history.size());
      for (std::size_t k = 0; k < count; ++k)
        EXPECT_NEAR(std::pow(resident.report.history[k], 2.), std::pow(history[k], 2.),
                    1e-12 * std::pow(history[0], 2.))
            << k;
      const Solved again = run(options, A, b);
      EXPECT_EQ(again.x, resident.x);
      EXPECT_EQ(again.report.history, resident.report.history);
    }
  }
};

TEST_F(ResidentGmres, AgreesWithTheGraphForShortRows)
{
  for (const int restart : {1, 5, 30, 60}) {
    compare(diagonal({2.}), restart);
    for (const auto &[m, k] :
         {std::pair(2, 1), std::pair(31, 1), std::pair(11, 3), std::pair(15, 15), std::pair(40, 25),
          std::pair(41, 25), std::pair(100, 50), std::pair(127, 127)})
      if (restart > 1 || m * k < 1000) // larger systems take too long with restart 1
        compare(convection_diffusion(m, k, 0.3, -0.2), restart);
  }
}

// A thread block has more than 512 rows here, up to the largest number that fits.
TEST_F(ResidentGmres, AgreesWithTheGraphForManyRows)
{
  for (const auto &[m, restart] :
       {std::pair(255, 30), std::pair(300, 30), std::pair(330, 30), std::pair(364, 5)})
    compare(convection_diffusion(m, m, 0.5, 0.5), restart);
}

TEST_F(ResidentGmres, AgreesWithTheGraphForLongRows)
{
  for (const int restart : {1, 30})
    for (const int m : {3, 9, 12, 24})
      compare(box_27(m, m, m + 1), restart);
  compare(random_dominant(700, 60, 2), 30);
  compare(random_dominant(50007, 20, 2), 20); // arbitrary columns
}

TEST_F(ResidentGmres, OutcomesAreThoseOfTheGraph)
{
  const auto outcomes = [&](const HostMatrix &A, const std::vector<double> &b, const int limit) {
    LinearSolverOptions options = with(Execution::graph, 4, "identity");
    options.control.max_iterations = limit;
    const SolveReport graph = run(options, A, b).report;
    options.control.execution = Execution::resident;
    const SolveReport resident = run(options, A, b).report;
    EXPECT_EQ(resident.outcome, graph.outcome);
    EXPECT_EQ(resident.iterations, graph.iterations);
    EXPECT_EQ(resident.history.size(), graph.history.size());
    return resident.outcome;
  };
  for (const int m : {20, 60}) { // one thread block, and many
    const HostMatrix A = convection_diffusion(m, m, 0.5, 0.5);
    std::vector<double> b = random_vector(A.n, 5);
    for (const int limit : {0, 1, 3, 4, 5, 9})
      EXPECT_EQ(outcomes(A, b, limit), Outcome::iteration_limit);
    EXPECT_EQ(outcomes(A, std::vector<double>(b.size()), 9), Outcome::converged);
    HostMatrix bad = A;
    for (const double entry : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      bad.values[A.values.size() / 2] = entry;
      EXPECT_EQ(outcomes(bad, b, 1000), Outcome::not_finite);
    }
    b[7] = std::nan("");
    EXPECT_EQ(outcomes(A, b, 1000), Outcome::not_finite);
  }
  EXPECT_EQ(outcomes(dense({{0., 1.}, {0., 0.}}), {1., 0.}, 9), Outcome::breakdown);
}

TEST_F(ResidentGmres, WhatCannotBeResidentIsRefused)
{
  const HostMatrix A = convection_diffusion(20, 20, 0.5, 0.5);
  const std::vector<double> b = random_vector(A.n, 5);
  EXPECT_THROW(run(with(Execution::resident, 30, "ilu"), A, b), ParameterError);
  EXPECT_THROW(run(with(Execution::resident, 250, "jacobi"), A, b), ParameterError);
  EXPECT_TRUE(run(with(Execution::automatic, 250, "jacobi"), A, b).report.converged());
}
} // namespace
} // namespace femgpu::linalg::test
