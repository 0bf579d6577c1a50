#include "linalg/base/parallel.h"
#include "linalg/solvers/rounding.h"
#include "linalg/transformations/scaling.h"
#include "tests/linalg/on_backend.h"

#include <cmath>
#include <limits>

namespace femgpu::linalg::test
{
namespace
{
HostMatrix scaled(HostMatrix A, const Scaling &scaling)
{
  scale_values(A.csr(), scaling, A.values.data());
  return A;
}

void expect_near(const std::vector<double> &v, const std::vector<double> &expected)
{
  ASSERT_EQ(v.size(), expected.size());
  for (std::size_t i = 0; i < v.size(); ++i)
    EXPECT_NEAR(v[i], expected[i], 4. * eps * std::abs(expected[i])) << "element " << i;
}

// The norms of the columns are 5 and 10.
TEST(Scaling, SymmetricIsThatByHand)
{
  const HostMatrix A = dense({{3., 6.}, {4., 8.}});
  const Scaling scaling = symmetric_scaling(A.csr(), *host_rows(A.csr()));
  expect_near(scaling.left, {1. / std::sqrt(5.), 1. / std::sqrt(10.)});
  EXPECT_EQ(scaling.right, scaling.left);
  expect_near(scaled(A, scaling).values, {3. / 5., 6. / std::sqrt(50.), 4. / std::sqrt(50.), 0.8});
}

// The norms of the rows are 5 and 10. After the rows are scaled, the columns are (0.6, 0.8) and
// (0.8, -0.6), whose norms are 1.
TEST(Scaling, BalancingIsThatByHand)
{
  const HostMatrix A = dense({{3., 4.}, {8., -6.}});
  const Scaling scaling = balancing(A.csr(), *host_rows(A.csr()));
  expect_near(scaling.left, {0.2, 0.1});
  expect_near(scaling.right, {1., 1.});
  const HostMatrix C = dense({{2., 1.}, {0., 3.}});
  const Scaling columns = balancing(C.csr(), *host_rows(C.csr()));
  const double first = 2. / std::sqrt(5.), second = std::sqrt(1. / 5. + 1.);
  expect_near(columns.left, {1. / std::sqrt(5.), 1. / 3.});
  expect_near(columns.right, {1. / first, 1. / second});
}

TEST(Scaling, BalancedColumnsHaveNormOne)
{
  const HostMatrix A = random_dominant(1000, 6, 1);
  const HostMatrix balanced = scaled(A, balancing(A.csr(), *host_rows(A.csr())));
  std::vector<double> squares(1000);
  for (std::size_t k = 0; k < balanced.values.size(); ++k)
    squares[balanced.columns[k]] += balanced.values[k] * balanced.values[k];
  for (const double square : squares)
    EXPECT_NEAR(square, 1., 100. * eps);
}

TEST(Scaling, SymmetricScalingKeepsSymmetryBitByBit)
{
  const HostMatrix A = random_spd(300, 6, 1);
  const HostMatrix B = scaled(A, symmetric_scaling(A.csr(), *host_rows(A.csr())));
  std::vector<std::vector<double>> full(300, std::vector<double>(300));
  for (int i = 0; i < 300; ++i)
    for (int k = B.row_starts[i]; k < B.row_starts[i + 1]; ++k)
      full[i][B.columns[k]] = B.values[k];
  for (int i = 0; i < 300; ++i)
    for (int j = 0; j < i; ++j)
      EXPECT_EQ(full[i][j], full[j][i]);
}

TEST(Scaling, VectorsAreThoseOfTheScaledSystem)
{
  const Scaling scaling = {{2., 4.}, {8., 0.5}, {}};
  const std::vector<double> v = {3., 5.};
  std::vector<double> result(2);
  scale_rhs(scaling, v.data(), result.data());
  EXPECT_EQ(result, (std::vector<double>{6., 20.}));
  scale_guess(scaling, v.data(), result.data());
  EXPECT_EQ(result, (std::vector<double>{0.375, 10.}));
  unscale_solution(scaling, result.data(), result.data());
  EXPECT_EQ(result, v);
}

TEST(Scaling, ResultsAreTheSameForAnyNumberOfThreads)
{
  const int before = n_loop_threads();
  for (const int n : {1, 7, 33, 100007}) {
    const HostMatrix A = random_dominant(n, 6, 2);
    set_n_loop_threads(1);
    const Scaling symmetric = symmetric_scaling(A.csr(), *host_rows(A.csr())),
                  balanced = balancing(A.csr(), *host_rows(A.csr()));
    for (const int threads : {2, 3, 11}) {
      set_n_loop_threads(threads);
      EXPECT_EQ(symmetric_scaling(A.csr(), *host_rows(A.csr())).left, symmetric.left);
      EXPECT_EQ(balancing(A.csr(), *host_rows(A.csr())).left, balanced.left);
      EXPECT_EQ(balancing(A.csr(), *host_rows(A.csr())).right, balanced.right);
    }
  }
  set_n_loop_threads(before);
}

TEST(Scaling, EmptyMatrixIsScaled)
{
  const HostMatrix A;
  EXPECT_TRUE(balancing(A.csr(), *host_rows(A.csr())).left.empty());
  EXPECT_TRUE(symmetric_scaling(A.csr(), *host_rows(A.csr())).left.empty());
}

TEST(Scaling, WhatCannotBeScaledIsNamed)
{
  const auto expect_refused = [](const HostMatrix &A, const std::string &substring) {
    for (const auto scale : {symmetric_scaling, balancing}) {
      const std::string text = text_of<SolverError>([&] { scale(A.csr(), *host_rows(A.csr())); });
      EXPECT_NE(text.find(substring), std::string::npos) << text;
    }
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  expect_refused(dense({{1., 0., 0.}, {0., 0., 0.}, {0., 0., 1.}}), "Row 1 of the matrix has only");
  expect_refused(dense({{1., 0.}, {1., 0.}}), "Column 1 of the matrix has only zeros");
  expect_refused(diagonal({1., 2., 0.}), "Row 2 of the matrix has only zeros");
  HostMatrix explicit_zero = diagonal({1., 2.});
  explicit_zero.values[1] = 0.;
  expect_refused(explicit_zero, "Row 1");
  expect_refused(dense({{1., 2.}, {nan, 4.}}), "Row 1 of the matrix has the 2-norm nan");
  expect_refused(dense({{1., -infinity}, {3., 4.}}), "Row 0 of the matrix has the 2-norm inf");
  expect_refused(dense({{1., 1e200}, {3., 4.}}), "Row 0 of the matrix has the 2-norm inf");
}
} // namespace
} // namespace femgpu::linalg::test
