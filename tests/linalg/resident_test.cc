#include "linalg/steps/arrival_count.h"
#include "linalg/steps/resident_shape.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <cmath>
#include <cstdint>

namespace femgpu::linalg::test
{
namespace
{
const ResidentLimits h100 = {132, 232448, 16};
const ResidentLimits a100 = {108, 166912, 0};

ResidentSystem rows_of(const int n, const int length)
{
  return {n, static_cast<std::size_t>(n) * static_cast<std::size_t>(length), length, 4};
}

TEST(ResidentShape, EveryRowHasAThread)
{
  for (const ResidentLimits &limits : {h100, a100})
    for (const int length : {1, 7, 8, 9, 27, 81, 500})
      for (int n = 1; n < 2000000; n += 1 + n / 7) {
        const auto shape = choose_resident_shape(rows_of(n, length), limits);
        if (!shape)
          continue;
        SCOPED_TRACE(std::to_string(n) + " rows of " + std::to_string(length) + ": " +
                     shape->description());
        const int slice = (n + shape->blocks - 1) / shape->blocks;
        EXPECT_LE(slice * shape->lanes, shape->threads * rows_per_thread(shape->kernel));
        EXPECT_LE(shape->threads, max_threads(shape->kernel));
        EXPECT_EQ(shape->threads % 32, 0);
        EXPECT_LE(shape->blocks, limits.multiprocessors);
      }
}

TEST(ResidentShape, SmallSystemsStayInABlockAndLargeOnesAreNotResident)
{
  EXPECT_EQ(choose_resident_shape(rows_of(225, 7), h100)->blocks, 1);
  EXPECT_EQ(choose_resident_shape(rows_of(3969, 7), h100)->blocks, 16);
  EXPECT_EQ(choose_resident_shape(rows_of(65025, 7), h100)->blocks, 132);
  EXPECT_FALSE(choose_resident_shape(rows_of(4190209, 7), h100));
  EXPECT_FALSE(choose_resident_shape(rows_of(1000000, 27), h100));
  EXPECT_FALSE(choose_resident_shape(rows_of(0, 0), h100));
  EXPECT_EQ(choose_resident_shape(rows_of(3969, 7), a100)->blocks, 108);
}

TEST(ResidentShape, LongRowsAreBetterInAGraph)
{
  const ResidentSystem circuit = {200000, 944495, 20000, 4}, dense = {1000, 500000, 500, 4};
  EXPECT_TRUE(has_too_long_rows(circuit, *choose_resident_shape(circuit, h100)));
  EXPECT_FALSE(has_too_long_rows(dense, *choose_resident_shape(dense, h100)));
  EXPECT_FALSE(has_too_long_rows(rows_of(3969, 7), *choose_resident_shape(rows_of(3969, 7), h100)));
}

TEST(ArrivalCount, GoesOnFromItsLargestNumberToZero)
{
  const unsigned int blocks = 132;
  unsigned int expected = first_arrival;
  for (unsigned int meeting = 0; meeting < 2 * arrivals_before_wrap / blocks; ++meeting) {
    const unsigned int before = expected;
    expected = static_cast<unsigned int>(static_cast<std::uint64_t>(expected) + blocks);
    EXPECT_FALSE(have_arrived(before, expected));       // no block has arrived
    EXPECT_FALSE(have_arrived(expected - 1, expected)); // one block is missing
    EXPECT_TRUE(have_arrived(expected, expected));
    EXPECT_TRUE(have_arrived(expected + blocks - 1, expected)); // some are at the next barrier
  }
  EXPECT_LT(expected, first_arrival); // the counter has wrapped around to 0
}

/// Tests the solvers with resident execution (one kernel for the whole loop) on systems whose sizes
/// exercise every kernel. The host has only one kind of execution.
class ResidentTest : public OnBackendWithSolver
{
protected:
  Solved run_as(const Execution execution, const std::string &preconditioner, const HostMatrix &A,
                const std::vector<double> &b) const
  {
    LinearSolverOptions options = method(solver, preconditioner, 1e-9);
    options.control.execution = execution;
    return run(options, A, b);
  }

