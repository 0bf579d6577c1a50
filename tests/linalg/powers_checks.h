#ifndef femgpu_tests_linalg_powers_checks_h
#define femgpu_tests_linalg_powers_checks_h

#include "linalg/powers/matrix_powers.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

/**
 * @file
 * Contains test matrices, steps that define a Krylov basis, variants of the matrix powers kernel,
 * and a reference implementation of this kernel.
 */
namespace femgpu::linalg::test
{
using Vectors = std::vector<std::vector<double>>;

/// Returns steps of a Newton basis, whose shifts are a real number, a complex pair, and so on.
inline std::vector<BasisStep> newton_steps(const int n_steps)
{
  std::vector<BasisStep> steps;
  for (int k = 0; k < n_steps; ++k) {
    const int group = k / 3;
    const double shift = 0.5 + 0.25 * group;
    steps.push_back({shift, k % 3 == 2 ? 0.75 : 0., 0.25});
  }
  return steps;
}

inline std::vector<BasisStep> monomial_steps(const int n_steps)
{
  return std::vector<BasisStep>(static_cast<std::size_t>(n_steps), BasisStep{0., 0., 0.25});
}

/// Computes the vectors of the Krylov basis of @p v row by row on the host.
/// @param m inverse diagonal of the Jacobi preconditioner; empty without a preconditioner
inline Vectors reference(const HostMatrix &A, const std::vector<double> &v,
                         const std::vector<double> &m, const std::vector<BasisStep> &steps)
{
  Vectors V = {v};
  for (std::size_t k = 0; k < steps.size(); ++k) {
    std::vector<double> scaled = V[k];
    for (std::size_t i = 0; i < m.size(); ++i)
      scaled[i] *= m[i];
    std::vector<double> next = multiply(A, scaled);
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] -= steps[k].shift * V[k][i];
      if (steps[k].square != 0.)
        next[i] += steps[k].square * V[k - 1][i];
      next[i] *= steps[k].scale;
    }
    V.push_back(next);
  }
  return V;
}

inline MatrixPowersOptions plain()
{
  MatrixPowersOptions options;
  options.kind = PowersKind::plain;
  return options;
}

inline MatrixPowersOptions blocked(const int block, const int depth)
{
  MatrixPowersOptions options;
  options.kind = PowersKind::blocked;
  options.block = block;
  options.depth = depth;
  return options;
}

inline MatrixPowersOptions streamed(const std::size_t memory, const int depth)
{
  MatrixPowersOptions options;
  options.kind = PowersKind::streamed;
  options.memory = memory;
  options.depth = depth;
  return options;
}

/// Checks that V is near @p expected; entries may differ by a few rounding errors per step.
inline void expect_near(const Vectors &V, const Vectors &expected, const int longest_row)
{
  ASSERT_EQ(V.size(), expected.size());
  for (std::size_t c = 0; c < V.size(); ++c) {
    double largest = 0.;
    for (std::size_t k = 0; k <= c; ++k)
      for (const double x : expected[k])
        largest = std::max(largest, std::abs(x));
    for (std::size_t i = 0; i < V[c].size(); ++i)
      ASSERT_NEAR(V[c][i], expected[c][i],
                  (longest_row + 4.) * static_cast<double>(c) * eps * 4. * largest)
          << "vector " << c << ", row " << i;
  }
}

/// Checks that V equals @p expected exactly, and prints only the first difference.
inline void expect_same(const Vectors &V, const Vectors &expected)
{
  ASSERT_EQ(V.size(), expected.size());
  for (std::size_t c = 0; c < V.size(); ++c)
    for (std::size_t i = 0; i < V[c].size(); ++i)
      ASSERT_EQ(V[c][i], expected[c][i]) << "vector " << c << ", row " << i;
}

inline int longest_row(const HostMatrix &A)
{
  int longest = 0;
  for (int i = 0; i < A.n; ++i)
    longest = std::max(longest, A.row_starts[i + 1] - A.row_starts[i]);
  return longest;
}

/// Returns an unsymmetric band matrix with up to 2 w + 1 entries per row.
inline HostMatrix band(const int n, const int w)
{
  const std::vector<double> numbers = random_vector(n * (2 * w + 1), 11);
  HostMatrix A;
  for (int i = 0; i < n; ++i) {
    for (int j = std::max(0, i - w); j <= std::min(n - 1, i + w); ++j)
      A.add(j, numbers[i * (2 * w + 1) + j - i + w]);
    A.end_row();
  }
  return A;
}

struct Example
{
  std::string name;
  HostMatrix A;
};

/// Returns matrices whose rows have up to 3, 5, 7, 9 and more entries.
inline std::vector<Example> examples()
{
  return {{"tridiagonal", laplacian_1d(5000)},
          {"band of 9", band(3000, 4)},
          {"band of 23", band(2000, 11)},
          {"2D", laplacian_2d(20, 100)},
          {"3D", laplacian_3d(5, 5, 100)},
          {"27 points", box_27(4, 4, 60)},
          {"unsymmetric", convection_diffusion(16, 90, 3., -1.)},
          {"empty rows", with_empty_rows(999)}};
}

inline std::vector<MatrixPowersOptions> all_forms(const HostMatrix &A)
{
  const std::size_t bytes = 12 * A.columns.size();
  std::vector<MatrixPowersOptions> forms = {blocked(700, 2),
                                            blocked(500, 3),
                                            blocked(1500, 5),
                                            streamed(bytes / 2 + 40000, 1),
                                            streamed(bytes / 2 + 40000, 3),
                                            streamed(3 * bytes + 100000, 7)};
  return forms;
}
} // namespace femgpu::linalg::test

#endif
