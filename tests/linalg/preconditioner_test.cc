#include "linalg/preconditioners/registry.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace femgpu::linalg::test
{
namespace
{
/// Returns every preconditioner for symmetric positive definite systems, with options.
std::vector<std::string> spd_preconditioners()
{
  return {"identity",
          "jacobi",
          "block-jacobi block=1",
          "chebyshev",
          "chebyshev degree=1",
          "chebyshev degree=7 ratio=100 eigenvalue=gershgorin",
          "neumann degree=3",
          "fsai",
          "fsai tau=0.9 power=2",
          "fsai tau=0.5 power=3",
          "fsai grow=2 drop=0.1",
          "ainv",
          "sainv drop=0.02 fill=30"};
}

class PreconditionedCG : public OnBackendWithSolver
{};

TEST_P(PreconditionedCG, FindsTheSolutionWithEveryPreconditioner)
{
  for (const HostMatrix &A : {laplacian_1d(1), laplacian_1d(33), laplacian_2d(40, 30),
                              box_27(9, 10, 11), random_spd(2000, 8, 3)}) {
    const std::vector<double> x = random_vector(A.n, 1), b = multiply(A, x);
    for (const std::string &preconditioner : spd_preconditioners()) {
      SCOPED_TRACE(std::to_string(A.n) + " rows, " + preconditioner);
      const Solved solved = run(method(solver, preconditioner, 1e-12), A, b);
      EXPECT_TRUE(solved.report.converged()) << solved.report.message;
      EXPECT_LT(relative_difference(solved.x, x), 1e-8);
      EXPECT_EQ(run(method(solver, preconditioner, 1e-12), A, b).x, solved.x) << "a repeat differs";
    }
  }
}

TEST_P(PreconditionedCG, TakesFewerIterationsWithBetterInverses)
{
  const ModelProblem problem = generate("poisson2d-5pt:80");
  const auto iterations = [&](const std::string &preconditioner) {
    const Solved solved = run(method(solver, preconditioner, 1e-8), problem.A, problem.b);
    EXPECT_TRUE(solved.report.converged()) << solved.report.message;
    return solved.report.iterations;
  };
  const int jacobi = iterations("jacobi");
  EXPECT_EQ(iterations("block-jacobi block=1"), jacobi);
  EXPECT_LT(iterations("fsai"), 0.75 * jacobi);
  EXPECT_LT(iterations("fsai power=2"), 0.9 * iterations("fsai"));
  EXPECT_LT(iterations("fsai power=3"), 0.9 * iterations("fsai power=2"));
  EXPECT_LT(iterations("fsai grow=3 drop=0.02"), 0.9 * iterations("fsai"));
  EXPECT_LT(iterations("chebyshev degree=4"), 0.4 * jacobi);
  EXPECT_LT(iterations("neumann degree=4"), 0.7 * jacobi);
}

TEST_P(PreconditionedCG, SolvesElasticityWithBlocksOfNodes)
{
  const ModelProblem problem = generate("elasticity3d-p1:6");
  int jacobi = 0;
  for (const char *const preconditioner : {"jacobi", "block-jacobi", "fsai", "chebyshev"}) {
    LinearSolverOptions options = method(solver, preconditioner, 1e-10);
    options.format = preconditioner == std::string("block-jacobi") ? "bsr" : "csr";
    const Solved solved = run(options, problem.A, problem.b);
    EXPECT_TRUE(solved.report.converged()) << solved.report.message;
    jacobi = jacobi == 0 ? solved.report.iterations : jacobi;
    EXPECT_LE(solved.report.iterations, jacobi);
  }
}

TEST_P(PreconditionedCG, FloatValuesAreRefinedToDoubleAccuracy)
{
  const HostMatrix A = random_spd(3000, 10, 9);
  const std::vector<double> x = random_vector(A.n, 1), b = multiply(A, x);
  LinearSolverOptions options = method(solver, "jacobi", 1e-13);
  options.format = "csr values=float";
  const Solved solved = run(options, A, b);
  EXPECT_TRUE(solved.report.converged()) << solved.report.message;
  EXPECT_GT(solved.report.restarts, 0);
  EXPECT_LT(relative_difference(solved.x, x), 1e-11);
}

TEST_P(PreconditionedCG, ShortColumnsWithFloatValuesConvergeToDoubleAccuracy)
{
  const HostMatrix A = laplacian_3d(20, 21, 22);
  const std::vector<double> x = random_vector(A.n, 1), b = multiply(A, x);
  LinearSolverOptions options = method(solver, "jacobi", 1e-10);
  options.format = "sell values=float";
  const Solved expected = run(options, A, b);
  options.format += " columns=short";
  const Solved solved = run(options, A, b);
  EXPECT_TRUE(solved.report.converged()) << solved.report.message;
  EXPECT_LE(solved.report.true_residual, 1e-10 * norm(b));
  EXPECT_LE(residual_norm(A, b, solved.x), 2e-10 * norm(b));
  EXPECT_EQ(solved.report.iterations, expected.report.iterations);
  EXPECT_EQ(solved.x, expected.x);
}

INSTANTIATE_TEST_SUITE_P(Backends, PreconditionedCG, testing::Combine(backends(), spd_solvers()),
                         words);

class PreconditionedBiCGStab : public OnBackendWithSolver
{};

TEST_P(PreconditionedBiCGStab, TakesFewerIterationsWithADenserSai)
{
  const ModelProblem problem = generate("convection-diffusion2d:60,5");
  int before = run(method(solver, "identity", 1e-8), problem.A, problem.b).report.iterations;
  for (const char *const preconditioner : {"sai tau=1", "sai tau=1 power=2", "sai power=3"}) {
    const Solved solved = run(method(solver, preconditioner, 1e-8), problem.A, problem.b);
    EXPECT_TRUE(solved.report.converged()) << solved.report.message;
    EXPECT_LT(solved.report.iterations, before) << preconditioner;
    before = solved.report.iterations;
  }
}

TEST_P(PreconditionedBiCGStab, FindsTheSolutionWithEveryPreconditioner)
{
  const HostMatrix A = random_dominant(1500, 7, 4);
  const std::vector<double> x = random_vector(A.n, 1), b = multiply(A, x);
  for (const char *const preconditioner :
       {"jacobi", "block-jacobi block=3", "sai", "sai side=left", "sai tau=0",
        "sai tau=0.5 power=2", "chebyshev degree=2", "neumann degree=2"}) {
    const Solved solved = run(method(solver, preconditioner, 1e-12), A, b);
    EXPECT_TRUE(solved.report.converged()) << preconditioner << ": " << solved.report.message;
    EXPECT_LT(relative_difference(solved.x, x), 1e-9) << preconditioner;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, PreconditionedBiCGStab,
                         testing::Combine(backends(), general_solvers()), words);

using Dense = std::vector<std::vector<long double>>; // stored by columns

/// Returns the minimiser m of ‖A m − e‖₂ by Householder reflections. A has more rows than columns.
std::vector<long double> least_squares(Dense A, std::vector<long double> e)
{
  const std::size_t n1 = e.size(), n2 = A.size();
  const auto reflect = [&](const std::vector<long double> &h, std::vector<long double> &v) {
    long double hh = 0., hv = 0.;
    for (std::size_t i = 0; i < n1; ++i) {
      hh += h[i] * h[i];
      hv += h[i] * v[i];
    }
    for (std::size_t i = 0; i < n1; ++i)
      v[i] -= 2. * hv / hh * h[i];
  };
  for (std::size_t c = 0; c < n2; ++c) {
    std::vector<long double> h(n1, 0.);
    long double norm = 0.;
    for (std::size_t i = c; i < n1; ++i) {
      h[i] = A[c][i];
      norm += h[i] * h[i];
    }
    h[c] += std::copysign(std::sqrt(norm), h[c]);
    for (std::size_t l = c; l < n2; ++l)
      reflect(h, A[l]);
    reflect(h, e);
  }
  std::vector<long double> m(n2);
  for (std::size_t left = n2; left > 0; --left) {
    const std::size_t c = left - 1;
    m[c] = e[c];
    for (std::size_t l = left; l < n2; ++l)
      m[c] -= A[l][c] * m[l];
    m[c] /= A[c][c];
  }
  return m;
}

template <class T>
std::vector<T> host_copy(const Executor &executor, const T *from, const int size)
{
  std::vector<T> result(static_cast<std::size_t>(size));
  executor.copy_to_host(result.data(), from, result.size() * sizeof(T));
  return result;
}

/// Returns M of a preconditioner that consists of one CSR matrix. For fsai, returns the last
/// factor, Gᵀ.
CsrView<double> csr_view_of(const Preconditioner &M)
{
  return std::get<CsrView<double>>(std::get<const PreconditionerOperator *>(M.action())->view());
}

/// Returns the values of csr_view_of(@p M) on the host, row by row.
std::vector<double> host_values(const Preconditioner &M, const Executor &executor)
{
  const CsrView<double> view = csr_view_of(M);
  return host_copy(executor, view.values, host_copy(executor, view.row_starts.low + view.n, 1)[0]);
}

/// Returns M of a preconditioner that consists of one CSR matrix, as a dense matrix by columns.
Dense dense_inverse(const Preconditioner &preconditioner, const Executor &executor)
{
  const CsrView<double> M = csr_view_of(preconditioner);
  const std::vector<int> starts = host_copy(executor, M.row_starts.low, M.n + 1);
  const std::vector<int> columns = host_copy(executor, M.columns, starts.back());
  const std::vector<double> values = host_copy(executor, M.values, starts.back());
  const auto n = static_cast<std::size_t>(M.n);
  Dense dense(n, std::vector<long double>(n, 0.));
  for (std::size_t i = 0; i < n; ++i)
    for (int k = starts[i]; k < starts[i + 1]; ++k)
      dense[columns[k]][i] = values[k];
  return dense;
}

Dense dense_columns(const HostMatrix &A)
{
  const auto n = static_cast<std::size_t>(A.n);
  Dense dense(n, std::vector<long double>(n, 0.));
  for (std::size_t i = 0; i < n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      dense[A.columns[k]][i] = A.values[k];
  return dense;
}

/// A reference implementation of SAI that computes M column by column, with all rows of A. M has
/// the pattern of S^power, where S contains the entries with |a| > (1 - tau) max |a|.
Dense reference_sai(const Dense &A, const double tau, const int power)
{
  const std::size_t n = A.size();
  std::vector<std::vector<bool>> S(n, std::vector<bool>(n)), pattern;
  for (std::size_t c = 0; c < n; ++c) {
    long double largest = 0.;
    for (const long double a : A[c])
      largest = std::max(largest, std::abs(a));
    for (std::size_t i = 0; i < n; ++i)
      S[c][i] = i == c || std::abs(A[c][i]) > (1. - tau) * largest;
  }
  pattern = S;
  for (int p = 1; p < power; ++p) {
    const auto before = pattern;
    for (std::size_t c = 0; c < n; ++c)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = 0; before[c][j] && i < n; ++i)
          pattern[c][i] = pattern[c][i] || S[j][i];
  }
  Dense M(n, std::vector<long double>(n, 0.));
  for (std::size_t c = 0; c < n; ++c) {
    Dense A_hat;
    for (std::size_t j = 0; j < n; ++j)
      if (pattern[c][j])
        A_hat.push_back(A[j]);
    std::vector<long double> e(n, 0.);
    e[c] = 1.;
    const std::vector<long double> m = least_squares(A_hat, e);
    for (std::size_t j = 0, l = 0; j < n; ++j)
      if (pattern[c][j])
        M[c][j] = m[l++];
  }
  return M;
}

class SaiTest : public OnBackend
{
protected:
  std::unique_ptr<Preconditioner> make(const std::string &text, const HostMatrix &A)
  {
    auto M = make_preconditioner(text, executor->backend());
    csr = std::make_unique<CsrMatrix>(executor, A.csr());
    M->setup(*csr);
    return M;
  }

  std::unique_ptr<CsrMatrix> csr;
};

TEST_P(SaiTest, IsTheLeastSquaresSolutionOfEachColumn)
{
  for (const HostMatrix &A : {laplacian_1d(33), convection_diffusion(7, 6, 3., -2.),
                              random_dominant(60, 6, 2), box_27(4, 3, 3), arrow(40)})
    for (const double tau : {1., 0.6, 0.})
      for (const int power : {1, 2, 3}) {
        SCOPED_TRACE(std::to_string(A.n) + " rows, tau " + std::to_string(tau) + ", power " +
                     std::to_string(power));
        const auto M =
            make("sai tau=" + std::to_string(tau) + " power=" + std::to_string(power), A);
        const Dense expected = reference_sai(dense_columns(A), tau, power);
        const Dense found = dense_inverse(*M, *executor);
        long double difference = 0., largest = 0.;
        for (std::size_t c = 0; c < expected.size(); ++c)
          for (std::size_t i = 0; i < expected.size(); ++i) {
            difference = std::max(difference, std::abs(found[c][i] - expected[c][i]));
            largest = std::max(largest, std::abs(expected[c][i]));
          }
        EXPECT_LE(difference, 1e-12 * largest);
      }
}

TEST_P(SaiTest, FromTheLeftIsTheOneOfTheTransposedMatrixTransposed)
{
  const HostMatrix A = random_dominant(50, 5, 8);
  HostMatrix At;
  const Dense columns = dense_columns(A);
  for (int i = 0; i < A.n; ++i) {
    for (int j = 0; j < A.n; ++j)
      if (columns[i][j] != 0.)
        At.add(j, static_cast<double>(columns[i][j]));
    At.end_row();
  }
  const Dense left = dense_inverse(*make("sai tau=0.8 side=left", A), *executor);
  const Dense right = dense_inverse(*make("sai tau=0.8", At), *executor);
  for (int i = 0; i < A.n; ++i)
    for (int j = 0; j < A.n; ++j)
      EXPECT_EQ(left[i][j], right[j][i]);
}

/// Returns row k of the M with A's pattern that minimises ‖MA − I‖_F, by a dense local problem.
std::vector<long double> reference_row(const HostMatrix &A, const int k)
{
  const auto entries = [&](const int j) { return std::pair(A.row_starts[j], A.row_starts[j + 1]); };
  std::map<int, std::size_t> indices; // local indices of the columns
  const auto [begin, end] = entries(k);
  for (int l = begin; l < end; ++l)
    for (auto [e, last] = entries(A.columns[l]); e < last; ++e)
      indices.emplace(A.columns[e], 0);
  std::size_t n1 = 0;
  for (auto &[column, index] : indices)
    index = n1++;
  Dense A_hat;
  for (int l = begin; l < end; ++l) {
    A_hat.emplace_back(n1, 0.L);
    for (auto [e, last] = entries(A.columns[l]); e < last; ++e)
      A_hat.back()[indices[A.columns[e]]] = A.values[e];
  }
  std::vector<long double> e_k(n1, 0.L);
  e_k[indices[k]] = 1.L;
  return least_squares(A_hat, e_k);
}

/// Returns a tridiagonal matrix without zeros plus diagonal blocks of @p sizes every 3000 rows.
HostMatrix tridiagonal_with_blocks(const int n, const std::vector<int> &sizes)
{
  const auto block = [&](const int i) { // returns the block of row i
    const auto b = static_cast<std::size_t>(i / 3000);
    return b < sizes.size() && i % 3000 < sizes[b] ? static_cast<int>(b) : -1;
  };
  const std::vector<double> entries = random_vector(1009, 3);
  HostMatrix A;
  for (int i = 0; i < n; ++i) {
    const int first = block(i) < 0 ? i - 1 : std::min(i - 1, 3000 * block(i));
    const int last = block(i) < 0 ? i + 1 : std::max(i + 1, 3000 * block(i) + sizes[block(i)] - 1);
    for (int j = std::max(first, 0); j <= std::min(last, n - 1); ++j)
      A.add(j, i == j ? 8. : 0.1 + entries[(7 * i + 3 * j) % 1009] * entries[j % 1009]);
    A.end_row();
  }
  return A;
}

// Blocks of 180 rows exceed the shared memory of a GPU; blocks of 30, 60 and 120 rows need more
// shared memory than the other rows.
TEST_P(SaiTest, RowsOfVeryDifferentSizesAreLeastSquaresSolutionsToo)
{
  const HostMatrix A = tridiagonal_with_blocks(24000, {30, 180, 60, 120});
  const auto M = make("sai side=left", A);
  const std::vector<double> values = host_values(*M, *executor);
  ASSERT_EQ(values.size(), A.values.size());
  for (const int k : {0,    15,   29,   30,   31,   1500, 2999, 3000, 3100,  3179,
                      3180, 6000, 6059, 6061, 9000, 9077, 9119, 9120, 12345, 23999}) {
    const std::vector<long double> expected = reference_row(A, k);
    long double difference = 0., largest = 0.;
    for (std::size_t l = 0; l < expected.size(); ++l) {
      difference = std::max(difference, std::abs(values[A.row_starts[k] + l] - expected[l]));
      largest = std::max(largest, std::abs(expected[l]));
    }
    EXPECT_LE(difference, 1e-12 * largest) << "row " << k;
  }
}

TEST_P(SaiTest, IsTheSameToTheLastBitWhenMadeAgain)
{
  for (const HostMatrix &A :
       {box_27(12, 11, 10), random_dominant(3000, 12, 6), tridiagonal_with_blocks(7000, {40, 200})})
    for (const char *const text : {"sai", "sai side=left tau=0.9 power=2", "fsai power=2"}) {
      const auto M = make_preconditioner(text, executor->backend());
      const CsrMatrix B(executor, A.csr());
      std::vector<double> first;
      for (int repeat = 0; repeat < 2; ++repeat) {
        M->setup(B);
        const std::vector<double> values = host_values(*M, *executor);
        first = repeat == 0 ? values : first;
        EXPECT_EQ(values, first) << text;
      }
    }
}

TEST_P(SaiTest, EmptyRowsBesideOthersGiveZerosAndAreCounted)
{
  HostMatrix A = laplacian_1d(1000);
  HostMatrix B; // A without the entries of rows 10, 11, 12 and 500
  int n_dependent = 0;
  for (int i = 0; i < A.n; ++i) {
    const bool is_empty = (i >= 10 && i <= 12) || i == 500;
    for (int k = A.row_starts[i]; !is_empty && k < A.row_starts[i + 1]; ++k)
      B.add(A.columns[k], A.values[k]);
    B.end_row();
    for (const int j : {i - 1, i, i + 1}) // patterns of neighbours contain the empty rows
      n_dependent += (is_empty ? j == i : (j >= 10 && j <= 12) || j == 500) ? 1 : 0;
  }
  const auto M = make("sai side=left", B);
  EXPECT_NE(M->setup_report().remarks.find(std::to_string(n_dependent) + " of 1000 least-squares"),
            std::string::npos)
      << M->setup_report().remarks;
  for (const double value : host_values(*M, *executor))
    EXPECT_TRUE(std::isfinite(value));
}

TEST_P(SaiTest, CountsColumnsWithoutFullRank)
{
  // The first two columns are equal: a local problem with both of them is rank-deficient.
  const auto M = make("sai", dense({{1., 1., 0.}, {1., 1., 0.}, {0., 0., 2.}}));
  const SetupReport report = M->setup_report();
  EXPECT_NE(report.remarks.find("2 of 3 least-squares"), std::string::npos) << report.remarks;
  for (const auto &column : dense_inverse(*M, *executor))
    for (const long double m : column)
      EXPECT_TRUE(std::isfinite(m));
}

TEST_P(SaiTest, HoldsRowsOfSeveralHundredEntries)
{
  const HostMatrix A = random_spd(400, 240, 8);
  const Solved solved = solve(executor, method("bicgstab", "sai", 1e-10), A, random_vector(400, 2));
  EXPECT_TRUE(solved.report.converged()) << solved.report.message;
  EXPECT_GT(solved.report.method.setup.n_nonzeros, 100U * 400U);
}

TEST_P(SaiTest, FsaiOfAFullPatternIsTheInverse)
{
  const HostMatrix A = random_spd(120, 300, 5);
  const Solved solved = solve(executor, method("cg", "fsai", 1e-9), A, random_vector(120, 2));
  EXPECT_TRUE(solved.report.converged()) << solved.report.message;
  EXPECT_LE(solved.report.iterations, 40);
  const HostMatrix small = laplacian_1d(4);
  const Solved exact =
      solve(executor, method("cg", "fsai power=3", 1e-12), small, {1., 2., 3., 4.});
  EXPECT_LE(exact.report.iterations, 1);
}

TEST_P(SaiTest, FsaiCountsRowsThatAreNotPositiveDefinite)
{
  const auto M = make("fsai", dense({{1., 2., 0.}, {2., 1., 0.}, {0., 0., 3.}}));
  EXPECT_NE(M->setup_report().remarks.find("1 rows as in Jacobi"), std::string::npos)
      << M->setup_report().remarks;
}

TEST_P(SaiTest, BlockJacobiIsExactForABlockDiagonalMatrixAndRefusesSingularBlocks)
{
  const HostMatrix A =
      dense({{4., 1., 0., 0.}, {1., 3., 0., 0.}, {0., 0., 2., 1.}, {0., 0., 1., 5.}});
  const Solved solved =
      solve(executor, method("cg", "block-jacobi block=2", 1e-12), A, {1., 2., 3., 4.});
  EXPECT_EQ(solved.report.iterations, 1);
  const std::string text = text_of<SolverError>([&] {
    make("block-jacobi block=2",
         dense({{1., 0., 0., 0.}, {0., 1., 0., 0.}, {0., 0., 1., 1.}, {0., 0., 1., 1.}}));
  });
  EXPECT_NE(text.find("starts at row 2"), std::string::npos) << text;
}

TEST_P(SaiTest, AnyPreconditionerIsAppliedByItself)
{
  const std::vector<double> d = {2., -4., 8.}, r = {1., 2., 3.};
  for (const char *const text : {"identity", "jacobi", "block-jacobi block=1", "sai"}) {
    const auto M = make(text, diagonal(d));
    Buffer<double> from(executor, r.data(), r.size()), to(executor, r.size());
    apply(*M, *executor, from, to);
    const std::vector<double> z = to.to_host();
    for (std::size_t i = 0; i < r.size(); ++i)
      EXPECT_EQ(z[i], text == std::string("identity") ? r[i] : r[i] / d[i]) << text;
  }
}

TEST_P(SaiTest, WrongOptionsAreErrorsThatNameThoseThereAre)
{
  const auto text = [&](const std::string &method) {
    return text_of<ParameterError>([&] { make_preconditioner(method, executor->backend()); });
  };
  EXPECT_NE(text("sai tua=1").find("use tau, power, longest, side, values"), std::string::npos);
  EXPECT_NE(text("sai tau=2").find("a number from 0 to 1"), std::string::npos);
  EXPECT_NE(text("fsai power=4").find("an integer from 1 to 3"), std::string::npos);
  EXPECT_NE(text("sai side=up").find("right or left"), std::string::npos);
  EXPECT_NE(text("jacobi block=3").find("it takes none"), std::string::npos);
  EXPECT_NE(text("sai tau").find("OPTION=VALUE"), std::string::npos);
  EXPECT_NE(text("sai tau=1 tau=0").find("twice"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Backends, SaiTest, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
