#include "common/confusables.h"

#include <gtest/gtest.h>

#include <string>

namespace femgpu
{
namespace
{
TEST(LookAlikes, TheFirstIsNamedWithItsColumnInCharacters)
{
  EXPECT_EQ(confusable_in("set\u00a0Degree = 2\u00a0"),
            "column 4 has a no-break space (U+00A0), which looks like ' ': write ' '");
  EXPECT_EQ(confusable_in("\u00e4\u00e4\u22121"),
            "column 3 has a minus sign (U+2212), which looks like '-': write '-'");
  EXPECT_EQ(confusable_in("Young\u2019s"),
            "column 6 has a quotation mark (U+2019), which looks like \"'\": write \"'\"");
  EXPECT_EQ(confusable_in("a\u200b"),
            "column 2 has an invisible character (U+200B), which is not allowed here: remove it");
  EXPECT_EQ(confusable_in("cl\u0430mp"),
            "column 3 has a Cyrillic letter (U+0430), which looks like 'a': write 'a'");
  EXPECT_EQ(confusable_in("0\uff1a 1"),
            "column 2 has a full-width character (U+FF1A), which looks like ':': write ':'");
  EXPECT_EQ(confusable_in("2\xa0"), // Latin 1, not UTF-8
            "column 2 has a no-break space (U+00A0), which looks like ' ': write ' '");
}

TEST(LookAlikes, NamesInOtherAlphabetsAndCommentsHaveNone)
{
  EXPECT_EQ(confusable_in("set Directory = \u00fcbung/\u65e5\u672c"), "");
  EXPECT_EQ(confusable_in("set Degree = 2 # \u2212"), "");
  EXPECT_EQ(confusable_in(""), "");
  EXPECT_EQ(confusable_in("\xc3"), ""); // a truncated character
}

TEST(LookAlikes, SpacesOfAllKindsBecomeBlanks)
{
  EXPECT_EQ(with_ascii_spaces("set\u00a0Name\u2003=\u3000\u00e4\u200b"), "set Name = \u00e4\u200b");
}
} // namespace
} // namespace femgpu
