#include "linalg/batch_solver.h"
#include "linalg/execution/host/executor.h"
#include "linalg/execution/make_executor.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>

namespace femgpu::linalg::test
{
namespace
{
TEST(BatchShape, EveryRowHasAThread)
{
  for (const int n_vectors : {4, 8})
    for (const int length : {1, 8, 9, 27, 81, 500})
      for (int n = 0; n <= 5000; n += 1 + n / 20) {
        const auto nonzeros = static_cast<std::size_t>(n) * static_cast<std::size_t>(length);
        const auto shape = choose_batch_shape({n, nonzeros, length, n_vectors});
        SCOPED_TRACE(std::to_string(n) + " rows of " + std::to_string(length));
        ASSERT_EQ(shape.has_value(), n <= max_rows_in_batch(n_vectors));
        if (!shape)
          continue;
        EXPECT_LE(n * shape->lanes, shape->threads * rows_per_thread(shape->kernel));
        EXPECT_LE(shape->threads, max_threads(shape->kernel));
        EXPECT_EQ(shape->threads % 32, 0);
      }
}

TEST(BatchShape, EntriesAreCountedAsWideAsTheLongestRowOfAWarp)
{
  const BatchShape one_lane{BatchKernel::shared_4, 64, 1}, four_lanes{BatchKernel::shared_1, 64, 4};
  const HostMatrix A = arrow(33); // 33 entries in the first row, 2 in all others
  EXPECT_EQ(shared_bytes_of_entries(one_lane, A.n, A.row_starts.data()), 12U * 32U * (33U + 2U));
  EXPECT_EQ(shared_bytes_of_entries(four_lanes, A.n, A.row_starts.data()),
            12U * 32U * (9U + 4U * 1U));
  EXPECT_EQ(shared_bytes_of_entries({BatchKernel::registers_2, 64, 1}, A.n, A.row_starts.data()),
            0U);
}

struct System
{
  HostMatrix A;
  std::vector<double> b, x0;
};
using Systems = std::vector<System>;

System system_of(HostMatrix A, const unsigned int seed = 5)
{
  std::vector<double> b = random_vector(A.n, seed), zero(b.size());
  return {std::move(A), std::move(b), std::move(zero)};
}

struct SolvedBatch
{
  BatchReport report;
  std::vector<std::vector<double>> x;
};

SolvedBatch solve_all(const ExecutorPtr &executor, const LinearSolverOptions &options,
                      const Systems &systems)
{
  std::vector<HostCsr> matrices;
  std::vector<double> b, x;
  for (const System &system : systems) {
    matrices.push_back(system.A.csr());
    b.insert(b.end(), system.b.begin(), system.b.end());
    x.insert(x.end(), system.x0.begin(), system.x0.end());
  }
  BatchSolver solver(executor, options);
  solver.set_matrices(matrices);
  SolvedBatch solved{solver.solve(b.data(), x.data()), {}};
  auto begin = x.begin();
  for (const System &system : systems) {
    solved.x.emplace_back(begin, begin + system.A.n);
    begin += system.A.n;
  }
  return solved;
}

/// Returns symmetric positive definite systems of sizes that exercise every GPU kernel.
Systems many_systems()
{
  Systems systems;
  for (const int n : {1, 2, 31, 32, 33, 255, 256, 257})
    systems.push_back(system_of(laplacian_1d(n), 3));
  for (const int m : {7, 15, 16, 22, 31, 32, 44})
    systems.push_back(system_of(laplacian_2d(m, m)));
  for (const int m : {2, 4, 7, 10, 12})
    systems.push_back(system_of(box_27(m, m, m), 7));
  systems.push_back(system_of(arrow(700)));
  systems.push_back(system_of(random_spd(2000, 20, 1)));
  return systems;
}

class BatchTest : public OnBackendWithSolver
{
protected:
  SolvedBatch run_batch(const LinearSolverOptions &options, const Systems &systems) const
  {
    return solve_all(executor, options, systems);
  }

