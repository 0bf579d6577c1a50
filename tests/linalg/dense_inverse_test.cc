#include "linalg/preconditioners/multigrid/dense_inverse.h"

#include "linalg/execution/backends.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

/**
 * @file
 * Tests the dense inverse of the coarsest matrix of multigrid: pivoting, and symmetric, singular
 * and ill-conditioned matrices.
 */
namespace femgpu::linalg::test
{
namespace
{
enum class Symmetry
{
  no,
  yes
};

class DenseInverseTest : public OnBackend
{
protected:
  /// Returns the entries of the inverse by rows. Expects the inversion to omit
  /// @p rank_deficiency rows that depend on others.
  std::vector<double> invert(const HostMatrix &A, const Symmetry symmetry,
                             const int rank_deficiency = 0) const
  {
    std::vector<double> X;
    on_backend(executor->backend(), [&](const auto on) {
      const DenseInverse<typename decltype(on)::Backend> inverse(CsrMatrix(executor, A.csr()),
                                                                 symmetry == Symmetry::yes);
      EXPECT_EQ(inverse.rank_deficiency(), rank_deficiency);
      X = inverse.entries.to_host();
    });
    return X;
  }
};

std::vector<double> times(const std::vector<double> &X, const std::vector<double> &v)
{
  std::vector<double> result(v.size());
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t j = 0; j < v.size(); ++j)
      result[i] += X[i * v.size() + j] * v[j];
  return result;
}

/// Checks A X A = A by matrix-vector products.
void expect_inverse(const HostMatrix &A, const std::vector<double> &X, const double tolerance)
{
  for (unsigned int seed = 1; seed < 6 && A.n > 0; ++seed) {
    const std::vector<double> Av = multiply(A, random_vector(A.n, seed));
    EXPECT_LT(relative_difference(multiply(A, times(X, Av)), Av), tolerance) << A.n << " rows";
  }
}

void expect_symmetric(const std::vector<double> &X, const int n)
{
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      ASSERT_EQ(X[i * n + j], X[j * n + i]) << i << ", " << j;
}

/// Embeds B at row and column @p first of a symmetric diagonally dominant matrix of n rows.
HostMatrix embedded(const std::vector<std::vector<double>> &B, const int n, const int first)
{
  const auto size = static_cast<int>(B.size());
  std::vector<std::vector<double>> rows(n, std::vector<double>(n, 0.));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const int k = i - first, l = j - first;
      const bool is_row = k >= 0 && k < size, is_column = l >= 0 && l < size;
      if (is_row && is_column)
        rows[i][j] = B[k][l];
      else if (is_row == is_column)
        rows[i][j] = i == j ? 3. : std::abs(i - j) == 1 ? -1. : 0.;
    }
  return dense(rows);
}

/// Returns A².
HostMatrix square(const HostMatrix &A)
{
  std::vector<std::vector<double>> rows;
  for (int j = 0; j < A.n; ++j) {
    std::vector<double> unit(static_cast<std::size_t>(A.n));
    unit[j] = 1.;
    rows.push_back(multiply(A, multiply(A, unit)));
  }
  return dense(rows);
}

TEST_P(DenseInverseTest, InvertsAndLeavesOutWhatIsSingular)
{
  for (const HostMatrix &A : {laplacian_1d(0), laplacian_1d(1), random_spd(31, 5, 4),
                              random_spd(32, 5, 4), random_spd(33, 5, 1), random_spd(200, 9, 1)}) {
    const std::vector<double> X = invert(A, Symmetry::yes);
    expect_inverse(A, X, 1e-12);
    expect_symmetric(X, A.n);
    expect_inverse(A, invert(A, Symmetry::no), 1e-12);
  }
  for (const HostMatrix &A : {neumann_1d(31), neumann_1d(70)}) {
    const std::vector<double> X = invert(A, Symmetry::yes, 1);
    expect_inverse(A, X, 1e-12);
    expect_symmetric(X, A.n);
    expect_inverse(A, invert(A, Symmetry::no, 1), 1e-12);
  }
  for (const int n : {1, 31, 32, 33, 100}) {
    const HostMatrix A = random_dominant(n, 6, 2);
    expect_inverse(A, invert(A, Symmetry::no), 1e-12);
  }
}

