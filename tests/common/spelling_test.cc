#include "common/spelling.h"

#include <gtest/gtest.h>

namespace femgpu
{
namespace
{
TEST(Spelling, FindsTheNearestWordAndNothingWhenNoneIsClose)
{
  EXPECT_EQ(edit_distance("abcd", "abdc"), 1u); // neighbours swapped
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("CG", "cg"), 0u);
  EXPECT_EQ(nearest("tolerence", {"Iterations", "Tolerance"}), "Tolerance");
  EXPECT_EQ(nearest("tol", {"Iterations", "Tolerance"}), "Tolerance");
  EXPECT_EQ(nearest("xyz", {"Iterations", "Tolerance"}), "");
  EXPECT_EQ(nearest("a", {"b"}), "");
  EXPECT_EQ(nearest("", {"b"}), "");
  EXPECT_EQ(nearest("b", {}), "");
}
} // namespace
} // namespace femgpu
