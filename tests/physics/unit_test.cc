#include "physics/base/unit.h"

#include <gtest/gtest.h>

namespace
{
using femgpu::Unit;

TEST(UnitTest, ProductsAndQuotientsAreWrittenAsUsual)
{
  const Unit m("m"), N("N");
  EXPECT_EQ(Unit().text(), "");
  EXPECT_EQ((N / (m * m)).text(), "N/m²");
  EXPECT_EQ((N * m).text(), "N m");
  EXPECT_EQ((Unit() / (m * m * m)).text(), "1/m³");
  EXPECT_EQ((m * m * m * m).text(), "m^4");
  EXPECT_EQ((N * m / (m * N)).text(), "");
}
} // namespace
