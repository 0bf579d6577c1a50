#include "benchmarks/measure.h"
#include "linalg/base/error.h"
#include "linalg/base/parallel.h"
#include "linalg/base/timing.h"
#include "linalg/execution/cuda/executor.h"
#include "linalg/memory/buffer.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * Measures the rate, in GB/s, of copies between pageable host memory and a GPU: direct copies, and
 * copies through pinned chunks. Checks every copy and prints CSV.
 *
 *   femgpu_copy_rates            64 KiB to 1 GiB
 *   femgpu_copy_rates --sweep    64 MiB with chunks of several sizes and 1 to 8 threads
 */
namespace femgpu::linalg::benchmark
{
namespace
{
constexpr std::size_t KiB = 1 << 10, MiB = 1 << 20;

/// A way to copy to or from a device.
using Copy = std::function<void(void *to, const void *from, std::size_t bytes)>;

double gigabytes_per_second(const std::size_t bytes, const std::function<void()> &copy)
{
  copy(); // untimed: maps the pages and pins the chunks
  std::vector<double> seconds;
  const Stopwatch total;
  while (seconds.size() < 3 || (seconds.size() < 1000 && total.elapsed() < 0.1)) {
    Stopwatch watch;
    copy();
    seconds.push_back(watch.lap());
  }
  return 1e-9 * static_cast<double>(bytes) / median(seconds);
}

struct HostAndDevice
{
  HostAndDevice(const ExecutorPtr &executor, const std::size_t bytes)
      : source(bytes), target(bytes), device(executor, bytes)
  {
    for (std::size_t i = 0; i < bytes; ++i)
      source[i] = static_cast<char>(i * 2654435761U >> 13U);
  }

  std::vector<char> source, target;
  Buffer<char> device;
};

/// Times copies to the device and back, and prints a line for each direction. Returns whether the
/// copies left the data unchanged.
bool measure(HostAndDevice &memory, const std::string &way, const std::size_t chunk,
             const Copy &to_device, const Copy &to_host)
{
  const std::size_t bytes = memory.source.size();
  const auto print = [&](const char *const direction, const double rate) {
    std::printf("%s,%s,%zu,%zu,%d,%.2f\n", direction, way.c_str(), bytes, chunk, n_loop_threads(),
                rate);
  };
  memory.device.fill_zero();
  std::fill(memory.target.begin(), memory.target.end(), char(0));
  print("to device", gigabytes_per_second(bytes, [&] {
          to_device(memory.device.data(), memory.source.data(), bytes);
        }));
  print("to host", gigabytes_per_second(
                       bytes, [&] { to_host(memory.target.data(), memory.device.data(), bytes); }));
  return memory.source == memory.target;
}

bool measure_directly(const CudaExecutor &executor, HostAndDevice &memory)
{
  const auto copy = [&](const cudaMemcpyKind kind) {
    return [&executor, kind](void *to, const void *from, const std::size_t bytes) {
      FEMGPU_CUDA(cudaMemcpyAsync(to, from, bytes, kind, executor.stream()));
      FEMGPU_CUDA(cudaStreamSynchronize(executor.stream()));
    };
  };
  return measure(memory, "direct", 0, copy(cudaMemcpyHostToDevice), copy(cudaMemcpyDeviceToHost));
}

bool measure_sizes(const CudaExecutor &executor)
{
  bool is_right = true;
  for (std::size_t bytes = 64 * KiB; bytes <= 1024 * MiB; bytes *= 2) {
    HostAndDevice memory(executor.shared_from_this(), bytes);
    is_right &= measure_directly(executor, memory);
    is_right &= measure(
        memory, "executor", CudaStagedCopies::default_chunk_bytes,
        [&](void *to, const void *from, std::size_t n) { executor.copy_from_host(to, from, n); },
        [&](void *to, const void *from, std::size_t n) { executor.copy_to_host(to, from, n); });
  }
  return is_right;
}

bool measure_chunks_and_threads(const CudaExecutor &executor)
{
  bool is_right = true;
  HostAndDevice memory(executor.shared_from_this(), 64 * MiB);
  for (const std::size_t chunk : {MiB, 2 * MiB, 4 * MiB, 8 * MiB})
    for (const int threads : {1, 2, 4, 8}) {
      set_n_loop_threads(threads);
      CudaStagedCopies staged(executor.stream(), chunk);
      if (!staged.should_stage(64 * MiB))
        return false;
      is_right &= measure(
          memory, "staged", chunk,
          [&](void *to, const void *from, std::size_t n) { staged.copy_from_host(to, from, n); },
          [&](void *to, const void *from, std::size_t n) { staged.copy_to_host(to, from, n); });
    }
  return is_right;
}
} // namespace
} // namespace femgpu::linalg::benchmark

int main(int argc, char **argv)
{
  using namespace femgpu::linalg;
  try {
    const bool sweep = argc == 2 && std::strcmp(argv[1], "--sweep") == 0;
    if (argc > 1 && !sweep)
      throw femgpu::ParameterError(std::string("Argument '") + argv[1] +
                                   "' is unknown; use --sweep or no argument.");
    const auto executor = std::make_shared<CudaExecutor>(0);
    std::printf("direction,way,bytes,chunk_bytes,threads,gigabytes_per_second\n");
    const bool is_right = sweep ? benchmark::measure_chunks_and_threads(*executor)
                                : benchmark::measure_sizes(*executor);
    if (!is_right)
      std::fprintf(stderr, "femgpu_copy_rates: a copy changed the data\n");
    return is_right ? 0 : 1;
  }
  catch (const femgpu::Error &error) {
    std::fprintf(stderr, "femgpu_copy_rates: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
