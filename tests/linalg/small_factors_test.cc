#include "linalg/execution/host/runner.h"
#include "linalg/orthogonalisation/gram_factors.h"
#include "tests/linalg/tall_matrices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace femgpu::linalg::test
{
namespace
{
constexpr double eps = 2.3e-16;
const HostTeam<0> team;

SmallMatrix view(TallMatrix &M)
{
  return {M.values.data(), M.p};
}

TallMatrix upper(const TallMatrix &M)
{
  TallMatrix R(M.p, M.p);
  for (int j = 0; j < M.p; ++j)
    for (int i = 0; i <= j; ++i)
      R(i, j) = M(i, j);
  return R;
}

/// Returns tridiag(-1, 2, -1), whose eigenvalues are 2 - 2 cos(k π / (p + 1)).
TallMatrix second_differences(const int p)
{
  TallMatrix B(p, p);
  for (int i = 0; i < p; ++i) {
    B(i, i) = 2.;
    if (i > 0)
      B(i, i - 1) = B(i - 1, i) = -1.;
  }
  return B;
}

/// Runs the body of a kernel step as the host backend does, and returns the status of the
/// factorisation.
template <class Body>
FactorStatus run(const Body &body)
{
  std::vector<double> scratch(static_cast<std::size_t>(Body::scratch_size(body.p)));
  body(HostTeam<0>(scratch.data()), 0);
  return *body.status;
}

TEST(SmallFactors, ScalingMakesADiagonalOfOnes)
{
  TallMatrix B(3, 3); // has a zero column, which must remain zero
  B(0, 0) = 4.;
  B(0, 1) = B(1, 0) = 3.;
  B(1, 1) = 9.;
  double s[3];
  EXPECT_TRUE(scale_to_unit_diagonal(team, view(B), s));
  EXPECT_EQ(B(0, 0), 1.);
  EXPECT_EQ(B(1, 1), 1.);
  EXPECT_EQ(B(2, 2), 0.);
  EXPECT_DOUBLE_EQ(B(0, 1), .5);
  EXPECT_EQ(s[0], 2.);
  EXPECT_EQ(s[1], 3.);
  EXPECT_EQ(s[2], 1.);
  B(1, 0) = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(scale_to_unit_diagonal(team, view(B), s));
  B(1, 0) = 0.;
  B(1, 1) = -1.;
  EXPECT_FALSE(scale_to_unit_diagonal(team, view(B), s));
}

TEST(SmallFactors, CholeskyFactorIsThatByHand)
{
  TallMatrix B(2, 2), R(2, 2);
  B.values = {25., 15., 15., 34.}; // B = (5 3; 0 5)ᵀ (5 3; 0 5)
  FactorStatus status{};
  run(CholeskyFactor{2, B.values.data(), R.values.data(), &status});
  EXPECT_EQ(status.failed_column, 2);
  EXPECT_NEAR(R(0, 0), 5., 5. * eps);
  EXPECT_NEAR(R(0, 1), 3., 5. * eps);
  EXPECT_NEAR(R(1, 1), 5., 5. * eps);
  EXPECT_EQ(R(1, 0), 0.);
}

TEST(SmallFactors, CholeskyTellsTheColumnWhereItFails)
{
  for (const int p : {3, 17, 64})
    for (const int column : {1, p / 2, p - 1}) {
      TallMatrix V = random_block(100, p, 1);
      for (int i = 0; i < V.n; ++i)
        V(i, column) = V(i, 0) - (column > 1 ? V(i, 1) : 0.);
      TallMatrix B = transposed_product(V, V), R(p, p);
      FactorStatus status{};
      run(CholeskyFactor{p, B.values.data(), R.values.data(), &status});
      EXPECT_EQ(status.is_finite, 1);
      EXPECT_EQ(status.failed_column, column) << p;
      EXPECT_EQ(frobenius_norm(R), 0.);
    }
}

TEST(SmallFactors, FactorsOfGramMatricesGiveThemBack)
{
  for (const int p : {1, 2, 3, 8, 21, 32, 33, 63, 64}) {
    const TallMatrix V = block_of_condition(200, p, 1e3, 2);
    const TallMatrix B = transposed_product(V, V);
    TallMatrix R(p, p), S(p, p);
    FactorStatus status{};
    run(CholeskyFactor{p, B.values.data(), R.values.data(), &status});
    EXPECT_EQ(status.failed_column, p);
    run(SingularValueFactor{p, B.values.data(), S.values.data(), &status});
    EXPECT_EQ(status.has_factor, 1) << p;
    EXPECT_EQ(status.n_floored, 0) << p;
    const double bound = 20. * p * eps * frobenius_norm(B);
    EXPECT_LT(distance(transposed_product(R, R), B), bound) << p;
    EXPECT_LT(distance(transposed_product(S, S), B), bound) << p;
    EXPECT_LT(distance(R, S), 1e3 * 1e3 * bound) << p;
  }
}

TEST(SmallFactors, JacobiFindsKnownEigenvaluesAndVectors)
{
  for (const int p : {1, 2, 3, 10, 31, 32, 64}) {
    const TallMatrix A = second_differences(p);
    TallMatrix B = A, U(p, p);
    std::vector<Rotation> rotations(static_cast<std::size_t>(p + 1) / 2);
    const bool has_converged =
        JacobiEigenvalues<HostTeam<0>>(team, view(B), view(U), rotations.data(), eps).run();
    EXPECT_TRUE(has_converged) << p;
    EXPECT_LT(orthogonality_error_of(U), 20. * p * eps) << p;
    TallMatrix scaled = U;
    std::vector<double> values;
    for (int k = 0; k < p; ++k) {
      values.push_back(B(k, k));
      for (int i = 0; i < p; ++i)
        scaled(i, k) *= B(k, k);
    }
    EXPECT_LT(distance(product(A, U), scaled), 20. * p * eps) << p;
    std::sort(values.begin(), values.end());
    for (int k = 0; k < p; ++k)
      EXPECT_NEAR(values[static_cast<std::size_t>(k)],
                  2. - 2. * std::cos((k + 1) * std::acos(-1.) / (p + 1)), 20. * p * eps)
          << p << ", " << k;
  }
}

TEST(SmallFactors, EigenvaluesOfZeroAreSetToTheFloor)
{
  TallMatrix V = random_block(50, 6, 3);
  for (int i = 0; i < V.n; ++i) {
    V(i, 2) = 3. * V(i, 0);
    V(i, 5) = 0.;
  }
  const TallMatrix B = transposed_product(V, V);
  TallMatrix R(6, 6);
  FactorStatus status{};
  run(SingularValueFactor{6, B.values.data(), R.values.data(), &status});
  EXPECT_EQ(status.n_floored, 2);
  EXPECT_EQ(status.has_factor, 1);
  for (int k = 0; k < 6; ++k)
    EXPECT_GT(R(k, k), 0.) << k;
  EXPECT_LT(distance(transposed_product(R, R), B), 1e-13 * frobenius_norm(B) + 1e-7);
}

TEST(SmallFactors, TrianglesOfHouseholdersMethodHaveTheSameGramMatrix)
{
  for (const int p : {1, 2, 7, 32, 64}) {
    const TallMatrix A = random_block(p, p, 4);
    TallMatrix W = A;
    triangularise(team, view(W));
    const TallMatrix R = upper(W), B = transposed_product(A, A);
    EXPECT_LT(distance(transposed_product(R, R), B), 20. * p * eps * frobenius_norm(B)) << p;
  }
}
} // namespace
} // namespace femgpu::linalg::test
