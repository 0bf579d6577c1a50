#include "linalg/batch_solver.h"
#include "linalg/execution/make_executor.h"
#include "linalg/solvers/krylov_state.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace femgpu::linalg::test
{
namespace
{
/// Feeds terms to an estimator of the energy error one by one, as the loops of solvers do.
struct TermFeeder
{
  EnergyError energy;
  int n_terms = 0;
  double sum = 0.;

  explicit TermFeeder(const double relative_tolerance = 0.)
  {
    energy.begin(0, 0., relative_tolerance, 0.);
  }

  /// Adds a term. Returns whether the estimated error ends the loop.
  bool add(const double term)
  {
    energy.store(n_terms++, term);
    sum += term;
    if (EnergyError::is_due(n_terms, term, energy.check_threshold))
      energy.run_deferred(n_terms, sum);
    return energy.reduction > 0.;
  }
  EnergyReport report()
  {
    return energy.report(n_terms, sum);
  }
};

TEST(EnergyError, NeedsMoreThanOneTerm)
{
  TermFeeder feeder;
  EXPECT_LT(feeder.report().norm, 0.);
  feeder.add(4.);
  EXPECT_LT(feeder.report().error, 0.);
  EXPECT_EQ(feeder.report().norm, 2.);
  EXPECT_LT(feeder.report().target, 0.);
}

// A resident loop (one kernel on the GPU) makes no estimates while it runs; the estimate at its end
// uses recent terms.
TEST(EnergyError, RecentTermsDoWhereNobodyHasLooked)
{
  TermFeeder feeder;
  for (; feeder.n_terms < 1000; feeder.sum += std::pow(0.9, feeder.n_terms++))
    feeder.energy.store(feeder.n_terms, std::pow(0.9, feeder.n_terms));
  const EnergyReport report = feeder.report();
  const double exact = std::pow(0.9, 1000 - report.delay) / 0.1;
  EXPECT_LE(report.error * report.error, exact);
  EXPECT_GE(report.error * report.error, (1. - EnergyError::accuracy) * exact);
  EXPECT_DOUBLE_EQ(report.norm, std::sqrt(feeder.sum));
}

TEST(EnergyError, DecidesAsSoonAsItIsSmallEnough)
{
  for (const double rho : {0.3, 0.9, 0.99, 0.998})
    for (const double tolerance : {0.3, 1e-2, 1e-5}) {
      TermFeeder feeder(tolerance);
      while (!feeder.add(std::pow(rho, feeder.n_terms)))
        ASSERT_LT(feeder.n_terms, 40000);
      // S Δ_k = τ tolerance² ‖x‖² (linalg/solvers/energy_error.h) with S = 1 / (1 − ρ) = ‖x‖² gives
      // ρ^k = τ tolerance²; the loop may end a little later.
      const double needed = std::log(EnergyError::accuracy * tolerance * tolerance) / std::log(rho);
      EXPECT_GE(feeder.n_terms, needed) << rho << ' ' << tolerance;
      EXPECT_LE(feeder.n_terms, 2. + 1.1 * needed) << rho << ' ' << tolerance;
      EXPECT_NEAR(feeder.energy.reduction, tolerance, 0.1 * tolerance);
    }
}

// For terms ρ^j, the squared error of iterate l is ρ^l / (1 − ρ).
TEST(EnergyError, IsABoundFromBelowAsAccurateAsItSaysForManyTerms)
{
  for (const double rho : {0.3, 0.9, 0.99, 0.998}) {
    TermFeeder feeder;
    double delay = 0.;
    for (int k = 0; k < 5000 && std::pow(rho, k) > 1e-200; ++k) {
      feeder.add(std::pow(rho, k));
      const EnergyReport report = feeder.report();
      if (report.error < 0.)
        continue;
      delay = report.delay;
      const double squared = report.error * report.error;
      const double exact = std::pow(rho, feeder.n_terms - delay) / (1. - rho);
      ASSERT_LE(squared, (1. + 1e-12) * exact) << rho << ", term " << k;
      // After few terms, S Δ_k (linalg/solvers/energy_error.h) underestimates the remaining sum.
      const bool has_seen_enough = k > 3. / (1. - rho);
      ASSERT_GE(squared, has_seen_enough ? (1. - EnergyError::accuracy) * exact : 0.)
          << rho << ", term " << k;
    }
    // The delay d satisfies ρ^d = τ (energy_error.h) but may be twice as large if S is too large.
    // The interval between estimates is a few percent of all terms.
    EXPECT_LE(delay, 2. + 2. * std::log(EnergyError::accuracy) / std::log(rho) + 0.04 * 5000);
  }
}

// The residual may grow while the energy error decreases.
TEST(EnergyError, RunThatHasMadeItSmallIsKeptWhateverTheResidual)
{
  std::array<double, KrylovState::n_energy> memory{};
  KrylovState state;
  state.stops_by_error = true;
  state.relative_tolerance = 0.1;
  state.max_iterations = 100;
  state.history = memory.data() + memory.size();
  state.begin_energy(0.);
  state.begin(1., 1.);
  RestartPolicy policy;
  policy.prepare(state);
  for (int k = 0; state.running; ++k) {
    state.rr = 1. + k;
    state.count_update(std::pow(0.5, k));
    if (state.wants_deferred) {
      state.run_deferred();
      state.receive_deferred();
    }
  }
  state.true_rr = 1.001 * state.rr;
  EXPECT_FALSE(policy.needs_restart(state));
  EXPECT_TRUE(policy.keeps_x);
  EXPECT_EQ(policy.outcome, Outcome::converged);
  state.true_rr = 100. * state.rr; // the recurrence has lost the true residual
  EXPECT_TRUE(policy.needs_restart(state) || policy.outcome == Outcome::stagnated);
  EXPECT_FALSE(policy.keeps_x);
}

double product(const std::vector<double> &a, const std::vector<double> &b)
{
  double sum = 0.;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

double energy_norm(const HostMatrix &A, const std::vector<double> &v)
{
  return std::sqrt(product(v, multiply(A, v)));
}

double energy_error(const HostMatrix &A, std::vector<double> x, const std::vector<double> &exact)
{
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] -= exact[i];
  return energy_norm(A, x);
}

/// A system with a known solution.
struct Known
{
  HostMatrix A;
  std::vector<double> x, b;

  explicit Known(HostMatrix matrix, const unsigned int seed = 3)
      : A(std::move(matrix)), x(random_vector(A.n, seed)), b(multiply(A, x))
  {}
};

LinearSolverOptions to_energy_error(const std::string &solver, const double relative,
                                    const double absolute = 0.)
{
  LinearSolverOptions options = method(solver, "jacobi");
  options.control.energy_tolerance = {relative, absolute};
  return options;
}

class EnergyErrorTest : public OnBackendWithSolver
{
protected:
  /// Checks the reported norm, and compares the reported error with the exact error of the iterate
  /// to which the report refers.
  void expect_right(const SolveReport &report, LinearSolverOptions options, const Known &system,
                    const std::vector<double> &x0 = {}) const
  {
    ASSERT_GE(report.energy.error, 0.) << report.message;
    options.control.energy_tolerance = {};
    options.control.relative_tolerance = 0.;
    options.control.max_iterations = report.iterations - report.energy.delay;
    const double exact = energy_error(system.A, run(options, system.A, system.b, x0).x, system.x);
    EXPECT_LE(report.energy.error, (1. + 1e-6) * exact);
    EXPECT_GE(report.energy.error, std::sqrt(1. - EnergyError::accuracy) * exact);
    const double norm = energy_norm(system.A, system.x);
    EXPECT_LE(report.energy.norm, (1. + 1e-10) * norm);
    EXPECT_GE(report.energy.norm, 0.9 * norm);
  }
};

TEST_P(EnergyErrorTest, IsReportedAsABoundOfStatedAccuracy)
{
  const Known system(laplacian_2d(30, 30));
  for (const char *const preconditioner : {"jacobi", "fsai"})
    for (const double tolerance : {1e-2, 1e-4, 1e-6}) {
      const LinearSolverOptions options = method(solver, preconditioner, tolerance);
      const SolveReport report = run(options, system.A, system.b).report;
      EXPECT_LT(report.energy.target, 0.);
      expect_right(report, options, system);
    }
}

TEST_P(EnergyErrorTest, HoldsFromAnyGuess)
{
  const Known system(laplacian_2d(30, 30));
  const std::vector<double> x0 = random_vector(system.A.n, 8);
  const LinearSolverOptions options = method(solver, "jacobi", 1e-4);
  expect_right(run(options, system.A, system.b, x0).report, options, system, x0);
}

TEST_P(EnergyErrorTest, StopsAtTheErrorThatWasAskedFor)
{
  const Known system(laplacian_2d(40, 40));
  const double norm = energy_norm(system.A, system.x);
  const int of_residual = run(method(solver, "jacobi", 1e-8), system.A, system.b).report.iterations;
  for (const double tolerance : {0.3, 1e-2, 1e-4}) {
    const LinearSolverOptions relative = to_energy_error(solver, tolerance),
                              absolute = to_energy_error(solver, 0., tolerance * norm);
    for (const LinearSolverOptions &options : {relative, absolute}) {
      const auto [report, x] = run(options, system.A, system.b);
      EXPECT_EQ(report.outcome, Outcome::converged) << report.message;
      EXPECT_LE(energy_error(system.A, x, system.x), tolerance * norm);
      EXPECT_LE(report.energy.error, report.energy.target);
      EXPECT_NEAR(report.energy.target, tolerance * norm, 0.1 * tolerance * norm);
      EXPECT_LT(report.iterations, of_residual);
      EXPECT_NEAR(residual_norm(system.A, system.b, x), report.true_residual,
                  1e-10 * report.rhs_norm);
      expect_right(report, options, system);
    }
  }
}

TEST_P(EnergyErrorTest, ToleranceBelowRoundingEnds)
{
  const Known system(laplacian_2d(30, 30));
  const auto [report, x] = run(to_energy_error(solver, 1e-20), system.A, system.b);
  EXPECT_EQ(to_string(report.outcome), "converged_to_rounding") << report.message;
  EXPECT_LE(energy_error(system.A, x, system.x), 1e-12 * energy_norm(system.A, system.x));
  EXPECT_LT(report.iterations, 5000);
}

TEST_P(EnergyErrorTest, BeginsAnewWithTheRecurrence)
{
  // The initial guess is so far from the solution that x - x₀ suffers cancellation: x does not
  // reach the accuracy that the recurrence reports before a restart.
  const Known system(laplacian_2d(20, 20));
  const std::vector<double> far_guess(static_cast<std::size_t>(system.A.n), 1e12);
  const auto [report, x] = run(to_energy_error(solver, 1e-9), system.A, system.b, far_guess);
  EXPECT_EQ(report.outcome, Outcome::converged) << report.message;
  EXPECT_GE(report.restarts, 1);
  EXPECT_LE(energy_error(system.A, x, system.x), 1e-9 * energy_norm(system.A, system.x));
}

TEST_P(EnergyErrorTest, RoundedValuesAreRefined)
{
  if (is_distributed())
    GTEST_SKIP() << "parts have values as they are";
  const Known system(random_spd(500, 6, 4));
  LinearSolverOptions options = to_energy_error(solver, 1e-10);
  options.format = "csr values=float";
  const auto [report, x] = run(options, system.A, system.b);
  EXPECT_EQ(report.outcome, Outcome::converged) << report.message;
  EXPECT_GE(report.restarts, 1);
  EXPECT_LE(energy_error(system.A, x, system.x), 1e-10 * energy_norm(system.A, system.x));
}

TEST_P(EnergyErrorTest, ZeroRightHandSideAndExactGuessAreSolved)
{
  const Known system(laplacian_2d(10, 10));
  const std::vector<double> zero(system.b.size());
  EXPECT_EQ(run(to_energy_error(solver, 1e-3), system.A, zero, system.x).report.outcome,
            Outcome::converged);
  const SolveReport report =
      run(to_energy_error(solver, 1e-3), diagonal({1., 2.}), {1., 2.}, {1., 1.}).report;
  EXPECT_EQ(report.outcome, Outcome::converged);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_LT(report.energy.error, 0.);
}

TEST_P(EnergyErrorTest, IsThatOfASingleSolveInABatch)
{
  if (is_distributed())
    GTEST_SKIP() << "systems of a batch are in one part";
  std::vector<Known> systems;
  for (const int n : {7, 20, 33})
    systems.emplace_back(laplacian_2d(n, n));
  std::vector<HostCsr> matrices;
  std::vector<double> b;
  for (const Known &system : systems) {
    matrices.push_back(system.A.csr());
    b.insert(b.end(), system.b.begin(), system.b.end());
  }
  for (const double tolerance : {0., 1e-3}) {
    const LinearSolverOptions options = to_energy_error(solver, tolerance);
    std::vector<double> x(b.size());
    BatchSolver together(executor, options);
    together.set_matrices(matrices);
    const BatchReport report = together.solve(b.data(), x.data());
    auto begin = x.begin();
    for (std::size_t k = 0; k < systems.size(); ++k) {
      const SystemReport &of_k = report.systems[k];
      const SolveReport single = solve(executor, options, systems[k].A, systems[k].b).report;
      EXPECT_EQ(of_k.outcome, Outcome::converged) << of_k.message;
      EXPECT_EQ(of_k.iterations, single.iterations);
      EXPECT_EQ(of_k.energy.delay, single.energy.delay);
      EXPECT_NEAR(of_k.energy.error, single.energy.error, 1e-3 * std::abs(single.energy.error));
      EXPECT_NEAR(of_k.energy.norm, single.energy.norm, 1e-9 * single.energy.norm);
      const std::vector<double> x_k(begin, begin + systems[k].A.n);
      begin += systems[k].A.n;
      EXPECT_LE(energy_error(systems[k].A, x_k, systems[k].x),
                std::max(tolerance, 1e-8) * energy_norm(systems[k].A, systems[k].x));
    }
  }
}

// The systems have sizes for which the loop runs on one thread block, on a cluster and on all
// blocks.
TEST_P(EnergyErrorTest, IsTheSameOnAChipAsOfAGraph)
{
  if (std::get<0>(GetParam()) != "cuda")
    GTEST_SKIP() << "the host has one way";
  for (const int n : {10, 25, 60, 150}) {
    const Known system(laplacian_2d(n, n + 1));
    LinearSolverOptions options = to_energy_error(solver, 0.);
    options.control.execution = Execution::graph;
    const SolveReport graph = run(options, system.A, system.b).report;
    options.control.execution = Execution::resident;
    const SolveReport report = run(options, system.A, system.b).report;
    SCOPED_TRACE(report.method.execution);
    EXPECT_EQ(report.outcome, Outcome::converged) << report.message;
    ASSERT_GT(report.energy.error, 0.);
    EXPECT_NEAR(report.energy.norm, graph.energy.norm, 1e-6 * graph.energy.norm);
    if (report.iterations == graph.iterations) {
      EXPECT_NEAR(report.energy.error, graph.energy.error, 0.5 * graph.energy.error);
    }
  }
}

TEST_P(EnergyErrorTest, DecidesOnNoChip)
{
  if (std::get<0>(GetParam()) != "cuda")
    GTEST_SKIP() << "the host has one way";
  const Known system(laplacian_2d(60, 60));
  LinearSolverOptions options = to_energy_error(solver, 1e-3);
  options.control.execution = Execution::automatic;
  const std::string execution = run(options, system.A, system.b).report.method.execution;
  EXPECT_EQ(execution.find("resident"), std::string::npos) << execution;
  options.control.execution = Execution::resident;
  EXPECT_NE(text_of<ParameterError>([&] { run(options, system.A, system.b); }).find("energy error"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Backends, EnergyErrorTest,
                         testing::Combine(backends_and_two_ranks(), spd_solvers()), words);

TEST(EnergyErrorChecks, OtherMethodsAreRefusedWithThoseThatCan)
{
  const ExecutorPtr host = make_executor("host");
  const std::string text =
      text_of<ParameterError>([&] { LinearSolver(host, to_energy_error("bicgstab", 1e-3)); });
  EXPECT_NE(text.find("bicgstab"), std::string::npos) << text;
  EXPECT_NE(text.find("chronopoulos-gear-cg or block-cg"), std::string::npos) << text;
  EXPECT_THROW(BatchSolver(host, to_energy_error("bicgstab", 1e-3)), ParameterError);
}

// The squares of b overflow, but the error must still scale with the units of b.
TEST(EnergyErrorChecks, UnitsOfTheRightHandSideAreThoseOfTheError)
{
  const Known system(laplacian_2d(20, 20));
  std::vector<double> large = system.b;
  for (double &b_i : large)
    b_i = std::ldexp(b_i, 700);
  const ExecutorPtr host = make_executor("host");
  const double norm = energy_norm(system.A, system.x);
  const SolveReport small =
      solve(host, to_energy_error("pipelined-cg", 0., 1e-3 * norm), system.A, system.b).report;
  const SolveReport of_large =
      solve(host, to_energy_error("pipelined-cg", 0., std::ldexp(1e-3 * norm, 700)), system.A,
            large)
          .report;
  EXPECT_EQ(of_large.iterations, small.iterations);
  EXPECT_EQ(of_large.energy.error, std::ldexp(small.energy.error, 700));
  EXPECT_EQ(of_large.energy.norm, std::ldexp(small.energy.norm, 700));
}
} // namespace
} // namespace femgpu::linalg::test
