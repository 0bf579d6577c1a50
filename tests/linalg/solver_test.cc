#include "linalg/execution/make_executor.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>

namespace femgpu::linalg::test
{
namespace
{
void expect_near(const std::vector<double> &x, const std::vector<double> &expected,
                 const double tolerance)
{
  ASSERT_EQ(x.size(), expected.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(x[i], expected[i], tolerance) << "in row " << i;
}

class SolverTest : public OnBackendWithSolver
{};

// By hand, from x₀ = (2, 1): r = (−8, −3), p = r, α = 73/331.
TEST_P(SolverTest, FirstStepWithoutPreconditionerIsThatByHand)
{
  LinearSolverOptions options = method(solver, "identity");
  options.control.max_iterations = 1;
  const auto [report, x] = run(options, dense({{4., 1.}, {1., 3.}}), {1., 2.}, {2., 1.});
  EXPECT_EQ(report.outcome, Outcome::iteration_limit);
  EXPECT_EQ(report.iterations, 1);
  EXPECT_NEAR(report.initial_residual, std::sqrt(73.), 10. * eps);
  expect_near(x, {2. - 8. * 73. / 331., 1. - 3. * 73. / 331.}, 10. * eps);
}

// By hand, from x₀ = (2, 1): r = (−8, −3), p = M⁻¹r = (−2, −1), γ = 19, q = (−9, −5), α = 19/23.
TEST_P(SolverTest, FirstStepWithJacobiIsThatByHand)
{
  LinearSolverOptions options = method(solver, "jacobi");
  options.control.max_iterations = 1;
  const auto [report, x] = run(options, dense({{4., 1.}, {1., 3.}}), {1., 2.}, {2., 1.});
  EXPECT_EQ(report.outcome, Outcome::iteration_limit);
  expect_near(x, {8. / 23., 4. / 23.}, 10. * eps);
}

TEST_P(SolverTest, TwoUnknownsAreSolvedInTwoIterations)
{
  for (const char *const preconditioner : preconditioners) {
    const auto [report, x] =
        run(method(solver, preconditioner, 1e-13), dense({{4., 1.}, {1., 3.}}), {1., 2.}, {2., 1.});
    EXPECT_EQ(report.outcome, Outcome::converged) << report.message;
    EXPECT_EQ(report.iterations, 2);
    expect_near(x, {1. / 11., 7. / 11.}, 50. * eps);
  }
}

TEST_P(SolverTest, DiagonalMatrixTakesOneIterationForEachDistinctEntry)
{
  const HostMatrix A = diagonal({1., 2., 4., 1., 2., 4., 4.});
  const std::vector<double> b = {1., 1., 1., 2., 2., 2., 0.};
  const std::vector<double> solution = {1., 0.5, 0.25, 2., 1., 0.5, 0.};
  const auto without = run(method(solver, "identity", 1e-13), A, b);
  EXPECT_TRUE(without.report.converged()) << without.report.message;
  EXPECT_EQ(without.report.iterations, 3);
  expect_near(without.x, solution, 100. * eps);
  const auto with_jacobi = run(method(solver, "jacobi", 1e-13), A, b);
  EXPECT_TRUE(with_jacobi.report.converged()) << with_jacobi.report.message;
  EXPECT_EQ(with_jacobi.report.iterations, 1);
  expect_near(with_jacobi.x, solution, 10. * eps);
}

TEST_P(SolverTest, AwkwardSystemsAreSolved)
{
  const std::vector<HostMatrix> matrices = {
      laplacian_1d(1),  laplacian_1d(31),         laplacian_1d(32),       laplacian_1d(33),
      arrow(2000),      random_spd(100007, 6, 1), random_spd(700, 60, 2), laplacian_3d(12, 11, 10),
      box_27(9, 10, 11)};
  for (const char *const preconditioner : preconditioners)
    for (const HostMatrix &A : matrices) {
      SCOPED_TRACE(std::string(preconditioner) + ", " + std::to_string(A.n) + " rows");
      const std::vector<double> b = random_vector(A.n, 3);
      const auto [report, x] = run(method(solver, preconditioner, 1e-11), A, b);
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_LE(residual_norm(A, b, x), 1.001e-11 * norm(b));
      EXPECT_NEAR(report.true_residual, residual_norm(A, b, x), 1e-3 * report.target);
    }
}

TEST_P(SolverTest, NoRowsAreSolvedInNoIterations)
{
  for (const char *const preconditioner : preconditioners) {
    const auto [report, x] = run(method(solver, preconditioner), diagonal({}), {});
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_EQ(report.history, std::vector<double>{0.});
    EXPECT_TRUE(x.empty());
  }
}

TEST_P(SolverTest, ZeroRightHandSideGivesZeroInNoIterations)
{
  for (const auto reference :
       {SolveControl::Reference::rhs, SolveControl::Reference::initial_residual}) {
    LinearSolverOptions options = method(solver, "jacobi");
    options.control.reference = reference;
    const auto [report, x] =
        run(options, laplacian_1d(5), {0., 0., 0., 0., 0.}, {1., 2., 3., 4., 5.});
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_EQ(report.true_residual, 0.);
    EXPECT_EQ(report.target, 0.);
    EXPECT_EQ(x, std::vector<double>(5));
  }
}

TEST_P(SolverTest, ExactInitialGuessTakesNoIterations)
{
  const HostMatrix A = laplacian_2d(20, 20);
  const std::vector<double> solution = integer_vector(400, 4);
  for (const auto reference :
       {SolveControl::Reference::rhs, SolveControl::Reference::initial_residual}) {
    LinearSolverOptions options = method(solver, "jacobi");
    options.control.reference = reference;
    const auto [report, x] = run(options, A, multiply(A, solution), solution);
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_EQ(report.initial_residual, 0.);
    EXPECT_EQ(report.history, std::vector<double>{0.});
    EXPECT_EQ(x, solution);
  }
}

TEST_P(SolverTest, ToleranceIsRelativeToTheRightHandSideByDefault)
{
  const HostMatrix A = laplacian_2d(20, 20);
  const std::vector<double> b = random_vector(400, 5), far_guess(400, 1000.);
  const auto [report, x] = run(method(solver, "jacobi", 1e-6), A, b, far_guess);
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_NEAR(report.rhs_norm, norm(b), 1e-12 * norm(b));
  EXPECT_NEAR(report.target, 1e-6 * norm(b), 1e-12 * norm(b));
  EXPECT_GT(report.initial_residual, 100. * norm(b));
  EXPECT_LE(residual_norm(A, b, x), 1.001e-6 * norm(b));
}

TEST_P(SolverTest, ToleranceCanBeRelativeToTheInitialResidual)
{
  const HostMatrix A = laplacian_2d(20, 20);
  const std::vector<double> b = random_vector(400, 5), far_guess(400, 1000.);
  LinearSolverOptions options = method(solver, "jacobi", 1e-6);
  const int iterations_for_rhs = run(options, A, b, far_guess).report.iterations;
  options.control.reference = SolveControl::Reference::initial_residual;
  const auto [report, x] = run(options, A, b, far_guess);
  const double initial = residual_norm(A, b, far_guess);
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_NEAR(report.initial_residual, initial, 1e-12 * initial);
  EXPECT_NEAR(report.target, 1e-6 * initial, 1e-12 * initial);
  EXPECT_LE(residual_norm(A, b, x), 1.001e-6 * initial);
  EXPECT_LT(report.iterations, iterations_for_rhs);
}

TEST_P(SolverTest, AbsoluteToleranceHoldsWhereItIsLarger)
{
  const HostMatrix A = laplacian_2d(20, 20);
  const std::vector<double> b = random_vector(400, 5);
  LinearSolverOptions options = method(solver, "jacobi", 1e-12);
  options.control.absolute_tolerance = 1e-3;
  const auto loose = run(options, A, b);
  EXPECT_TRUE(loose.report.converged());
  EXPECT_EQ(loose.report.target, 1e-3);
  EXPECT_LE(residual_norm(A, b, loose.x), 1.001e-3);
  EXPECT_GT(residual_norm(A, b, loose.x), 1e-6);
  options.control.absolute_tolerance = 1e-300;
  EXPECT_NEAR(run(options, A, b).report.target, 1e-12 * norm(b), 1e-24);
}

TEST_P(SolverTest, ReportSaysWhatWasDone)
{
  if (is_distributed())
    GTEST_SKIP() << "of LinearSolver";
  const HostMatrix A = laplacian_2d(40, 30);
  const std::vector<double> b = random_vector(A.n, 6);
  for (const char *const preconditioner : preconditioners) {
    const SolveReport report = run(method(solver, preconditioner, 1e-8), A, b).report;
    EXPECT_EQ(report.method.solver, solver);
    EXPECT_EQ(report.method.preconditioner, preconditioner);
    EXPECT_EQ(report.method.backend, executor->name());
    EXPECT_EQ(report.method.format, "csr, 1 thread per row");
    EXPECT_EQ(report.restarts, 0);
    EXPECT_GT(report.costs.solve_seconds, 0.);
    EXPECT_GT(report.costs.transfer.seconds, 0.);
    EXPECT_GE(report.costs.setup_seconds, 0.);
    EXPECT_LE(report.true_residual, report.target);
  }
}

// An iteration reads A once, accesses 11 (classical), 9 (pipelined) or 12 (Chronopoulos-Gear)
// vectors of n doubles, and reads M⁻¹ twice, or once with Chronopoulos-Gear.
TEST_P(SolverTest, BytesOfAnIterationAreThoseCountedByHand)
{
  if (is_distributed())
    GTEST_SKIP() << "each part counts its own";
  HostMatrix A = laplacian_1d(100); // 298 entries
  A.values.front() = 3.;            // M is not a multiple of I
  const std::size_t vectors = solver == "cg" ? 11 : solver == "pipelined-cg" ? 9 : 12;
  const std::size_t of_inverse = solver == "chronopoulos-gear-cg" ? 1 : 2;
  const std::size_t of_matrix = 101 * 4 + 298 * 12;
  const std::vector<double> b(100, 1.);
  EXPECT_EQ(run(method(solver, "identity"), A, b).report.method.bytes_per_iteration,
            of_matrix + vectors * 800);
  EXPECT_EQ(run(method(solver, "jacobi"), A, b).report.method.bytes_per_iteration,
            of_matrix + (vectors + of_inverse) * 800);
}

TEST_P(SolverTest, HistoryGoesFromTheInitialResidualBelowTheTarget)
{
  const HostMatrix A = laplacian_2d(40, 30);
  const std::vector<double> b = random_vector(A.n, 6);
  for (const char *const preconditioner : preconditioners) {
    const SolveReport report = run(method(solver, preconditioner, 1e-8), A, b).report;
    const std::vector<double> &history = report.history;
    ASSERT_EQ(history.size(), static_cast<std::size_t>(report.iterations) + 1);
    EXPECT_EQ(history.front(), report.initial_residual);
    EXPECT_NEAR(history.front(), norm(b), 1e-13 * norm(b)); // x₀ = 0
    for (std::size_t k = 0; k + 1 < history.size(); ++k)
      EXPECT_GT(history[k], report.target) << "and yet it went on after iteration " << k;
    EXPECT_LE(history.back(), report.target);
    EXPECT_NEAR(history.back(), report.true_residual, 1e-4 * report.true_residual);
  }
}

TEST_P(SolverTest, ShorterSolveHasTheBeginningOfTheHistory)
{
  const HostMatrix A = laplacian_2d(40, 30);
  const std::vector<double> b = random_vector(A.n, 6);
  LinearSolverOptions options = method(solver, "jacobi", 1e-8);
  const std::vector<double> full = run(options, A, b).report.history;
  for (const int limit : {0, 1, 7, 8, 9, 20}) {
    options.control.max_iterations = limit;
    const auto [report, x] = run(options, A, b);
    EXPECT_EQ(report.outcome, Outcome::iteration_limit);
    ASSERT_EQ(report.iterations, limit);
    EXPECT_TRUE(std::equal(report.history.begin(), report.history.end(), full.begin()));
    EXPECT_NEAR(residual_norm(A, b, x), full[static_cast<std::size_t>(limit)], 1e-10 * full[0]);
  }
}

TEST_P(SolverTest, MessageNamesMethodAndNumbers)
{
  const HostMatrix A = laplacian_2d(40, 30);
  const std::vector<double> b(static_cast<std::size_t>(A.n), 1.);
  LinearSolverOptions options = method(solver, "jacobi");
  const SolveReport good = run(options, A, b).report;
  EXPECT_EQ(good.message.find(solver + " with jacobi converged in " +
                              std::to_string(good.iterations) + " iterations"),
            0U)
      << good.message;
  options.control.max_iterations = 3;
  const SolveReport bad = run(options, A, b).report;
  EXPECT_EQ(bad.message.find(solver + " with jacobi did not converge in 3 iterations"), 0U)
      << bad.message;
  EXPECT_NE(bad.message.find("iteration limit"), std::string::npos) << bad.message;
  EXPECT_NE(bad.message.find("target 3.464e-09"), std::string::npos) << bad.message;
}

TEST_P(SolverTest, RepeatsAreBitIdentical)
{
  const HostMatrix A = box_27(17, 19, 23);
  const std::vector<double> b = random_vector(A.n, 8);
  const Solved first = run(method(solver, "jacobi"), A, b);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const Solved again = run(method(solver, "jacobi"), A, b);
    EXPECT_EQ(again.x, first.x);
    EXPECT_EQ(again.report.history, first.report.history);
    EXPECT_EQ(again.report.true_residual, first.report.true_residual);
  }
}

/// An unsymmetric preconditioner, which solvers for symmetric systems must reject.
class Unsymmetric final : public Preconditioner
{
public:
  void setup(const Matrix & /* A */) override
  {}
  void update(const Matrix & /* A */) override
  {}
  Action action() const override
  {
    return DiagonalView();
  }
  SetupReport setup_report() const override
  {
    return {};
  }
  bool is_symmetric() const override
  {
    return false;
  }
  std::string name() const override
  {
    return "slanted";
  }
  std::size_t bytes() const override
  {
    return 0;
  }
};

TEST_P(SolverTest, UnsymmetricPreconditionerIsRefusedByName)
{
  const CsrMatrix A(executor, laplacian_1d(3).csr());
  const Buffer<double> b(executor, 3);
  Buffer<double> x(executor, 3);
  const auto method = make_solver(solver, executor->backend());
  const std::string text =
      text_of<ParameterError>([&] { method->solve(A, Unsymmetric(), b, x, {}); });
  EXPECT_NE(text.find("'" + solver + "'"), std::string::npos) << text;
  EXPECT_NE(text.find("'slanted'"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Backends, SolverTest,
                         testing::Combine(backends_and_two_ranks(), spd_solvers()), words);

class FormsOfCG : public OnBackend
{};

TEST_P(FormsOfCG, NeedAsManyIterationsForTheSameResidual)
{
  for (const HostMatrix &A : {laplacian_2d(100, 100), box_27(20, 20, 20), random_spd(5000, 8, 9)})
    for (const char *const preconditioner : preconditioners)
      for (const double tolerance : {1e-8, 1e-12}) {
        SCOPED_TRACE(std::to_string(A.n) + " rows, " + preconditioner);
        const std::vector<double> b = random_vector(A.n, 10);
        const auto classical = solve(executor, method("cg", preconditioner, tolerance), A, b);
        const int iterations = classical.report.iterations;
        for (const char *const form : {"cg", "pipelined-cg", "chronopoulos-gear-cg"}) {
          const Solved solved = solve(executor, method(form, preconditioner, tolerance), A, b);
          EXPECT_TRUE(solved.report.converged()) << solved.report.message;
          EXPECT_NEAR(solved.report.iterations, iterations, std::max(1., 0.02 * iterations))
              << form;
          EXPECT_LE(residual_norm(A, b, solved.x), 1.001 * tolerance * norm(b));
        }
      }
}

INSTANTIATE_TEST_SUITE_P(Backends, FormsOfCG, backends(), backend_name);

TEST(SolverRegistry, UnknownNameIsAnErrorThatListsTheValidOnes)
{
  const std::string text = text_of<ParameterError>([] { make_solver("gcr", BackendKind::host); });
  for (const std::string substring : {"'gcr'", "cg", "pipelined-cg", "bicgstab"})
    EXPECT_NE(text.find(substring), std::string::npos) << text;
}

TEST(SolverRegistry, EveryNameIsFoundAndRefusesOptionsThatItDoesNotHave)
{
  for (const Choice &choice : solvers.choices()) {
    SCOPED_TRACE(choice.name);
    EXPECT_NE(make_solver(' ' + choice.name + "  ", BackendKind::host), nullptr);
    const std::string text = text_of<ParameterError>(
        [&] { make_solver(choice.name + " colour=red", BackendKind::host); });
    EXPECT_NE(text.find("'" + choice.name + "' has no option 'colour'; "), std::string::npos)
        << text;
  }
}

TEST(SolverRegistry, TraitsAreThoseOfWhatIsMade)
{
  const auto executor = make_executor("host");
  const CsrMatrix A(executor, laplacian_1d(3).csr());
  const Buffer<double> b(executor, 3);
  Buffer<double> x(executor, 3);
  for (const auto &[name, meaning, make, traits] : solvers) {
    SCOPED_TRACE(name);
    const auto solver = make_solver(name, BackendKind::host);
    if (traits.preconditioner != nullptr) // its own preconditioner excludes it from batches
      EXPECT_FALSE(traits.supports_batch);
    else
      EXPECT_EQ(solver->batch() != nullptr, traits.supports_batch);
    EXPECT_EQ(solver->block() != nullptr, traits.supports_block);
    const auto solve = [&] { solver->solve(A, Unsymmetric(), b, x, {}); };
    if (traits.needs_symmetry)
      EXPECT_THROW(solve(), ParameterError);
    else
      EXPECT_NO_THROW(solve());
  }
}

TEST(PreconditionerRegistry, TraitsAreThoseOfWhatIsMade)
{
  const CsrMatrix A(make_executor("host"), laplacian_2d(4, 4).csr());
  for (const auto &[name, meaning, make, traits] : linalg::preconditioners) {
    const auto M = make_preconditioner(name, BackendKind::host);
    M->setup(A);
    EXPECT_EQ(std::holds_alternative<DiagonalView>(M->action()), traits.is_fused) << name;
  }
}

TEST(SolverRegistry, TextThatIsNoNameWithOptionsIsAnError)
{
  for (const std::string text : {"", "restart=30", "cg restart", "cg restart=1 restart=2"})
    EXPECT_THROW(make_solver(text, BackendKind::host), ParameterError) << text;
}
} // namespace
} // namespace femgpu::linalg::test