  /// Checks that each system converged in its true residual.
  static void expect_solved(const SolvedBatch &solved, const Systems &systems,
                            const double tolerance)
  {
    ASSERT_EQ(solved.report.systems.size(), systems.size());
    for (std::size_t k = 0; k < systems.size(); ++k) {
      const auto &[A, b, x0] = systems[k];
      const SystemReport &report = solved.report.systems[k];
      SCOPED_TRACE("system " + std::to_string(k) + ", " + std::to_string(A.n) + " rows");
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_EQ(report.message, "");
      EXPECT_LE(residual_norm(A, b, solved.x[k]), 1.01 * tolerance * norm(b));
      EXPECT_NEAR(report.true_residual, residual_norm(A, b, solved.x[k]), 1e-13 * norm(b));
      EXPECT_NEAR(report.rhs_norm, norm(b), 1e-13 * norm(b));
    }
  }
};

TEST_P(BatchTest, SystemsOfAllSizesAreSolvedAsOneByOne)
{
  const Systems systems = many_systems();
  for (const char *const preconditioner : preconditioners) {
    SCOPED_TRACE(preconditioner);
    const LinearSolverOptions options = method(solver, preconditioner, 1e-9);
    const SolvedBatch solved = run_batch(options, systems);
    expect_solved(solved, systems, 1e-9);
    EXPECT_EQ(solved.report.n_converged(), static_cast<int>(systems.size()));
    EXPECT_EQ(solved.report.n_solved_separately(), 0);
    for (std::size_t k = 0; k < systems.size(); ++k) {
      const SolveReport single = run(options, systems[k].A, systems[k].b).report;
      SCOPED_TRACE("system " + std::to_string(k));
      // The order of summation differs, and BiCGStab is sensitive to it.
      const bool is_sensitive = solver.find("bicgstab") != std::string::npos;
      const double slack =
          is_sensitive ? 3. + 0.3 * single.iterations : 1. + 0.02 * single.iterations;
      EXPECT_NEAR(solved.report.systems[k].iterations, single.iterations, slack);
      EXPECT_NEAR(solved.report.systems[k].target, single.target, 1e-13 * single.target);
      EXPECT_NEAR(solved.report.systems[k].initial_residual, single.initial_residual,
                  1e-13 * single.initial_residual);
    }
  }
}

TEST_P(BatchTest, RepeatsAndDoesNotDependOnTheNeighbours)
{
  const LinearSolverOptions options = method(solver, "jacobi", 1e-9);
  Systems systems = many_systems();
  const SolvedBatch first = run_batch(options, systems), again = run_batch(options, systems);
  EXPECT_EQ(again.x, first.x);
  std::reverse(systems.begin(), systems.end());
  SolvedBatch reversed = run_batch(options, systems);
  std::reverse(reversed.x.begin(), reversed.x.end());
  EXPECT_EQ(reversed.x, first.x);
  for (const std::size_t k : {0U, 8U, 12U, 19U, 20U, 21U}) {
    SCOPED_TRACE("system " + std::to_string(k));
    const Systems one(1, many_systems()[k]);
    EXPECT_EQ(run_batch(options, one).x[0], first.x[k]);
  }
}

TEST_P(BatchTest, SystemsThatFailStopNoOther)
{
  Systems good;
  for (const int m : {4, 12, 25})
    good.push_back(system_of(laplacian_2d(m, m + 1)));
  System not_finite = system_of(laplacian_2d(12, 12)), infinite = not_finite;
  not_finite.b[77] = std::nan("");
  infinite.A.values[5] = HUGE_VAL;
  // The matrix is singular, and b is not in the range of the matrix.
  const System singular{neumann_1d(100), std::vector<double>(100, 1.), std::vector<double>(100)};
  const System zero_matrix{diagonal({0., 0., 0.}), {1., 2., 3.}, {0., 0., 0.}};

  const LinearSolverOptions options = method(solver, "identity", 1e-9);
  const SolvedBatch only_good = run_batch(options, good);
  const Systems all = {not_finite, good[0], singular, infinite, good[1], zero_matrix, good[2]};
  const SolvedBatch solved = run_batch(options, all);
  expect_solved(only_good, good, 1e-9);
  const auto &reports = solved.report.systems;
  for (const std::size_t k : {0, 1, 2}) {
    EXPECT_TRUE(reports[2 * k + (k > 0 ? 2 : 1)].converged());
    EXPECT_EQ(solved.x[2 * k + (k > 0 ? 2 : 1)], only_good.x[k]);
  }
  EXPECT_EQ(to_string(reports[0].outcome), "not_finite");
  EXPECT_EQ(to_string(reports[3].outcome), "not_finite");
  EXPECT_NE(reports[0].message.find("NaN"), std::string::npos) << reports[0].message;
  EXPECT_FALSE(reports[2].converged());
  EXPECT_FALSE(reports[5].converged());
  EXPECT_EQ(solved.report.n_converged(), 3);
  EXPECT_TRUE(solved.report.worst() == 0 || solved.report.worst() == 3);
}

TEST_P(BatchTest, ZeroDiagonalIsTheFaultOfJacobi)
{
  const System swap{dense({{0., 1.}, {1., 0.}}), {1., 2.}, {0., 0.}};
  const Systems systems = {system_of(laplacian_1d(9)), swap};
  const SolvedBatch solved = run_batch(method(solver, "jacobi"), systems);
  EXPECT_TRUE(solved.report.systems[0].converged());
  EXPECT_EQ(to_string(solved.report.systems[1].outcome), "not_finite");
  EXPECT_NE(solved.report.systems[1].message.find("Use preconditioner identity"),
            std::string::npos);
}

TEST_P(BatchTest, OutcomesAreThoseOfSingleSolves)
{
  System zero_rhs = system_of(laplacian_2d(9, 9)), solved_already = zero_rhs;
  zero_rhs.b.assign(81, 0.);
  zero_rhs.x0 = random_vector(81, 1); // the solver must ignore this guess, because b = 0
  solved_already.x0 = random_vector(81, 1);
  solved_already.b = multiply(solved_already.A, solved_already.x0);
  const System none{HostMatrix(), {}, {}}, one = system_of(diagonal({4.}));
  const Systems systems = {zero_rhs, solved_already, none, one};
  const SolvedBatch solved = run_batch(method(solver, "jacobi"), systems);
  expect_solved(solved, systems, 1e-10);
  EXPECT_EQ(solved.x[0], std::vector<double>(81, 0.));
  EXPECT_EQ(solved.x[1], solved_already.x0);
  for (const std::size_t k : {0, 1, 2})
    EXPECT_EQ(solved.report.systems[k].iterations, 0);
  EXPECT_NEAR(solved.x[3][0], one.b[0] / 4., eps);

  LinearSolverOptions options = method(solver, "identity");
  options.control.max_iterations = 3;
  const Systems long_ones = {system_of(laplacian_2d(20, 20)), system_of(diagonal({1., 1.}))};
  const SolvedBatch limited = run_batch(options, long_ones);
  EXPECT_EQ(limited.report.systems[0].outcome, Outcome::iteration_limit);
  EXPECT_EQ(limited.report.systems[0].iterations, 3);
  EXPECT_TRUE(limited.report.systems[1].converged());

  // The tolerance is below what rounding allows. A system must not be reported as converged unless
  // its true residual has been checked.
  const Systems hard = {system_of(laplacian_2d(20, 20))};
  const SolvedBatch stagnated = run_batch(method(solver, "jacobi", 1e-18), hard);
  EXPECT_EQ(stagnated.report.systems[0].outcome, Outcome::converged_to_rounding);
  EXPECT_LE(residual_norm(hard[0].A, hard[0].b, stagnated.x[0]), 1e-12 * norm(hard[0].b));
}

TEST_P(BatchTest, OneMatrixServesManyRightHandSides)
{
  const HostMatrix A = laplacian_2d(13, 14);
  constexpr int k = 7;
  const std::vector<double> b = random_vector(k * A.n, 2);
  std::vector<double> x(b.size()), again(b.size());
  BatchSolver batch(executor, method(solver, "jacobi", 1e-9));
  batch.set_matrices(std::vector<HostCsr>(k, A.csr()));
  const BatchReport report = batch.solve(b.data(), x.data());
  EXPECT_EQ(report.n_converged(), k);
  for (std::ptrdiff_t first = 0; first < k * static_cast<std::ptrdiff_t>(A.n); first += A.n) {
    const std::vector<double> b_j(b.begin() + first, b.begin() + first + A.n);
    const std::vector<double> x_j(x.begin() + first, x.begin() + first + A.n);
    EXPECT_LE(residual_norm(A, b_j, x_j), 1.01e-9 * norm(b_j));
  }
  EXPECT_EQ(batch.solve(b.data(), again.data()).n_converged(), k);
  EXPECT_EQ(again, x);
}

TEST_P(BatchTest, EmptyBatchIsSolved)
{
  BatchSolver batch(executor, method(solver, "jacobi"));
  batch.set_matrices({});
  const BatchReport report = batch.solve(nullptr, nullptr);
  EXPECT_EQ(report.systems.size(), 0U);
  EXPECT_EQ(report.worst(), -1);
}

TEST_P(BatchTest, SystemTooLargeForABlockIsSolvedByItself)
{
  const Systems systems = {system_of(laplacian_2d(9, 9)), system_of(laplacian_2d(70, 70)),
                           system_of(laplacian_2d(8, 8))};
  const SolvedBatch solved = run_batch(method(solver, "jacobi", 1e-9), systems);
  expect_solved(solved, systems, 1e-9);
  const bool is_host = executor->backend() == BackendKind::host;
  EXPECT_EQ(solved.report.n_solved_separately(), is_host ? 0 : 1);
  EXPECT_EQ(solved.report.systems[1].solved_separately, !is_host);
  EXPECT_EQ(solved.report.method.execution.find("too large") == std::string::npos, is_host);
}

INSTANTIATE_TEST_SUITE_P(
    Backends, BatchTest,
    testing::Combine(backends(), testing::Values("cg", "pipelined-cg", "chronopoulos-gear-cg",
                                                 "minres", "pipelined-bicgstab", "bicgstab")),
    words);

class UnsymmetricBatchTest : public BatchTest
{};

TEST_P(UnsymmetricBatchTest, UnsymmetricSystemsAreSolved)
{
  const Systems systems = {system_of(convection_diffusion(12, 13, 0.5, -1.)),
                           system_of(random_dominant(333, 12, 4)),
                           system_of(convection_diffusion(40, 41, 2., 1.))};
  expect_solved(run_batch(method(solver, "jacobi", 1e-9), systems), systems, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Backends, UnsymmetricBatchTest,
                         testing::Combine(backends(), general_solvers()), words);

class CGBatchTest : public OnBackend
{};

TEST_P(CGBatchTest, IndefiniteSystemsAreToldApart)
{
  const Systems systems = {system_of(laplacian_1d(40)),
                           {diagonal({1., -1.}), {1., 2.}, {0., 0.}},
                           {diagonal({2., 3.}), {1., 2.}, {0., 0.}}};
  const SolvedBatch as_is = solve_all(executor, method("pipelined-cg", "identity"), systems);
  EXPECT_EQ(to_string(as_is.report.systems[1].outcome), "indefinite_matrix");
  const SolvedBatch jacobi = solve_all(executor, method("pipelined-cg", "jacobi"), systems);
  EXPECT_EQ(to_string(jacobi.report.systems[1].outcome), "indefinite_preconditioner");
  EXPECT_EQ(jacobi.x[1], systems[1].x0);
  EXPECT_EQ(as_is.report.n_converged(), 2);
  EXPECT_EQ(jacobi.report.n_converged(), 2);
}

TEST_P(CGBatchTest, BlocksHoldUpTo4096Rows)
{
  const Systems systems = {system_of(laplacian_2d(64, 64)), system_of(box_27(16, 16, 16))};
  for (const char *const solver : {"pipelined-cg", "cg"}) {
    const SolvedBatch solved = solve_all(executor, method(solver, "jacobi", 1e-9), systems);
    EXPECT_EQ(solved.report.n_converged(), 2);
    EXPECT_EQ(solved.report.n_solved_separately(), 0);
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_LE(residual_norm(systems[k].A, systems[k].b, solved.x[k]),
                1.01e-9 * norm(systems[k].b));
    EXPECT_EQ(solve_all(executor, method(solver, "jacobi", 1e-9), systems).x, solved.x);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, CGBatchTest, backends(), backend_name);

TEST(BatchOnTheHost, HasTheBitsOfSingleSolvesOnAnyNumberOfThreads)
{
  for (const char *const solver :
       {"pipelined-cg", "cg", "chronopoulos-gear-cg", "minres", "pipelined-bicgstab", "bicgstab"}) {
    const LinearSolverOptions options = method(solver, "jacobi", 1e-9);
    const Systems systems = many_systems();
    const SolvedBatch one = solve_all(std::make_shared<HostExecutor>(1), options, systems);
    const SolvedBatch three = solve_all(std::make_shared<HostExecutor>(3), options, systems);
    EXPECT_EQ(three.x, one.x);
    for (std::size_t k = 0; k < systems.size(); ++k) {
      if (systems[k].A.n > 1024) // sums over so many rows consist of several chunks
        continue;
      const Solved single =
          solve(std::make_shared<HostExecutor>(1), options, systems[k].A, systems[k].b);
      EXPECT_EQ(one.x[k], single.x);
      EXPECT_EQ(one.report.systems[k].iterations, single.report.iterations);
      EXPECT_EQ(one.report.systems[k].restarts, single.report.restarts);
      EXPECT_EQ(one.report.systems[k].true_residual, single.report.true_residual);
    }
  }
}

TEST(BatchSolver, WhatBatchesCannotUseIsRefused)
{
  const auto refusal = [](const LinearSolverOptions &options) {
    return text_of<ParameterError>([&] { BatchSolver(make_executor("host"), options); });
  };
  const auto expect = [&](const LinearSolverOptions &options, const std::string &words) {
    EXPECT_NE(refusal(options).find(words), std::string::npos) << refusal(options);
  };
  expect(method("gmres", "jacobi"), "minres, bicgstab");
  expect(method("idr", "jacobi"), "'idr' does not support batches");
  expect(method("none", "jacobi"), "no solver 'none'");
  expect(method("pipelined-cg", "fsai"), "identity or jacobi");
  expect(method("pipelined-cg", "jacobi a=1"), "no option 'a'");
  LinearSolverOptions options = method("pipelined-cg", "jacobi");
  options.format = "sell";
  expect(options, "Use csr");
  options.format = "csr";
  options.scaling = "symmetric";
  expect(options, "Use none");
  options.scaling = "none";
  options.ordering = "rcm";
  expect(options, "Use none");
  options.ordering = "none";
  options.control.execution = Execution::graph;
  expect(options, "Use auto");
}
} // namespace
} // namespace femgpu::linalg::test
