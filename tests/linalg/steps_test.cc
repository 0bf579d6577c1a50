#include "linalg/execution/host/executor.h"
#include "linalg/execution/make_executor.h"
#include "tests/linalg/chain_checks.h"
#include "tests/linalg/step_checks.h"

#include <chrono>
#include <thread>

namespace femgpu::linalg::test
{
namespace
{
ExecutorPtr host(const unsigned int n_threads = 2)
{
  return std::make_shared<HostExecutor>(n_threads);
}

TEST(HostSteps, SumsAreExactOnIntegers)
{
  check_sums_are_exact_on_integers<HostBackend>(host());
}

TEST(HostSteps, SumsAreBitIdenticalOnRepeats)
{
  check_sums_are_bit_identical_on_repeats<HostBackend>(host());
}

TEST(HostSteps, SumsDoNotDependOnTheNumberOfThreads)
{
  for (const int n : edge_case_sizes()) {
    const std::vector<double> v = random_vector(n, 8);
    const StepState one = add_up<HostBackend>(host(1), v);
    for (const unsigned int n_threads : {2U, 3U})
      EXPECT_TRUE(same_bits(add_up<HostBackend>(host(n_threads), v), one))
          << n << " rows, " << n_threads << " threads";
  }
}

TEST(HostSteps, EpilogueSeesSumsOfEarlierSteps)
{
  check_epilogue_sees_sums_of_earlier_steps<HostBackend>(host());
}

TEST(HostSteps, RepeatEndsWhenTheLastStepSaysSo)
{
  check_repeat_ends_when_the_last_step_says_so<HostBackend>(host());
}

TEST(HostSteps, StepsAfterTheEndOfTheLoopDoNothing)
{
  check_steps_after_the_end_of_the_loop_do_nothing<HostBackend>(host());
}

TEST(HostSteps, ItemsOfChainsWaitForThoseBefore)
{
  check_items_wait_for_those_before<HostBackend>(make_executor("host"));
}

TEST(HostSteps, RepeatDoesNothingUnlessRunning)
{
  check_repeat_does_nothing_unless_running<HostBackend>(host());
}

class HostProducts : public testing::TestWithParam<std::string>
{};

TEST_P(HostProducts, EqualNaiveOnes)
{
  check_products<HostBackend>(host(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Formats, HostProducts, testing::ValuesIn(formats_for_all_matrices()),
                         format_name);

class HostShortColumns : public testing::TestWithParam<std::string>
{};

TEST_P(HostShortColumns, GiveTheSameBits)
{
  check_short_columns<HostBackend>(host(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Formats, HostShortColumns, testing::ValuesIn(formats_with_short_columns()),
                         format_name);

/// The body of a kernel step that takes longer than the interval at which the host checks the loop.
struct Sleep : CountCallsAndPasses
{
  void operator()(const StepState & /* s */, int /* i */, StepSums & /* sums */) const
  {
    std::this_thread::sleep_for(std::chrono::duration<double>(1.1 * watch_interval));
  }
};

TEST(HostSteps, WatchSeesTheStateOfALongLoop)
{
  const ExecutorPtr executor = host();
  std::vector<int> seen;
  Iteration<HostBackend, StepState, StepSums> iteration(RowSpace(executor, 1));
  iteration.set_state(ends_after(2));
  iteration.repeat([&](const StepState &s) { seen.push_back(s.pass); }, rows(1, Sleep{}));
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
}
} // namespace
} // namespace femgpu::linalg::test
