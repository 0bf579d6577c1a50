#include "linalg/solvers/krylov_state.h"
#include "tests/linalg/on_backend.h"

#include <limits>
#include <set>

namespace femgpu::linalg::test
{
namespace
{
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// Tests every outcome of a solve, with systems that cause this outcome.
class OutcomeTest : public OnBackendWithSolver
{
protected:
  // Checks the outcome without a preconditioner and with Jacobi.
  void expect(const Outcome outcome, const HostMatrix &A, const std::vector<double> &b,
              const std::vector<double> &x0 = {}) const
  {
    for (const char *const preconditioner : {"identity", "jacobi"}) {
      const SolveReport report = run(method(solver, preconditioner), A, b, x0).report;
      EXPECT_EQ(to_string(report.outcome), to_string(outcome)) << report.message;
    }
  }
};

TEST_P(OutcomeTest, IterationLimitIsReportedWithTheLimit)
{
  LinearSolverOptions options = method(solver, "jacobi");
  options.control.max_iterations = 10;
  const HostMatrix A = laplacian_2d(50, 50);
  const SolveReport report = run(options, A, random_vector(A.n, 1)).report;
  EXPECT_EQ(report.outcome, Outcome::iteration_limit);
  EXPECT_EQ(report.iterations, 10);
  EXPECT_GT(report.true_residual, report.target);
}

TEST_P(OutcomeTest, LimitThatIsJustEnoughConverges)
{
  LinearSolverOptions options = method(solver, "jacobi");
  const HostMatrix A = laplacian_2d(50, 50);
  const std::vector<double> b = random_vector(A.n, 1);
  const int enough = run(options, A, b).report.iterations;
  options.control.max_iterations = enough;
  EXPECT_EQ(run(options, A, b).report.outcome, Outcome::converged);
  options.control.max_iterations = enough - 1;
  EXPECT_EQ(run(options, A, b).report.outcome, Outcome::iteration_limit);
}

TEST_P(OutcomeTest, ToleranceBelowRoundingIsSaidToBeSo)
{
  const HostMatrix A = laplacian_2d(50, 50);
  const std::vector<double> b = random_vector(A.n, 1);
  const auto [report, x] = run(method(solver, "jacobi", 1e-18), A, b);
  EXPECT_EQ(to_string(report.outcome), "converged_to_rounding") << report.message;
  EXPECT_LT(report.true_residual, 1e-13 * norm(b));
  EXPECT_NEAR(residual_norm(A, b, x), report.true_residual, 1e-13 * norm(b));
  EXPECT_LT(report.iterations, 2000);
}

TEST_P(OutcomeTest, ToleranceThatTheRecurrenceAloneReachesIsNotCalledConverged)
{
  // The initial guess is so far from the solution that x - x₀ suffers cancellation. The recurrence
  // cannot detect this loss of accuracy.
  const HostMatrix A = laplacian_2d(20, 20);
  const std::vector<double> b = random_vector(A.n, 2),
                            far_guess(static_cast<std::size_t>(A.n), 1e12);
  const auto [report, x] = run(method(solver, "jacobi", 1e-12), A, b, far_guess);
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_GE(report.restarts, 1);
  EXPECT_LE(residual_norm(A, b, x), 1.01e-12 * norm(b));
  EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
}

TEST_P(OutcomeTest, SingularConsistentSystemConverges)
{
  const int n = 200;
  std::vector<double> b(n);
  b.front() = 1.;
  b.back() = -1.;
  expect(Outcome::converged, neumann_1d(n), b);
}

TEST_P(OutcomeTest, SingularInconsistentSystemDoesNotConverge)
{
  for (const int n : {2, 3, 50, 1000})
    for (const char *const preconditioner : {"identity", "jacobi"}) {
      const std::vector<double> b(static_cast<std::size_t>(n), 1.);
      const SolveReport report = run(method(solver, preconditioner), neumann_1d(n), b).report;
      EXPECT_FALSE(report.converged()) << report.message;
      EXPECT_GE(report.true_residual, 0.999 * norm(b)) << report.message;

      std::vector<double> tilted = random_vector(n, 3);
      tilted[0] += 0.5 * n;
      EXPECT_FALSE(run(method(solver, preconditioner), neumann_1d(n), tilted).report.converged());
    }
}

TEST_P(OutcomeTest, GrowthBeyondBoundsDiverges)
{
  // The test (p, Ap) > 0 passes, but the skew-symmetric part of A multiplies the residual by 1e9.
  expect(Outcome::diverged, dense({{1., 1e9}, {-1e9, 1.}}), {1., 1.});
}

TEST_P(OutcomeTest, NotFiniteMatrixIsFound)
{
  for (const double bad : {nan, inf, -inf})
    for (const int entry : {0, 1, 150, 297}) {
      HostMatrix A = laplacian_1d(100);
      A.values[static_cast<std::size_t>(entry)] = bad;
      expect(Outcome::not_finite, A, std::vector<double>(100, 1.));
    }
}

TEST_P(OutcomeTest, NotFiniteMatrixIsFoundWithAZeroRightHandSide)
{
  HostMatrix A = laplacian_1d(100);
  A.values[10] = nan;
  expect(Outcome::not_finite, A, std::vector<double>(100));
}

TEST_P(OutcomeTest, NotFiniteRightHandSideIsFound)
{
  for (const double bad : {nan, inf, -inf})
    for (const std::size_t row : {0, 57, 99}) {
      std::vector<double> b(100, 1.);
      b[row] = bad;
      expect(Outcome::not_finite, laplacian_1d(100), b);
    }
}

TEST_P(OutcomeTest, NotFiniteInitialGuessIsFound)
{
  for (const double bad : {nan, inf}) {
    std::vector<double> x0(100);
    x0[42] = bad;
    expect(Outcome::not_finite, laplacian_1d(100), std::vector<double>(100, 1.), x0);
  }
}

TEST_P(OutcomeTest, OverflowOfASumIsNotFinite)
{
  // (p, Ap) = 1e320 overflows, although r and x do not.
  EXPECT_EQ(run(method(solver, "identity"), diagonal({1e300, 1.}), {1e10, 1.}).report.outcome,
            Outcome::not_finite);
}

TEST_P(OutcomeTest, IndefiniteMatrixIsFound)
{
  // For r = p = (1, 1), (p, Ap) is -4 with the first matrix and 0 with the second.
  expect(Outcome::indefinite_matrix, dense({{1., -3.}, {-3., 1.}}), {1., 1.});
  EXPECT_EQ(run(method(solver, "identity"), diagonal({1., -1.}), {1., 1.}).report.outcome,
            Outcome::indefinite_matrix);
}

TEST_P(OutcomeTest, IndefiniteMatrixIsFoundLater)
{
  HostMatrix A = laplacian_2d(30, 30); // eigenvalues from 0.02 to 8
  for (std::size_t k = 0; k < A.values.size(); ++k)
    A.values[k] -= A.values[k] > 0. ? 1. : 0.;
  const SolveReport report = run(method(solver, "jacobi"), A, random_vector(A.n, 4)).report;
  EXPECT_EQ(to_string(report.outcome), "indefinite_matrix") << report.message;
  EXPECT_GT(report.iterations, 0);
}

TEST_P(OutcomeTest, NegativeDefiniteMatrixIsIndefinite)
{
  HostMatrix A = laplacian_2d(10, 10);
  for (double &value : A.values)
    value = -value;
  const std::vector<double> b(100, 1.);
  EXPECT_EQ(run(method(solver, "identity"), A, b).report.outcome, Outcome::indefinite_matrix);
  EXPECT_EQ(run(method(solver, "jacobi"), A, b).report.outcome, Outcome::indefinite_preconditioner);
}

TEST_P(OutcomeTest, NegativeDiagonalMakesJacobiIndefinite)
{
  // (r, M⁻¹r) = 1 − 4 at the start.
  const SolveReport report = run(method(solver, "jacobi"), diagonal({1., -1.}), {1., 2.}).report;
  EXPECT_EQ(to_string(report.outcome), "indefinite_preconditioner") << report.message;
  EXPECT_EQ(report.iterations, 0);
}

TEST_P(OutcomeTest, FailureLeavesTheInitialGuessIfNothingWasDone)
{
  const std::vector<double> x0 = {3., 4.};
  const auto [report, x] = run(method(solver, "jacobi"), diagonal({1., -1.}), {1., 2.}, x0);
  EXPECT_FALSE(report.converged());
  EXPECT_EQ(report.history.size(), 1U);
  EXPECT_EQ(x, x0);
}

INSTANTIATE_TEST_SUITE_P(Backends, OutcomeTest, testing::Combine(backends(), spd_solvers()), words);

/// Returns the state of conjugate gradients after up to 400 iterations, all with the same squared
/// residual norm @p rr.
KrylovState unchanged_state(const double target, const double rr, std::vector<double> &numbers)
{
  numbers.assign(KrylovState::n_energy + 500, rr);
  KrylovState state;
  state.running = true;
  state.max_iterations = 1000;
  state.history_size = 500;
  state.history = numbers.data() + KrylovState::n_energy;
  state.absolute_tolerance = target;
  state.begin(1., 1.);
  state.begin_energy(0.);
  for (int k = 0; k < 400 && state.running; ++k) {
    state.check_spd(rr, 1., 1.);
    state.count_update(rr);
    if (state.wants_deferred) {
      state.run_deferred();
      state.receive_deferred();
    }
  }
  return state;
}

/// Reproduces a run of pipelined CG with multigrid that stagnated for a thousand iterations.
TEST(Recurrence, EndsWhereItStandsStillAtItsRounding)
{
  std::vector<double> numbers;
  const KrylovState state = unchanged_state(1e-12, 1.5e-24, numbers);
  EXPECT_FALSE(state.running);
  EXPECT_LT(state.iteration, 40);
  EXPECT_EQ(to_string(state.outcome), "converged"); // the true residual is checked afterwards
  EXPECT_TRUE(unchanged_state(1e-12, 1., numbers).running) << "the residual has not decreased";
  EXPECT_TRUE(unchanged_state(0., 1.5e-24, numbers).running) << "there is no target";
}

/// Returns the state of a run that ended with the outcome not_finite 7 iterations after the start.
KrylovState lost_state(const bool has_variants, const double true_rr)
{
  KrylovState state;
  state.max_iterations = 1000;
  state.has_variants = has_variants;
  state.history_size = -1;
  state.relative_tolerance = 1e-8;
  state.begin(4., 4.);
  state.iteration = 7;
  state.stop(Outcome::not_finite);
  state.true_rr = true_rr;
  return state;
}

TEST(Judge, StartsAgainFromTheBestIterateAfterNumbersThatAreNotFinite)
{
  for (const double true_rr : {4., 9., nan}) {
    RestartPolicy policy;
    KrylovState state = lost_state(true, true_rr);
    for (int runs = 1; runs < max_failed_runs; ++runs, state.iteration += 7) {
      EXPECT_TRUE(policy.needs_restart(state)) << true_rr << ", run " << runs;
      EXPECT_EQ(policy.keeps_x, true_rr <= 4.);
      policy.prepare(state);
      EXPECT_EQ(state.failed_runs, runs);
    }
    EXPECT_FALSE(policy.needs_restart(state));
    EXPECT_EQ(to_string(policy.outcome), "diverged");
    EXPECT_EQ(policy.best_rr, 4.);
  }
}

TEST(Judge, BlamesTheDataOnlyWhereNoIterationWasPossible)
{
  RestartPolicy policy;
  KrylovState state = lost_state(false, 4.);
  EXPECT_FALSE(policy.needs_restart(state));
  EXPECT_EQ(to_string(policy.outcome), "diverged");
  policy = {};
  state.iteration = 0;
  EXPECT_FALSE(policy.needs_restart(state));
  EXPECT_EQ(to_string(policy.outcome), "not_finite");
}

TEST(Outcomes, HaveDifferentNamesAndExplanations)
{
  std::set<std::string> names, messages;
  for (int k = 0; k <= static_cast<int>(Outcome::not_balanced); ++k) {
    SolveReport report;
    report.outcome = static_cast<Outcome>(k);
    describe(report);
    names.insert(to_string(report.outcome));
    messages.insert(report.message);
  }
  EXPECT_EQ(names.size(), 10U);
  EXPECT_EQ(messages.size(), 10U);
  EXPECT_EQ(names.count("unknown"), 0U);
}

/// Returns the message of a failed solve.
std::string advice(const Outcome outcome, const MethodReport &method,
                   const double backward_error = 1e-3)
{
  SolveResult result;
  result.outcome = outcome;
  result.backward_error = backward_error;
  describe(result, method);
  return result.message;
}

MethodReport methods(const std::string &solver, const std::string &preconditioner,
                     const std::string &scaling = "none")
{
  MethodReport method;
  method.solver = solver;
  method.preconditioner = preconditioner;
  method.scaling = scaling;
  return method;
}

bool has(const std::string &text, const std::string &substring)
{
  return text.find(substring) != std::string::npos;
}

TEST(Advice, NamesNoMethodThatIsInUse)
{
  const std::string breakdown = advice(Outcome::breakdown, methods("bicgstab", "jacobi"));
  EXPECT_TRUE(has(breakdown, "scaling matching with preconditioner ilu")) << breakdown;
  EXPECT_FALSE(has(breakdown, "such as jacobi")) << breakdown;
  const std::string matched = advice(Outcome::breakdown, methods("idr", "ilu", "matching"));
  EXPECT_FALSE(has(matched, "scaling matching")) << matched;
  EXPECT_FALSE(has(matched, "solver idr")) << matched;
  EXPECT_TRUE(has(matched, "solver direct")) << matched;
  EXPECT_TRUE(has(advice(Outcome::breakdown, methods("direct", "")), "the matrix is singular"));
}

TEST(Advice, BlamesRoundingOnlyWhereTheBackwardErrorIsSmall)
{
  const MethodReport gmres = methods("gmres", "jacobi");
  EXPECT_TRUE(has(advice(Outcome::stagnated, gmres), "restart=256"));
  EXPECT_FALSE(has(advice(Outcome::stagnated, gmres), "rounding"));
  EXPECT_TRUE(has(advice(Outcome::stagnated, gmres, 1e-16), "rounding errors limit the residual"));
}

TEST(Advice, CallsNoMatrixSingularBecauseAMethodDiverges)
{
  EXPECT_FALSE(has(advice(Outcome::diverged, methods("bicgstab", "jacobi")), "singular"));
  EXPECT_TRUE(has(advice(Outcome::diverged, methods("pipelined-cg", "jacobi")), "minres"));
  EXPECT_TRUE(has(advice(Outcome::diverged, methods("pipelined-bicgstab", "ilu")), "idr s=8"));
}

TEST(Advice, MentionsNoMesh)
{
  EXPECT_FALSE(has(advice(Outcome::not_finite, methods("cg", "jacobi")), "mesh"));
}
} // namespace
} // namespace femgpu::linalg::test
