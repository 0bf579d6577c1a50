#include "linalg/execution/host/executor.h"
#include "linalg/partitions/partition.h"
#include "linalg/preconditioners/registry.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace femgpu::linalg::test
{
namespace
{
using Dense = std::vector<std::vector<double>>; // by rows unless a comment says otherwise

Dense dense_rows(const HostMatrix &A)
{
  const auto n = static_cast<std::size_t>(A.n);
  Dense rows(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      rows[i][static_cast<std::size_t>(A.columns[k])] = A.values[k];
  return rows;
}

HostMatrix transposed(const HostMatrix &A)
{
  const Dense rows = dense_rows(A);
  Dense columns(rows.size(), std::vector<double>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < rows.size(); ++j)
      columns[j][i] = rows[i][j];
  return dense(columns);
}

/// A reference implementation of AINV and SAINV, pivot by pivot in natural order: Wᵀ A Z = D and
/// M⁻¹ = Z D⁻¹ Wᵀ.
struct Reference
{
  Dense Z, W;                 ///< factors, stored by columns
  std::vector<double> pivots; ///< diagonal of D, computed with Z

  Reference(const HostMatrix &matrix, const bool is_stabilised, const double drop)
  {
    const Dense A = dense_rows(matrix), At = dense_rows(transposed(matrix));
    const std::size_t n = A.size();
    Z = W = Dense(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i)
      Z[i][i] = W[i][i] = 1.;
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> e(n);
      e[i] = 1.;
      const std::vector<double> Az = times(A, is_stabilised ? Z[i] : e);
      const std::vector<double> Aw = times(At, is_stabilised ? W[i] : e);
      pivots.push_back(product(Z[i], Aw));
      const double pivot_of_w = product(W[i], Az);
      for (std::size_t j = i + 1; j < n; ++j) {
        subtract(Z[j], product(Z[j], Aw) / pivots[i], Z[i], j, drop);
        subtract(W[j], product(W[j], Az) / pivot_of_w, W[i], j, drop);
      }
    }
  }

  std::vector<double> apply(const std::vector<double> &r) const
  {
    std::vector<double> z(r.size());
    for (std::size_t j = 0; j < r.size(); ++j) {
      const double y = product(W[j], r) / pivots[j];
      for (std::size_t i = 0; i < r.size(); ++i)
        z[i] += Z[j][i] * y;
    }
    return z;
  }

  static double product(const std::vector<double> &a, const std::vector<double> &b)
  {
    double sum = 0.;
    for (std::size_t i = 0; i < a.size(); ++i)
      sum += a[i] * b[i];
    return sum;
  }
  static std::vector<double> times(const Dense &A, const std::vector<double> &v)
  {
    std::vector<double> result;
    for (const std::vector<double> &row : A)
      result.push_back(product(row, v));
    return result;
  }
  static void subtract(std::vector<double> &z, const double factor, const std::vector<double> &z_i,
                       const std::size_t j, const double drop)
  {
    if (factor == 0.)
      return;
    for (std::size_t r = 0; r < z.size(); ++r) {
      z[r] -= factor * z_i[r];
      if (r != j && std::abs(z[r]) <= drop)
        z[r] = 0.;
    }
  }
};

constexpr const char *orders[] = {"shortest", "colouring", "natural"};

class AinvTest : public OnBackend
{
protected:
  std::unique_ptr<Preconditioner> make(const std::string &text, const HostMatrix &A)
  {
    auto M = make_preconditioner(text, executor->backend());
    csr = std::make_unique<CsrMatrix>(executor, A.csr());
    M->setup(*csr);
    return M;
  }

  /// Returns M⁻¹ r.
  std::vector<double> applied(const Preconditioner &M, const std::vector<double> &host_r)
  {
    Buffer<double> r(executor, host_r.data(), host_r.size());
    Buffer<double> z(executor, host_r.size());
    apply(M, *executor, r, z);
    return z.to_host();
  }
  std::vector<double> applied(const std::string &text, const HostMatrix &A,
                              const std::vector<double> &r)
  {
    return applied(*make(text, A), r);
  }

  std::unique_ptr<CsrMatrix> csr;
};

TEST_P(AinvTest, TwoUnknownsAreWhatOneFindsByHand)
{
  // For (a b; b c), z_2 = (-b/a, 1) and p = (a, c - b²/a), so that M⁻¹ is the exact inverse.
  const HostMatrix A = dense({{4., 2.}, {2., 3.}});
  for (const char *const name : {"ainv", "sainv"}) {
    const auto M = make(std::string(name) + " drop=0 scaling=none order=natural", A);
    EXPECT_EQ(M->setup_report().n_nonzeros, 3U);
    EXPECT_TRUE(M->is_symmetric());
    EXPECT_LT(relative_difference(applied(*M, {8., 0.}), {3., -2.}), 4. * eps);
    // The entry -1/2 of Z is dropped. The pivots of AINV and SAINV are then the diagonal of A.
    const auto dropped = make(std::string(name) + " drop=0.5 scaling=none order=natural", A);
    EXPECT_EQ(dropped->setup_report().n_nonzeros, 2U);
    EXPECT_LT(relative_difference(applied(*dropped, {4., 3.}), {1., 1.}), 4. * eps);
  }
}

TEST_P(AinvTest, WithoutDroppingItIsTheInverseInEveryOrder)
{
  for (const HostMatrix &A : {laplacian_1d(1), laplacian_1d(2), laplacian_1d(33), arrow(70),
                              laplacian_2d(7, 9), box_27(4, 5, 3), random_spd(100, 5, 3)}) {
    const std::vector<double> x = random_vector(A.n, 1), b = multiply(A, x);
    for (const char *const name : {"ainv", "sainv"})
      for (const char *const order : orders)
        for (const char *const symmetric : {"auto", "no"}) {
          const std::string text =
              std::string(name) + " drop=0 order=" + order + " symmetric=" + symmetric;
          EXPECT_LT(relative_difference(applied(text, A, b), x), 1e-11) << A.n << " " << text;
        }
  }
}

TEST_P(AinvTest, UnsymmetricMatricesHaveTwoFactors)
{
  for (const HostMatrix &A : {convection_diffusion(7, 6, 3., -2.), random_dominant(90, 6, 2)}) {
    const std::vector<double> x = random_vector(A.n, 1), b = multiply(A, x);
    for (const char *const name : {"ainv", "sainv"})
      for (const char *const order : orders) {
        const auto M = make(std::string(name) + " drop=0 order=" + order, A);
        EXPECT_FALSE(M->is_symmetric());
        EXPECT_GE(M->setup_report().n_nonzeros, 2U * static_cast<std::size_t>(A.n));
        EXPECT_LT(relative_difference(applied(*M, b), x), 1e-11) << name << " " << order;
      }
  }
}

TEST_P(AinvTest, EachOfTwoFactorsHasItsOwnPivots)
{
  // z_2 = (-1/10, 1) loses its first entry, w_2 = (-1, 1): p_2 = a_2 z_2 = 2, q_2 = c_2 w_2 = 1.9.
  // z_3 = e_3 - 1/p_2 z_2 and w_3 = e_3 - 1/q_2 w_2, so p_3 = a_3 z_3 = 3 - 1/2.
  const HostMatrix A = dense({{1., 0.1, 0.}, {1., 2., 1.}, {0., 1., 3.}});
  const std::string options = " drop=0.4 scaling=none order=natural";
  const std::vector<double> r = {1., 2., 4.};
  const double y_1 = 1., y_2 = (2. - 1.) / 2., y_3 = (4. - (2. - 1.) / 1.9) / 2.5;
  EXPECT_LT(relative_difference(applied("ainv" + options, A, r), {y_1, y_2 - 0.5 * y_3, y_3}),
            4. * eps);
}

TEST_P(AinvTest, InTheNaturalOrderItIsTheAlgorithmWithOnePivotAfterTheOther)
{
  // For a tridiagonal matrix, every round has a single pivot, which changes one column. Each round
  // therefore drops the same entries as the sequential algorithm.
  for (const HostMatrix &A : {laplacian_1d(40), convection_diffusion(30, 1, 0.4, 0.)}) {
    const std::vector<double> r = random_vector(A.n, 2);
    for (const bool is_stabilised : {false, true})
      for (const double drop : {0.05, 0.2, 0.45}) { // 0.45 drops entries of only one factor
        const Reference reference(A, is_stabilised, drop);
        const std::string text = std::string(is_stabilised ? "sainv" : "ainv") +
                                 " order=natural scaling=none drop=" + std::to_string(drop);
        EXPECT_LT(relative_difference(applied(text, A, r), reference.apply(r)), 1e-12) << text;
      }
  }
}

TEST_P(AinvTest, SymmetricFactorsAreThoseOfTheBiconjugateForm)
{
  const HostMatrix A = laplacian_2d(13, 11);
  const std::vector<double> r = random_vector(A.n, 2);
  for (const char *const name : {"ainv", "sainv"}) {
    const std::vector<double> z = applied(name, A, r);
    EXPECT_LT(relative_difference(applied(std::string(name) + " symmetric=no", A, r), z), 1e-12);
  }
}

TEST_P(AinvTest, EntriesDependOnNoUnits)
{
  const HostMatrix A = random_spd(300, 6, 5);
  HostMatrix scaled = A;
  const auto s = [](const int i) { return std::ldexp(1., i % 21 - 10); };
  std::vector<double> r = random_vector(A.n, 3), scaled_r = r;
  for (int i = 0; i < A.n; ++i) {
    scaled_r[i] *= s(i);
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      scaled.values[k] *= s(i) * s(A.columns[k]);
  }
  std::vector<double> z = applied("sainv", scaled, scaled_r);
  for (int i = 0; i < A.n; ++i)
    z[i] *= s(i);
  EXPECT_LT(relative_difference(z, applied("sainv", A, r)), 1e-13);
}

TEST_P(AinvTest, PlainPivotsThatBreakDownAreNamedAndStabilisedOnesArePositive)
{
  // A is positive definite, but without the first entry of z_2 the third pivot of AINV is negative:
  // 1 - 1.024.
  const HostMatrix A = dense({{1., 0.4, 0.8}, {0.4, 1., 0.8}, {0.8, 0.8, 1.}});
  const HostMatrix indefinite = dense({{2., 1., 0.}, {1., 2., 3.}, {0., 3., 2.}});
  make("sainv drop=0.45 order=natural", A);
  make("sainv drop=2", A);
  const std::string text = text_of<SolverError>([&] { make("ainv drop=0.45 order=natural", A); });
  EXPECT_NE(text.find("the pivot of row 2"), std::string::npos) << text;
  EXPECT_NE(text.find("sainv"), std::string::npos) << text;
  const std::string stabilised =
      text_of<SolverError>([&] { make("sainv drop=0 order=natural", indefinite); });
  EXPECT_NE(stabilised.find("symmetric=no"), std::string::npos) << stabilised;
  // Without dropping, M⁻¹ is the inverse of A.
  const std::vector<double> x = {1., 2., 3.};
  EXPECT_LT(relative_difference(
                applied("sainv drop=0 symmetric=no", indefinite, multiply(indefinite, x)), x),
            1e-13);
}

TEST_P(AinvTest, ZeroPivotsOfTheBiconjugateFormAreNamed)
{
  const HostMatrix A = dense({{1., 1., 0.}, {2., 2., 1.}, {0., 1., 1.}});
  const std::string text = text_of<SolverError>([&] { make("sainv drop=0 order=natural", A); });
  EXPECT_NE(text.find("the pivot of row 1"), std::string::npos) << text;
}

TEST_P(AinvTest, WhatIsNoNumberEndsInAPivotThatIsNamed)
{
  HostMatrix A = laplacian_1d(5);
  A.values[1] = A.values[2] = std::nan(""); // entries (0, 1) and (1, 0)
  for (const char *const text : {"sainv symmetric=no", "ainv symmetric=no"})
    EXPECT_THROW(make(text, A), SolverError);
}

TEST_P(AinvTest, UnsymmetricMatricesAreRefusedBySymmetricFactors)
{
  const HostMatrix A = convection_diffusion(5, 5, 1., 0.);
  const std::string text = text_of<SolverError>([&] { make("sainv symmetric=yes", A); });
  EXPECT_NE(text.find("row 0"), std::string::npos) << text;
}

TEST_P(AinvTest, SymmetricValuesMayHaveAPatternThatIsNot)
{
  HostMatrix A; // the first row has a zero far from the diagonal
  for (int i = 0; i < 33; ++i) {
    for (int j = std::max(i - 1, 0); j <= std::min(i + 1, 32); ++j)
      A.add(j, i == j ? 2. : -1.);
    if (i == 0)
      A.add(20, 0.);
    A.end_row();
  }
  const std::vector<double> x = random_vector(A.n, 1), b = multiply(A, x);
  EXPECT_TRUE(make("ainv drop=0", A)->is_symmetric());
  EXPECT_LT(relative_difference(applied("ainv drop=0", A, b), x), 1e-11);
}

TEST_P(AinvTest, BlocksAreFactoredAsIfTheyWereAlone)
{
  const int n = 60, blocks = 4;
  const HostMatrix A = random_spd(n, 5, 8);
  Dense rows = dense_rows(A);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (i * blocks / n != j * blocks / n)
        rows[i][j] = 0.;
  const HostMatrix diagonal_blocks = dense(rows);
  const std::vector<double> r = random_vector(n, 3);
  for (const char *const name : {"ainv", "sainv"}) {
    const std::string text = std::string(name) + " drop=0.02 scaling=none";
    EXPECT_EQ(applied(text + " blocks=4", A, r), applied(text, diagonal_blocks, r));
  }
}

TEST_P(AinvTest, BlocksInAnotherOrderAreTheInverseOfThese)
{
  const ModelProblem problem = generate("poisson2d-5pt:12");
  std::vector<std::string> partitions = {"geometry"};
  if (have_metis())
    partitions.push_back("metis");
  for (const std::string &partition : partitions) {
    const auto M = make("sainv drop=0 blocks=3 partition=" + partition, problem.A);
    // (M⁻¹ r, s) = (r, M⁻¹ s)
    const std::vector<double> r = random_vector(problem.A.n, 1), s = random_vector(problem.A.n, 2);
    EXPECT_NEAR(Reference::product(applied(*M, r), s), Reference::product(r, applied(*M, s)),
                1e-12 * norm(r) * norm(s));
    const Solved solved =
        solve(executor, method("cg", "sainv drop=0 blocks=3 partition=" + partition), problem.A,
              problem.b);
    EXPECT_TRUE(solved.report.converged()) << solved.report.message;
    EXPECT_LT(solved.report.iterations, 30); // only the division into blocks costs iterations
  }
  EXPECT_LT(relative_difference(applied("sainv drop=0 partition=geometry", problem.A,
                                        multiply(problem.A, problem.b)),
                                problem.b),
            1e-11);
}

TEST_P(AinvTest, FillKeepsTheLargestEntriesOfAColumn)
{
  const HostMatrix A = laplacian_2d(20, 20);
  const auto n = static_cast<std::size_t>(A.n);
  EXPECT_LE(make("sainv drop=0 fill=1", A)->setup_report().n_nonzeros, 2 * n);
  const std::size_t five = make("sainv drop=0 fill=5", A)->setup_report().n_nonzeros;
  EXPECT_LE(five, 6 * n);
  EXPECT_GT(five, 3 * n);
  const std::vector<double> r = random_vector(A.n, 3);
  EXPECT_EQ(applied("sainv fill=400", A, r), applied("sainv", A, r));
}

TEST_P(AinvTest, AwkwardSizesAndFactorsThatOutgrowEveryWorkspace)
{
  for (const HostMatrix &A : {dense({}), laplacian_1d(31), laplacian_1d(32), laplacian_1d(33),
                              arrow(12000)}) { // every pivot changes column 0
    const std::vector<double> x = random_vector(A.n, 3);
    EXPECT_EQ(applied("sainv", A, x).size(), x.size());
    for (const char *const text : {"sainv drop=0", "sainv drop=0 symmetric=no"}) {
      if (A.n > 0) {
        EXPECT_LT(relative_difference(applied(text, A, multiply(A, x)), x), 1e-11)
            << A.n << " rows, " << text;
      }
    }
  }
  const HostMatrix A = laplacian_2d(22, 22); // columns of Z have hundreds of entries
  const std::vector<double> x = random_vector(A.n, 1), b = multiply(A, x);
  for (const char *const order : orders)
    EXPECT_LT(relative_difference(applied(std::string("sainv drop=0 order=") + order, A, b), x),
              1e-10);
}

TEST_P(AinvTest, RepeatsToTheLastBitForAnyNumberOfThreads)
{
  const HostMatrix A = random_spd(1500, 8, 3), B = random_dominant(1200, 7, 4);
  for (const char *const text : {"sainv", "ainv order=colouring", "sainv drop=0.01 fill=20"})
    for (const HostMatrix *const matrix : {&A, &B}) {
      const std::vector<double> r = random_vector(matrix->n, 1);
      const std::vector<double> z = applied(text, *matrix, r);
      EXPECT_EQ(applied(text, *matrix, r), z) << text;
      if (executor->backend() == BackendKind::host)
        for (const unsigned int threads : {1U, 3U}) {
          executor = std::make_shared<HostExecutor>(threads);
          EXPECT_EQ(applied(text, *matrix, r), z) << text << " with " << threads << " threads";
        }
    }
}

TEST_P(AinvTest, DeviceAndHostHaveTheSameFactors)
{
  const HostMatrix A = box_27(12, 11, 10), B = convection_diffusion(40, 30, 2., 1.);
  for (const char *const text : {"sainv drop=0.03", "ainv", "sainv order=natural blocks=3"})
    for (const HostMatrix *const matrix : {&A, &B}) {
      const std::vector<double> r = random_vector(matrix->n, 1);
      const std::vector<double> z = applied(text, *matrix, r);
      const ExecutorPtr mine = executor;
      executor = std::make_shared<HostExecutor>();
      EXPECT_LT(relative_difference(z, applied(text, *matrix, r)), 1e-10) << text;
      executor = mine;
    }
}

TEST_P(AinvTest, TakesFewerIterationsWithSmallerDrops)
{
  const ModelProblem problem = generate("poisson2d-5pt:80");
  const auto iterations = [&](const std::string &preconditioner, const std::string &solver) {
    const Solved solved =
        solve(executor, method(solver, preconditioner, 1e-8), problem.A, problem.b);
    EXPECT_TRUE(solved.report.converged()) << solved.report.message;
    return solved.report.iterations;
  };
  const int jacobi = iterations("jacobi", "cg");
  for (const std::string name : {"ainv", "sainv"}) {
    const int coarse = iterations(name, "cg"), fine = iterations(name + " drop=0.01", "cg");
    EXPECT_LT(coarse, 0.85 * jacobi) << name;
    EXPECT_LT(fine, 0.6 * coarse) << name;
    EXPECT_LE(std::abs(iterations(name, "pipelined-cg") - coarse), 2);
    EXPECT_LE(iterations(name, "pipelined-bicgstab"), coarse);
  }
}

TEST_P(AinvTest, BicgstabTakesFewerIterationsAndCgRefusesTheBiconjugateForm)
{
  const ModelProblem problem = generate("convection-diffusion2d:60,5");
  const auto iterations = [&](const std::string &preconditioner) {
    const Solved solved =
        solve(executor, method("bicgstab", preconditioner, 1e-8), problem.A, problem.b);
    EXPECT_TRUE(solved.report.converged()) << solved.report.message;
    return solved.report.iterations;
  };
  EXPECT_LT(iterations("sainv"), 0.6 * iterations("jacobi"));
  EXPECT_LT(iterations("sainv drop=0.01"), 0.6 * iterations("sainv"));
  EXPECT_THROW(solve(executor, method("cg", "sainv"), problem.A, problem.b), Error);
}

INSTANTIATE_TEST_SUITE_P(Backends, AinvTest, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
