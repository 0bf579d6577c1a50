#include "linalg/base/error.h"
#include "tests/linalg/gram_checks.h"

namespace femgpu::linalg::test
{
namespace
{
/// Skips where there is no device.
class CudaGram : public testing::Test
{
protected:
  ExecutorPtr executor;

  void SetUp() override
  {
    try {
      executor = make_executor("cuda");
    }
    catch (const DeviceError &error) {
      GTEST_SKIP() << error.what();
    }
  }
};

TEST_F(CudaGram, AwkwardSizes)
{
  check_gram_of_awkward_sizes<CudaBackend>(executor);
}

TEST_F(CudaGram, InALoopThatHasEnded)
{
  check_gram_in_a_loop_that_has_ended<CudaBackend>(executor);
}
} // namespace
} // namespace femgpu::linalg::test
