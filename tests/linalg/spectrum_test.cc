#include "tests/linalg/on_backend.h"

#include <cmath>
#include <numeric>

namespace femgpu::linalg::test
{
namespace
{
/// Returns D^(1/2) A D^(1/2) for a random D with entries from 1 to 1e12.
HostMatrix badly_scaled(HostMatrix A, const unsigned int seed)
{
  const std::vector<double> exponents = random_vector(A.n, seed);
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      A.values[k] *= std::pow(10., 3. * (exponents[i] + exponents[A.columns[k]] + 2.));
  return A;
}

/// Returns the matrix of a chain, followed by three rows that are coupled so strongly that D⁻¹A has
/// the eigenvalue 2.6. All other eigenvalues are at most 2.
/// @param size magnitude of the entries of the three rows
HostMatrix chain_and_clique(const int n_chain, const double size)
{
  HostMatrix A = laplacian_1d(n_chain);
  A.unknowns = default_unknowns;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      A.add(n_chain + j, (i == j ? 1. : 0.8) * size);
    A.end_row();
  }
  return A;
}

/// Returns a lower bound of the largest eigenvalue of D⁻¹A by power iteration in the variables
/// D^(1/2) x.
double largest_eigenvalue(const HostMatrix &A)
{
  HostMatrix B = A;
  std::vector<double> roots(static_cast<std::size_t>(A.n));
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      if (A.columns[k] == i)
        roots[i] = std::sqrt(A.values[k]);
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      B.values[k] /= roots[i] * roots[A.columns[k]];
  std::vector<double> v = random_vector(A.n, 99);
  double value = 0.;
  for (int step = 0; step < 1000; ++step) {
    const double length = norm(v);
    for (double &v_i : v)
      v_i /= length;
    const std::vector<double> Bv = multiply(B, v);
    value = std::inner_product(v.begin(), v.end(), Bv.begin(), 0.);
    v = Bv;
  }
  return value;
}

class Spectrum : public OnBackend
{
protected:
  SolveReport report(const HostMatrix &A, const std::string &preconditioner) const
  {
    LinearSolverOptions options = method("pipelined-cg", preconditioner, 1e-8);
    options.control.max_iterations = 100;
    return solve(executor, options, A, multiply(A, random_vector(A.n, 5))).report;
  }

  /// Returns the bound of the largest eigenvalue of D⁻¹A that the remarks of `chebyshev` report.
  double bound(const HostMatrix &A) const
  {
    const std::string remarks = report(A, "chebyshev").method.setup.remarks, words = "up to ";
    return std::stod(remarks.substr(remarks.find(words) + words.size()));
  }

  void expect_bound(const HostMatrix &A) const
  {
    const double largest = largest_eigenvalue(A);
    EXPECT_GE(bound(A), (1. - 1e-6) * largest); // the remarks show six digits
    EXPECT_LE(bound(A), 1.11 * largest);
  }
};

TEST_P(Spectrum, IsBoundedForAnyScaling)
{
  for (const HostMatrix &A : {laplacian_1d(500), laplacian_2d(40, 30), random_spd(2000, 6, 1),
                              random_spd(1000, 12, 2), box_27(10, 9, 8)}) {
    SCOPED_TRACE(std::to_string(A.n) + " rows");
    expect_bound(A);
    expect_bound(badly_scaled(A, 7));
  }
}

// A start vector with uniform residuals has almost no component in the rows with large entries.
// With a bound of 2.2 instead of 2.6, the polynomials would be negative at the largest eigenvalue.
TEST_P(Spectrum, IsBoundedWhereFewLargeRowsHaveTheLargestEigenvalue)
{
  for (const double size : {1e-12, 1., 1e6, 1e12}) {
    SCOPED_TRACE(size);
    const HostMatrix A = chain_and_clique(400, size);
    expect_bound(A);
    for (const char *const preconditioner : {"chebyshev", "neumann", "multigrid"})
      EXPECT_NE(to_string(report(A, preconditioner).outcome), "indefinite_preconditioner")
          << preconditioner;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Spectrum, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
