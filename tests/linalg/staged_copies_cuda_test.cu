#include "linalg/execution/cuda/executor.h"
#include "linalg/execution/make_executor.h"
#include "linalg/memory/buffer.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace femgpu::linalg::test
{
namespace
{
class StagedCopies : public testing::Test
{
protected:
  void SetUp() override
  {
    if (n_cuda_devices() == 0)
      GTEST_SKIP() << "no CUDA device";
    executor = std::make_shared<CudaExecutor>(0);
  }

  std::shared_ptr<const CudaExecutor> executor;
};

TEST_F(StagedCopies, OfSizesBesideThoseOfChunksArriveUnchanged)
{
  constexpr std::size_t chunk = 1 << 18, n_chunks = 3;
  CudaStagedCopies copies(executor->stream(), chunk, n_chunks);
  ASSERT_TRUE(copies.should_stage(chunk));
  for (const std::size_t n : {std::size_t(1), chunk / 2 + 1, chunk - 1, chunk, chunk + 1,
                              2 * chunk + 7, 4 * chunk - 1, 12 * chunk, 50 * chunk + 13}) {
    std::vector<char> source(n), target(n);
    for (std::size_t i = 0; i < n; ++i)
      source[i] = static_cast<char>(i * 2654435761U >> 13U);
    Buffer<char> on_device(executor, n);
    on_device.fill_zero();
    copies.copy_from_host(on_device.data(), source.data(), n);
    copies.copy_to_host(target.data(), on_device.data(), n);
    EXPECT_EQ(target, source) << n << " bytes";
  }
}

TEST_F(StagedCopies, AreNotMadeOfFewBytes)
{
  CudaStagedCopies copies(executor->stream());
  EXPECT_FALSE(copies.should_stage(0));
  EXPECT_FALSE(copies.should_stage(CudaStagedCopies::min_bytes - 1));
  EXPECT_TRUE(copies.should_stage(CudaStagedCopies::min_bytes));
}

TEST_F(StagedCopies, AreNotMadeWhereNoMemoryCanBePinned)
{
  CudaStagedCopies copies(executor->stream(), std::size_t(1) << 50);
  EXPECT_FALSE(copies.should_stage(1 << 20));
  EXPECT_FALSE(copies.should_stage(1 << 20)); // the failed allocation is not retried
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}
} // namespace
} // namespace femgpu::linalg::test
