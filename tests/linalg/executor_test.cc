#include "linalg/base/host_memory.h"
#include "linalg/execution/host/executor.h"
#include "linalg/execution/make_executor.h"
#include "linalg/memory/buffer.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>

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
  EXPECT_NE(text.find("backend host"), std::string::npos) << text;
}

TEST(MakeExecutor, CudaEitherWorksOrIsADeviceError)
{
  if (describe_cuda_devices().empty())
    EXPECT_THROW(make_executor("cuda"), DeviceError);
  else
    EXPECT_EQ(make_executor("cuda")->name(), "cuda:0");
}

TEST(MemorySize, IsReadWithItsUnit)
{
  EXPECT_EQ(parse_memory_size("all"), 0U);
  EXPECT_EQ(parse_memory_size("2GB"), 2'000'000'000U);
  EXPECT_EQ(parse_memory_size("1.5 GiB"), 3U << 29U);
  EXPECT_EQ(parse_memory_size("512kB"), 512'000U);
  EXPECT_EQ(parse_memory_size("1 B"), 1U);
  for (const char *const wrong :
       {"", "2", "GB", "2 gb", "-1GB", "0GB", "2GB3", "1 GB more", "1e30TB"})
    EXPECT_NE(
        text_of<ParameterError>([&] { parse_memory_size(wrong); }).find("Use for example 2GB"),
        std::string::npos)
        << wrong;
}

class ExecutorTest : public OnBackend
{};

TEST_P(ExecutorTest, TakesNoMoreThanIsGranted)
{
  const ExecutorPtr limited = make_executor(GetParam(), {1, 1'000'000});
  EXPECT_TRUE(limited->has_limited_memory());
  EXPECT_FALSE(executor->has_limited_memory());
  const Buffer<char> first(limited, 600'000);
  EXPECT_EQ(limited->memory().total, 1'000'000U);
  EXPECT_EQ(limited->memory().free, 400'000U);
  const std::string text = text_of<DeviceError>([&] { Buffer<char>(limited, 600'000); });
  EXPECT_NE(text.find("but only 0.0004 GB of the granted 0.001 GB"), std::string::npos) << text;
  const Buffer<char> rest(limited, 400'000);
  EXPECT_EQ(limited->peak_bytes(), 1'000'000U);
}

TEST_P(ExecutorTest, ReachesBuffersInTheMemoryOfTheHost)
{
  const ExecutorPtr limited = make_executor(GetParam(), {1, 1'000});
  for (const int n : {1, 33, 1'000'007}) {
    const std::vector<double> v = random_vector(n, 1);
    Buffer<double> buffer(limited, v.data(), v.size(), MemoryLocation::host);
    EXPECT_TRUE(buffer.is_on_host());
    EXPECT_EQ(std::vector<double>(buffer.data(), buffer.data() + n), v) << "by the host itself";
    EXPECT_EQ(buffer.to_host(), v);
    Buffer<double> inside(executor, v.size());
    executor->copy_within(inside.data(), buffer.data(), buffer.bytes());
    EXPECT_EQ(inside.to_host(), v);
  }
  EXPECT_EQ(limited->peak_bytes(), 0U);
}

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
    executor->copy_within(b.data(), a.data(), a.bytes());
    EXPECT_EQ(b.to_host(), v);
    b.fill_zero();
    EXPECT_EQ(b.to_host(), std::vector<double>(v.size()));
    EXPECT_EQ(a.to_host(), v);
  }
}

/// Returns sizes in bytes that are edge cases of staged copies: sizes near the size of a chunk and
/// near the smallest staged size (from 64 KiB to 8 MiB), and sizes of several chunks.
std::vector<std::size_t> edge_case_sizes()
{
  std::vector<std::size_t> sizes = {0, 1, 3 * 4096 + 1};
  for (int power = 16; power <= 23; ++power)
    for (const std::size_t more : {0, 1, 2})
      sizes.push_back((std::size_t(1) << power) - 1 + more);
  for (const std::size_t megabytes : {12, 16, 20, 36})
    sizes.push_back((megabytes << 20) + 13);
  return sizes;
}

/// Returns bytes without repetition, so that misplaced parts are noticed.
std::vector<char> random_bytes(const std::size_t n, const unsigned int seed)
{
  std::vector<char> bytes(n);
  std::mt19937_64 generator(seed);
  for (std::size_t i = 0; i < n; i += sizeof(std::uint64_t)) {
    const std::uint64_t value = generator();
    std::memcpy(bytes.data() + i, &value, std::min(sizeof(value), n - i));
  }
  return bytes;
}

TEST_P(ExecutorTest, CopiesOfAwkwardSizesArriveUnchanged)
{
  unsigned int seed = 0;
  for (const std::size_t n : edge_case_sizes()) {
    const std::vector<char> v = random_bytes(n, ++seed);
    const Buffer<char> a(executor, v.data(), n);
    EXPECT_EQ(a.to_host(), v) << n << " bytes";
    std::vector<char> middle(n / 3);
    executor->copy_to_host(middle.data(), a.data() + n / 2, middle.size());
    EXPECT_TRUE(std::equal(middle.begin(), middle.end(), v.begin() + static_cast<long>(n / 2)))
        << "a part of " << n << " bytes";
  }
}

TEST_P(ExecutorTest, CopiesKeepTheirOrderWithSteps)
{
  for (const std::size_t n : {std::size_t(1000), std::size_t(5) << 20}) {
    const std::vector<char> v = random_bytes(n, 1), w = random_bytes(n, 2);
    std::vector<char> source = v;
    Buffer<char> a(executor, n), b(executor, n);
    a.fill_zero();
    a.copy_from_host(source.data());
    source = w; // must not change the copy, which has finished
    b.copy_from(a);
    a.copy_from_host(source.data());
    source.assign(n, 0);
    EXPECT_EQ(b.to_host(), v);
    a.fill_zero();
    b.copy_from(a);
    EXPECT_EQ(b.to_host(), source);
  }
}

TEST_P(ExecutorTest, AnotherThreadCanGoOnWithIt)
{
  const std::vector<char> v = random_bytes(3 << 20, 1);
  Buffer<char> a;
  std::thread([&] {
    executor->make_current();
    a = Buffer<char>(executor, v.data(), v.size());
  }).join();
  EXPECT_EQ(a.to_host(), v);
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
