#include "linalg/base/host_matrix.h"
#include "linalg/solvers/component_deflation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace femgpu::linalg::test
{
namespace
{
/// Returns the stiffness matrix of springs in series. The first spring connects x_0 with the
/// ground.
HostMatrix chain(const std::vector<double> &springs)
{
  HostMatrix A;
  const int n = static_cast<int>(springs.size());
  for (int i = 0; i < n; ++i) {
    const double right = i + 1 < n ? springs[i + 1] : 0.;
    if (i > 0)
      A.add(i - 1, -springs[i]);
    A.add(i, springs[i] + right);
    if (i + 1 < n)
      A.add(i + 1, -right);
    A.end_row();
  }
  return A;
}

std::vector<double> product(const HostMatrix &A, const std::vector<double> &x)
{
  std::vector<double> b(x.size());
  for (int i = 0; i < A.csr().n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      b[i] += A.values[k] * x[A.columns[k]];
  return b;
}

/// Returns the stiffnesses of ten unit springs, a weak spring and nine unit springs.
std::vector<double> two_components(const double weak_spring)
{
  std::vector<double> springs(20, 1.);
  springs[10] = weak_spring;
  return springs;
}
} // namespace

TEST(ComponentDeflation, FindTheMotionOfAPartThatAWeakSpringHolds)
{
  const HostMatrix A = chain(two_components(1e-8));
  std::vector<double> x(20, 1.), moved = x;
  for (int i = 10; i < 20; ++i)
    moved[i] += 0.5;
  const std::vector<double> b = product(A, x);
  const ComponentDeflation deflation(A.csr(), b.data(), moved.data());
  EXPECT_NEAR(deflation.energy_error(), 0.5e-4, 1e-10); // (1e-8 · 0.5²)^(1/2)
  deflation.correct(moved.data());
  for (int i = 0; i < 20; ++i)
    EXPECT_NEAR(moved[i], 1., 1e-6) << i;
}

TEST(ComponentDeflation, FindTheMeanThatAWeakSpringToTheGroundHolds)
{
  std::vector<double> springs(20, 1.);
  springs[0] = 1e-10;
  const HostMatrix A = chain(springs);
  const std::vector<double> x(20, 1.), b = product(A, x), moved(20);
  EXPECT_NEAR(ComponentDeflation(A.csr(), b.data(), moved.data()).energy_error(), 1e-5, 1e-10);
}

TEST(ComponentDeflation, LeaveOutWhatRoundingExplains)
{
  std::vector<double> springs(20, 1.);
  springs[0] = 1e-10;
  const HostMatrix A = chain(springs);
  std::vector<double> x(20, 1e7), b = product(A, x);
  b[5] += 1e-9; // far below 2⁻⁵³ · 4e7
  EXPECT_EQ(ComponentDeflation(A.csr(), b.data(), x.data()).energy_error(), 0.);
}

TEST(ComponentDeflation, LeaveOutRowsWithoutNeighbours)
{
  HostMatrix A = chain(two_components(1e-8));
  A.add(20, 1e6);
  A.end_row();
  std::vector<double> x(21, 1.), b = product(A, x);
  x[20] = 0.;
  EXPECT_EQ(ComponentDeflation(A.csr(), b.data(), x.data()).energy_error(), 0.);
}

TEST(ComponentDeflation, HaveNoErrorOfASingularMotion)
{
  std::vector<double> springs(20, 1.);
  springs[0] = 0.;
  const HostMatrix A = chain(springs);
  const std::vector<double> b(20, 1.), x(20);
  EXPECT_EQ(ComponentDeflation(A.csr(), b.data(), x.data()).energy_error(), 0.);
}

TEST(ComponentDeflation, AreNotLookedAtWhereThereAreMany)
{
  std::vector<double> springs;
  for (int k = 0; k < 400; ++k)
    springs.insert(springs.end(), {1e-6, 1.});
  const HostMatrix A = chain(springs);
  const std::vector<double> x(800, 1.), b = product(A, x), zero(800);
  EXPECT_EQ(ComponentDeflation(A.csr(), b.data(), zero.data()).energy_error(), 0.);
}
} // namespace femgpu::linalg::test