  void compare(const HostMatrix &A)
  {
    SCOPED_TRACE(std::to_string(A.n) + " rows");
    const std::vector<double> b = random_vector(A.n, 5);
    for (const char *const preconditioner : preconditioners) {
      const Solved graph = run_as(Execution::graph, preconditioner, A, b);
      const Solved resident = run_as(Execution::resident, preconditioner, A, b);
      SCOPED_TRACE(std::string(preconditioner) + ", " + resident.report.method.execution);
      ASSERT_TRUE(graph.report.converged()) << graph.report.message;
      ASSERT_TRUE(resident.report.converged()) << resident.report.message;
      EXPECT_LE(residual_norm(A, b, resident.x), 1.01e-9 * norm(b));
      // The order of summation differs.
      EXPECT_NEAR(resident.report.iterations, graph.report.iterations,
                  3. + 0.3 * graph.report.iterations);
      for (std::size_t k = 0; k < 4 && k < graph.report.history.size(); ++k)
        EXPECT_NEAR(resident.report.history[k], graph.report.history[k],
                    1e-8 * graph.report.history[0]);
      const Solved again = run_as(Execution::resident, preconditioner, A, b);
      EXPECT_EQ(again.x, resident.x);
      EXPECT_EQ(again.report.history, resident.report.history);
    }
  }
};

TEST_P(ResidentTest, AgreesWithTheGraphForShortRows)
{
  compare(diagonal({2.}));
  for (const int m : {2, 5, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 150, 255})
    compare(laplacian_2d(m, m + 1));
}

TEST_P(ResidentTest, AgreesWithTheGraphForLongRows)
{
  for (const int m : {3, 6, 9, 12, 16, 24, 25, 33})
    compare(box_27(m, m, m + 1));
  compare(arrow(1500));
}

TEST_P(ResidentTest, AgreesWithTheGraphForManyRows)
{
  compare(laplacian_2d(500, 501));                // four rows per thread
  if (solver == "pipelined-cg" || solver == "cg") // up to eight rows per thread fit
    compare(laplacian_3d(70, 71, 72));
  compare(random_spd(100007, 6, 1)); // arbitrary columns
}

TEST_P(ResidentTest, BlocksMeetBeyondTheEndOfTheirCount)
{
  const HostMatrix A = laplacian_2d(150, 151);
  const std::vector<double> b = random_vector(A.n, 5);
  const Solved first = run_as(Execution::resident, "identity", A, b);
  ASSERT_TRUE(first.report.converged()) << first.report.message;
  EXPECT_LE(residual_norm(A, b, first.x), 1.01e-9 * norm(b));
  // An iteration has at least two barriers, with one block on each of more than 100
  // multiprocessors.
  EXPECT_GT(2U * 100U * static_cast<unsigned int>(first.report.iterations),
            2 * arrivals_before_wrap);
  EXPECT_EQ(run_as(Execution::resident, "identity", A, b).x, first.x); // after the wrap-around
}

TEST_P(ResidentTest, OutcomesAreThoseOfTheGraph)
{
  LinearSolverOptions options = method(solver, "identity");
  options.control.execution = Execution::resident;
  options.control.max_iterations = 3;
  const HostMatrix A = laplacian_2d(20, 20);
  const std::vector<double> b = random_vector(A.n, 5);
  const Solved limited = run(options, A, b);
  EXPECT_EQ(limited.report.outcome, Outcome::iteration_limit);
  EXPECT_EQ(limited.report.iterations, 3);
  EXPECT_EQ(limited.report.history.size(), 4U);
  std::vector<double> bad = b;
  bad[7] = std::nan("");
  EXPECT_EQ(run(options, A, bad).report.outcome, Outcome::not_finite);
}

TEST_P(ResidentTest, WhatCannotBeResidentIsRefused)
{
  LinearSolverOptions options = method(solver, "chebyshev");
  options.control.execution = Execution::resident;
  const HostMatrix A = laplacian_2d(20, 20);
  const std::vector<double> b = random_vector(A.n, 5);
  EXPECT_NE(text_of<ParameterError>([&] { run(options, A, b); }).find("resident"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(, ResidentTest,
                         testing::Combine(testing::Values("cuda"),
                                          testing::Values("pipelined-cg", "cg",
                                                          "chronopoulos-gear-cg", "minres",
                                                          "pipelined-bicgstab", "bicgstab")),
                         words);
} // namespace
} // namespace femgpu::linalg::test
