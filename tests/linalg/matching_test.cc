#include "linalg/solvers/rounding.h"
#include "linalg/transformations/linear_system_transformation.h"
#include "linalg/transformations/matching.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace femgpu::linalg::test
{
namespace
{
/// Returns entry (i, j), or 0 if it is not stored.
double entry(const HostMatrix &A, const int i, const int j)
{
  for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
    if (A.columns[k] == j)
      return A.values[k];
  return 0.;
}

/// Returns Σ log|a_{rows[j], j}|, or -infinity if an entry is 0.
double log_product(const HostMatrix &A, const std::vector<int> &rows)
{
  double sum = 0.;
  for (int j = 0; j < A.n; ++j)
    sum += std::log(std::abs(entry(A, rows[j], j)));
  return sum;
}

/// Returns the largest log_product() over all permutations.
double best_log_product(const HostMatrix &A)
{
  std::vector<int> rows(static_cast<std::size_t>(A.n));
  std::iota(rows.begin(), rows.end(), 0);
  double best = -std::numeric_limits<double>::infinity();
  do
    best = std::max(best, log_product(A, rows));
  while (std::next_permutation(rows.begin(), rows.end()));
  return best;
}

/// Returns a random matrix in which a fraction @p density of the entries is stored. Some of these
/// are zeros; the others have magnitudes from 1e-3 to 1e3.
HostMatrix random_sparse(const int n, const double density, const unsigned int seed)
{
  const std::vector<double> numbers = random_vector(3 * n * n, seed);
  HostMatrix A;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const double *const three = numbers.data() + static_cast<std::ptrdiff_t>(3) * (i * n + j);
      if (0.5 * (three[0] + 1.) < density)
        A.add(j, three[1] > 0.8 ? 0. : (three[1] > 0. ? 1. : -1.) * std::pow(10., 3. * three[2]));
    }
    A.end_row();
  }
  return A;
}

/// Returns the matched and scaled matrix Q R A C.
HostMatrix matched(const HostMatrix &A)
{
  LinearSystemTransformation transformation("matching", "none");
  const HostCsr view = transformation.setup(A.csr());
  check_csr(view);
  HostMatrix result;
  result.n = A.n;
  result.row_starts.assign(view.row_starts.low, view.row_starts.low + A.n + 1);
  result.columns.assign(view.columns, view.columns + view.n_nonzeros);
  result.values.assign(view.values, view.values + view.n_nonzeros);
  return result;
}

void expect_unit_diagonal_and_nothing_larger(const HostMatrix &A)
{
  for (int i = 0; i < A.n; ++i)
    EXPECT_NEAR(entry(A, i, i), 1., 1e-13) << "row " << i;
  for (const double value : A.values)
    EXPECT_LE(std::abs(value), 1. + 1e-12);
}

TEST(Matching, ProductIsTheLargestOfAllPermutations)
{
  int rank_deficiency = 0;
  for (unsigned int seed = 1; seed <= 200; ++seed) {
    const HostMatrix A = random_sparse(1 + static_cast<int>(seed % 7), 0.6, seed);
    const double best = best_log_product(A);
    if (std::isinf(best)) {
      ++rank_deficiency;
      EXPECT_THROW(maximum_product_matching(A.csr()), SolverError) << "seed " << seed;
    }
    else
      EXPECT_NEAR(log_product(A, maximum_product_matching(A.csr()).rows), best, 1e-12)
          << "seed " << seed;
  }
  EXPECT_GT(rank_deficiency, 10);
  EXPECT_LT(rank_deficiency, 190);
}

TEST(Matching, DiagonalIsOneAndNoEntryIsLarger)
{
  for (unsigned int seed = 1; seed <= 20; ++seed) {
    HostMatrix A = random_sparse(60, 0.2, seed);
    for (int i = 0; i < A.n; ++i) // badly scaled rows
      for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
        A.values[k] *= std::pow(10., i % 40 - 20);
    expect_unit_diagonal_and_nothing_larger(matched(A));
  }
}

TEST(Matching, PermutedDominantMatrixBecomesDominant)
{
  const int n = 500;
  HostMatrix A = random_dominant(n, 5, 1);
  HostMatrix shifted; // row i is row i + 7 of the original matrix
  for (int i = 0; i < n; ++i) {
    const int row = (i + 7) % n;
    for (int k = A.row_starts[row]; k < A.row_starts[row + 1]; ++k)
      shifted.add(A.columns[k], A.values[k]);
    shifted.end_row();
  }
  const std::vector<int> rows = maximum_product_matching(shifted.csr()).rows;
  for (int j = 0; j < n; ++j)
    EXPECT_EQ(rows[j], (j + n - 7) % n);
}

TEST(Matching, StoredZerosAreNoEntries)
{
  const HostMatrix A = dense({{0., 2.}, {3., 1.}});
  EXPECT_EQ(maximum_product_matching(A.csr()).rows, (std::vector<int>{1, 0}));
  expect_unit_diagonal_and_nothing_larger(matched(A));
}

TEST(Matching, SingularStructureNamesARow)
{
  const auto text = [](const HostMatrix &A) {
    return text_of<SolverError>([&] { maximum_product_matching(A.csr()); });
  };
  // Rows 1 and 2 have entries in column 0 only.
  EXPECT_NE(text(dense({{1., 1., 1.}, {2., 0., 0.}, {3., 0., 0.}})).find("Row 2 of the matrix"),
            std::string::npos);
  EXPECT_NE(text(dense({{1., 1.}, {0., 0.}})).find("Row 1 of the matrix"), std::string::npos);
  EXPECT_NE(text(dense({{1., 0.}, {1., 0.}})).find("structurally singular"), std::string::npos);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(text(dense({{1., 1.}, {1., nan}})).find("Row 1 of the matrix has a non-finite entry"),
            std::string::npos);
}

TEST(Matching, FactorsBeyondTheRangeAreRefused)
{
  const HostMatrix A = dense({{1e-300, 0.}, {1e300, 1e-300}});
  const auto text = text_of<SolverError>([&] { matching_scaling(A.csr(), *host_rows(A.csr())); });
  EXPECT_NE(text.find("scaling factor beyond the range"), std::string::npos) << text;
}

TEST(Matching, NoRowsAreMatched)
{
  EXPECT_TRUE(maximum_product_matching(HostMatrix().csr()).rows.empty());
}
} // namespace
} // namespace femgpu::linalg::test
