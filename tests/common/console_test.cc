#include "common/console.h"

#include <chrono>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace femgpu
{
namespace
{
using namespace std::chrono_literals;
using testing::internal::CaptureStderr, testing::internal::CaptureStdout;
using testing::internal::GetCapturedStderr, testing::internal::GetCapturedStdout;

using Texts = std::vector<std::string>;

TEST(Console, SaysAWarningOnceAndKeepsItForEachRun)
{
  Console console("program", true, Console::Verbosity::quiet);
  testing::internal::CaptureStderr();
  console.warn("flat");
  console.warn("slender");
  console.warn("flat");
  EXPECT_EQ(console.current_warnings(), Texts({"flat", "slender"}));
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
/// Returns what @p work prints to standard error while standard output is not a terminal.
template <class Work>
std::string errors_of(const Console::Verbosity verbosity, const std::chrono::milliseconds interval,
                      const Work &work)
{
  CaptureStdout();
  CaptureStderr();
  {
    Console console("program", true, verbosity, interval);
    work(console);
  }
  GetCapturedStdout();
  return GetCapturedStderr();
}

void solve_for_a_while(Console &console)
{
  console.begin_phase("solve");
  std::this_thread::sleep_for(100ms);
  console.progress("iteration 120");
  std::this_thread::sleep_for(100ms);
}

TEST(Console, LongPhasesAreReportedWithoutATerminal)
{
  const std::string output = errors_of(Console::Verbosity::normal, 10ms, solve_for_a_while);
  EXPECT_EQ(output.rfind("  solve (0 s)\n", 0), 0U) << output;
  EXPECT_NE(output.find("  solve: iteration 120 (0 s)\n"), std::string::npos) << output;
}

TEST(Console, QuietProgramsReportNothing)
{
  EXPECT_EQ(errors_of(Console::Verbosity::quiet, 10ms, solve_for_a_while), "");
}

TEST(Console, NothingIsReportedBeforeTheFirstPhase)
{
  EXPECT_EQ(errors_of(Console::Verbosity::normal, 10ms,
                      [](Console &) { std::this_thread::sleep_for(100ms); }),
            "");
}

TEST(Console, OutputInTimeNeedsNoReport)
{
  const std::string output = errors_of(Console::Verbosity::normal, 10s, [](Console &console) {
    console.begin_phase("solve");
    console.print("cycle 0");
  });
  EXPECT_EQ(output, "");
}
} // namespace
} // namespace femgpu
