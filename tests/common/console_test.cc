#include "common/console.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace femgpu
{
namespace
{
using Texts = std::vector<std::string>;

TEST(Console, SaysAWarningOnceAndKeepsItForEachRun)
{
  Console console("program", true, Console::Verbosity::quiet);
  testing::internal::CaptureStderr();
  console.warn("flat");
  console.warn("slender");
  console.warn("flat");
  EXPECT_EQ(console.take_warnings(), Texts({"flat", "slender"}));
  EXPECT_TRUE(console.take_warnings().empty());
  console.warn("flat");
  EXPECT_EQ(console.take_warnings(), Texts({"flat"}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "program: warning: flat\nprogram: warning: slender\n");
}

TEST(Console, IsSilentOnRanksThatDoNotPrint)
{
  Console console("program", false, Console::Verbosity::normal);
  testing::internal::CaptureStderr();
  console.warn("flat");
  console.error("wrong");
  EXPECT_EQ(console.take_warnings(), Texts({"flat"}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}
} // namespace
} // namespace femgpu
