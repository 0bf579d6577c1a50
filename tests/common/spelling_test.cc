#include "common/spelling.h"

#include <gtest/gtest.h>

namespace femgpu
{
namespace
{
TEST(Spelling, FindsTheNearestWordAndNothingWhenNoneIsClose)
{
  EXPECT_EQ(edit_distance("abcd", "abdc"), 1u); // a transposition
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("CG", "cg"), 0u);
  EXPECT_EQ(nearest("tolerence", {"Iterations", "Tolerance"}), "Tolerance");
  EXPECT_EQ(nearest("tol", {"Iterations", "Tolerance"}), "Tolerance");
  EXPECT_EQ(nearest("xyz", {"Iterations", "Tolerance"}), "");
  EXPECT_EQ(nearest("a", {"b"}), "");
  EXPECT_EQ(nearest("", {"b"}), "");
  EXPECT_EQ(nearest("b", {}), "");
}

TEST(Spelling, LongValuesOfAMessageAreShortenedAndTheRestIsNot)
{
  const std::string digits(1000, '2'), path = "/" + std::string(250, 'p') + "/file.msh";
  EXPECT_EQ(with_short_values("value '" + digits + "' of 'Young's modulus' is wrong, see " + path),
            "value '" + digits.substr(0, 199) + "..." + digits.substr(0, 59) +
                "' of 'Young's modulus' is wrong, see " + path);
  std::string sum = "1";
  while (sum.size() < 1000)
    sum += " + 1";
  const std::string message = with_short_values("--set 'Elasticity/Young's modulus=" + sum +
                                                "': an error.\n" + digits + " is large.");
  EXPECT_LT(message.size(), 600U);
  EXPECT_EQ(message.find("--set 'Elasticity/Young's modulus=1 + 1"), 0U);
  EXPECT_NE(message.find("1 + 1': an error.\n222"), std::string::npos);
  EXPECT_NE(message.find("2 is large."), std::string::npos);
  std::string umlauts;
  while (umlauts.size() < 1000)
    umlauts += "\u00e4"; // two bytes, which truncation must not separate
  EXPECT_EQ(with_short_values("'" + umlauts + "'"),
            "'" + umlauts.substr(0, 198) + "..." + umlauts.substr(0, 60) + "'");
  EXPECT_EQ(with_short_values(""), "");
  EXPECT_EQ(with_short_values("'no end"), "'no end");
}
} // namespace
} // namespace femgpu
