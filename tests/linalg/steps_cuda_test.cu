#include "tests/linalg/chain_checks.h"
#include "tests/linalg/on_backend.h"
#include "tests/linalg/step_checks.h"

namespace femgpu::linalg::test
{
namespace
{
class CudaSteps : public OnCuda
{};

class CudaProducts : public CudaSteps, public testing::WithParamInterface<std::string>
{};

TEST_F(CudaSteps, SumsAreExactOnIntegers)
{
  check_sums_are_exact_on_integers<CudaBackend>(executor);
}

TEST_F(CudaSteps, SumsAreBitIdenticalOnRepeats)
{
  check_sums_are_bit_identical_on_repeats<CudaBackend>(executor);
}

TEST_F(CudaSteps, EpilogueSeesSumsOfEarlierSteps)
{
  check_epilogue_sees_sums_of_earlier_steps<CudaBackend>(executor);
}

TEST_F(CudaSteps, RepeatEndsWhenTheLastStepSaysSo)
{
  check_repeat_ends_when_the_last_step_says_so<CudaBackend>(executor);
}

TEST_F(CudaSteps, StepsAfterTheEndOfTheLoopDoNothing)
{
  check_steps_after_the_end_of_the_loop_do_nothing<CudaBackend>(executor);
}

TEST_F(CudaSteps, ItemsOfChainsWaitForThoseBefore)
{
  check_items_wait_for_those_before<CudaBackend>(executor);
}

TEST_F(CudaSteps, RepeatDoesNothingUnlessRunning)
{
  check_repeat_does_nothing_unless_running<CudaBackend>(executor);
}

TEST_F(CudaSteps, WatchSeesTheStateOfALongLoop)
{
  constexpr int n_passes = 1000000; // a pass takes about a microsecond
  int seen = 0, last = 0;
  Counts counts(executor, 1);
  Iteration<CudaBackend, StepState, StepSums> iteration(RowSpace(executor, 1));
  iteration.set_state(ends_after(n_passes));
  const auto watch = [&](const StepState &s) {
    ++seen;
    EXPECT_GE(s.pass, last);
    EXPECT_LE(s.pass, n_passes);
    last = s.pass;
  };
  iteration.repeat(watch, rows(1, CountCallsAndPasses{counts.view()}));
  EXPECT_EQ(iteration.get_state().pass, n_passes);
  EXPECT_GT(seen, 0);
}

TEST_P(CudaProducts, EqualNaiveOnes)
{
  check_products<CudaBackend>(executor, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Formats, CudaProducts, testing::ValuesIn(cuda_formats()), format_name);

class CudaShortColumns : public CudaSteps, public testing::WithParamInterface<std::string>
{};

TEST_P(CudaShortColumns, GiveTheSameBits)
{
  check_short_columns<CudaBackend>(executor, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Formats, CudaShortColumns, testing::ValuesIn(formats_with_short_columns()),
                         format_name);
} // namespace
} // namespace femgpu::linalg::test