TEST_P(DenseInverseTest, ExchangesPivotsThatAreSmallOrZero)
{
  for (const double pivot : {1e-20, 0., -1e-20})
    for (const int first : {0, 5, 31, 68}) { // includes blocks across the border of two panels
      const HostMatrix A = embedded({{pivot, 1.}, {1., 1.}}, 70, first);
      const std::vector<double> X = invert(A, Symmetry::yes);
      expect_inverse(A, X, 1e-13);
      expect_symmetric(X, A.n);
      expect_inverse(A, invert(A, Symmetry::no), 1e-13);
      const HostMatrix unsymmetric = embedded({{pivot, 1.}, {2., 1.}}, 70, first);
      expect_inverse(unsymmetric, invert(unsymmetric, Symmetry::no), 1e-13);
    }
}

TEST_P(DenseInverseTest, InvertsAnIndefiniteMatrixWhoseLeadingBlockIsSingular)
{
  for (const int first : {0, 30, 31}) { // both pivots in one panel or in two
    const HostMatrix A = embedded({{1., 1., 0.}, {1., 1., 1.}, {0., 1., 5.}}, 70, first);
    const std::vector<double> X = invert(A, Symmetry::yes);
    expect_inverse(A, X, 1e-13);
    expect_symmetric(X, A.n);
  }
}

TEST_P(DenseInverseTest, InvertsAPermutation)
{
  std::vector<std::vector<double>> rows(50, std::vector<double>(50, 0.));
  for (int i = 0; i < 50; ++i)
    rows[i][(7 * i + 3) % 50] = 1. + i;
  const HostMatrix A = dense(rows);
  expect_inverse(A, invert(A, Symmetry::no), 1e-15);
}

TEST_P(DenseInverseTest, LeavesOutRowsAndColumnsOfASingularUnsymmetricMatrix)
{
  // The row without a pivot in the first column has a pivot in the second.
  const HostMatrix A = embedded({{0., 1., 2.}, {0., 0., 3.}, {0., 2., 1.}}, 40, 10);
  expect_inverse(A, invert(A, Symmetry::no, 1), 1e-13);
}

/// Returns min(1, min vᵀ X v / vᵀ v), where v are the eigenvectors of the 1D Laplacian.
double min_energy(const std::vector<double> &X, const int n)
{
  double smallest = 1.;
  for (int k = 0; k < n; ++k) {
    std::vector<double> v(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i)
      v[i] = std::sin(std::acos(-1.) * (i + 1) * (k + 1) / (n + 1));
    const std::vector<double> Xv = times(X, v);
    double energy = 0.;
    for (int i = 0; i < n; ++i)
      energy += v[i] * Xv[i];
    smallest = std::min(smallest, energy / norm(v) / norm(v));
  }
  return smallest;
}

TEST_P(DenseInverseTest, StaysPositiveDefiniteWhateverTheCondition)
{
  for (const int n : {100, 250, 500}) { // condition numbers 2e7, 6e8 and 1e10
    const std::vector<double> X = invert(square(laplacian_1d(n)), Symmetry::yes);
    expect_symmetric(X, n);
    EXPECT_NEAR(min_energy(X, n), 1. / 16., 1e-3) << n;
  }
}

/// Returns a full symmetric matrix with eigenvalues from 1 to @p condition: a diagonal matrix
/// multiplied by Householder reflections from both sides, so that no eigenvector has zeros.
HostMatrix reflected(const int n, const double condition)
{
  std::vector<std::vector<double>> rows(n, std::vector<double>(n, 0.));
  for (int i = 0; i < n; ++i)
    rows[i][i] = std::pow(condition, i / (n - 1.));
  for (unsigned int seed = 1; seed < 4; ++seed) {
    const std::vector<double> v = random_vector(n, seed);
    const double factor = 2. / (norm(v) * norm(v));
    std::vector<double> Av = v;
    for (int i = 0; i < n; ++i)
      Av[i] = factor * std::inner_product(v.begin(), v.end(), rows[i].begin(), 0.);
    const double vAv = factor * std::inner_product(v.begin(), v.end(), Av.begin(), 0.);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        rows[i][j] = rows[j][i] += vAv * v[i] * v[j] - (v[i] * Av[j] + Av[i] * v[j]);
  }
  return dense(rows);
}

TEST_P(DenseInverseTest, SolvesByMultigridWhateverTheCondition)
{
  for (const double condition : {1e9, 1e10}) {
    const HostMatrix A = reflected(200, condition);
    for (unsigned int seed = 1; seed < 5; ++seed) {
      const Solved solved =
          solve(executor, method("cg", "multigrid", 1e-6), A, random_vector(A.n, seed));
      EXPECT_TRUE(solved.report.converged()) << solved.report.message;
      EXPECT_LE(solved.report.iterations, 3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, DenseInverseTest, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
