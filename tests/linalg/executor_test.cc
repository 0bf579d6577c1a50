#include "linalg/base/buffer.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>

namespace femgpu::linalg::test
{
namespace
{
TEST(MakeExecutor, HostHasTheNumberOfThreadsAskedFor)
{
  const ExecutorPtr executor = make_executor("host", 3);
  EXPECT_EQ(executor->backend(), BackendKind::host);
  EXPECT_EQ(executor->name(), "host");
  EXPECT_EQ(executor->description(), "3 threads");
  EXPECT_EQ(make_executor("host", 1)->description(), "1 thread");
  EXPECT_GE(dynamic_cast<const HostExecutor &>(*make_executor("host")).n_threads(), 1U);
}

TEST(MakeExecutor, AutoTakesTheDeviceIfThereIsOne)
{
  const bool has_device = !describe_cuda_devices().empty();
  EXPECT_EQ(make_executor("auto")->name(), has_device ? "cuda:0" : "host");
}

TEST(MakeExecutor, UnknownBackendIsNamedTogetherWithTheValidOnes)
{
  for (const std::string backend : {"gpu", "", "Host", "cuda:", "cuda:x", "cuda:-1", "cuda:0 ",
                                    "cuda:1234", "hosts", "cuda0"}) {
    const std::string text = text_of<ParameterError>([&] { make_executor(backend); });
    EXPECT_NE(text.find("'" + backend + "'"), std::string::npos) << text;
    EXPECT_NE(text.find("auto, host, cuda or cuda:K"), std::string::npos) << text;
  }
}

TEST(MakeExecutor, DeviceThatDoesNotExistIsADeviceErrorWithACure)
{
  const std::string text = text_of<DeviceError>([] { make_executor("cuda:999"); });
  EXPECT_NE(text.find("cuda:999"), std::string::npos) << text;
  EXPECT_NE(text.find("--backend host"), std::string::npos) << text;
}

TEST(MakeExecutor, CudaEitherWorksOrIsADeviceError)
{
  if (describe_cuda_devices().empty())
    EXPECT_THROW(make_executor("cuda"), DeviceError);
  else
    EXPECT_EQ(make_executor("cuda")->name(), "cuda:0");
}

class ExecutorTest : public OnBackend
{};

TEST_P(ExecutorTest, MemoryIsKnown)
{
  const MemoryInfo memory = executor->memory();
  EXPECT_GT(memory.free, 0U);
  EXPECT_GE(memory.total, memory.free);
}

TEST_P(ExecutorTest, PeakBytesAreTheMostAllocatedAtOneTime)
{
  EXPECT_EQ(executor->peak_bytes(), 0U);
  {
    const Buffer<double> a(executor, 100);
    EXPECT_EQ(executor->peak_bytes(), 800U);
    {
      const Buffer<int> b(executor, 50);
      EXPECT_EQ(executor->peak_bytes(), 1000U);
    }
    const Buffer<char> c(executor, 10);
    EXPECT_EQ(executor->peak_bytes(), 1000U);
  }
  const Buffer<char> d(executor, 1001);
  EXPECT_EQ(executor->peak_bytes(), 1001U);
}

TEST_P(ExecutorTest, NothingIsAllocatedForNoElements)
{
  Buffer<double> empty(executor, 0);
  EXPECT_EQ(empty.data(), nullptr);
  EXPECT_EQ(executor->peak_bytes(), 0U);
  empty.fill_zero();
  EXPECT_TRUE(empty.to_host().empty());
}

TEST_P(ExecutorTest, CopiesArriveUnchanged)
{
  for (const int n : {1, 31, 32, 33, 100007}) {
    const std::vector<double> v = random_vector(n, 1);
    const Buffer<double> a(executor, v.data(), v.size());
    Buffer<double> b(executor, v.size());
    executor->copy_inside(b.data(), a.data(), a.bytes());
    EXPECT_EQ(b.to_host(), v);
    b.fill_zero();
    EXPECT_EQ(b.to_host(), std::vector<double>(v.size()));
    EXPECT_EQ(a.to_host(), v);
  }
}

TEST_P(ExecutorTest, MovedBufferKeepsItsMemory)
{
  const std::vector<double> v = {1., 2., 3.};
  Buffer<double> a(executor, v.data(), v.size());
  const double *const memory = a.data();
  Buffer<double> b(std::move(a));
  EXPECT_EQ(b.data(), memory);
  Buffer<double> c(executor, 5);
  c = std::move(b);
  EXPECT_EQ(c.data(), memory);
  EXPECT_EQ(c.to_host(), v);
  EXPECT_EQ(executor->peak_bytes(), 64U);
}

TEST_P(ExecutorTest, TooLittleMemoryIsADeviceErrorAndHarmsNothing)
{
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer ends the program instead";
#endif
  const std::string text =
      text_of<DeviceError>([&] { const Buffer<char> a(executor, std::size_t(1) << 60); });
  EXPECT_NE(text.find("iB"), std::string::npos) << text;
  EXPECT_EQ(executor->peak_bytes(), 0U);
  EXPECT_EQ(Buffer<char>(executor, "ok", 2).to_host(), (std::vector<char>{'o', 'k'}));
}

INSTANTIATE_TEST_SUITE_P(Backends, ExecutorTest, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
