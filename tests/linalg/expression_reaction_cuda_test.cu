#include "linalg/execution/make_executor.h"
#include "tests/linalg/expression_checks.h"

namespace femgpu::linalg::test
{
namespace
{
TEST(CudaExpressionReaction, GivesTheHostsValuesInSteps)
{
  ExecutorPtr executor;
  try {
    executor = make_executor("cuda");
  }
  catch (const DeviceError &error) {
    GTEST_SKIP() << error.what();
  }
  check_reactions_in_steps<CudaBackend>(executor);
}
} // namespace
} // namespace femgpu::linalg::test
