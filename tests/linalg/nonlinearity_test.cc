#include "linalg/nonlinear/nonlinearity.h"
#include "tests/linalg/on_backend.h"

#include <gtest/gtest.h>

#include <cmath>

namespace femgpu::linalg::test
{
namespace
{
TEST(ExponentialReaction, ExcessKeepsItsDigits)
{
  const ExponentialReaction reaction;
  for (const double d : {1e-9, 1e-4, -3e-3, 9.99e-3, -9.99e-3, 1.01e-2, 0.3, -2.}) {
    // The expected value is the series of (e^d − 1 − d) / d².
    double expected = 0., term = 1. / 2.;
    for (int k = 3; k < 43; ++k, term *= d / (k - 1))
      expected += term;
    expected *= d * d * std::exp(0.5);
    EXPECT_NEAR(reaction.potential_remainder(0.5, d), expected, 1e-13 * std::abs(expected)) << d;
  }
}
} // namespace
} // namespace femgpu::linalg::test
