#include "linalg/execution/host/executor.h"

#include "linalg/base/error.h"
#include "linalg/base/parallel.h"
#include "linalg/execution/host/runner.h"
#include "linalg/memory/buffer.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

namespace femgpu::linalg
{
HostExecutor::HostExecutor(const Resources &resources)
    : Executor(resources.memory),
      threads(resources.threads > 0 ? resources.threads
                                    : static_cast<unsigned int>(n_loop_threads()))
{}

std::string HostExecutor::description() const
{
  return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

MemoryInfo HostExecutor::memory_raw() const
{
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return {static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page,
          static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * page};
}

void *HostExecutor::allocate_raw(const std::size_t bytes) const
{
  constexpr std::size_t cache_line = 64;
  const std::size_t rounded = (bytes + cache_line - 1) / cache_line * cache_line;
  void *const pointer = std::aligned_alloc(cache_line, rounded);
  if (pointer == nullptr)
    throw DeviceError("The host cannot allocate " + std::to_string(bytes >> 20) +
                      " MiB for the solver. Refine less, or use a machine with more memory.");
  return pointer;
}

void HostExecutor::deallocate_raw(void *const pointer) const noexcept
{
  std::free(pointer);
}

void HostExecutor::copy_from_host(void *to, const void *from, const std::size_t bytes) const
{
  if (bytes > 0)
    std::memcpy(to, from, bytes);
}

void HostExecutor::copy_to_host_raw(void *to, const void *from, const std::size_t bytes) const
{
  copy_from_host(to, from, bytes);
}

void HostExecutor::copy_within(void *to, const void *from, const std::size_t bytes) const
{
  copy_from_host(to, from, bytes);
}

void HostExecutor::fill_zero(void *to, const std::size_t bytes) const
{
  if (bytes > 0)
    std::memset(to, 0, bytes);
}

void HostExecutor::run_steps(const std::function<void(StepRunner &)> &work) const
{
  Runner<HostBackend> runner(*this);
  work(runner);
}

namespace
{
/// A chunk stream that copies nothing, because the executor's memory is host memory.
class HostChunkStream final : public ChunkStream
{
public:
  HostChunkStream(ExecutorPtr executor, const std::vector<std::size_t> &chunk_bytes)
      : offsets(offsets_of(chunk_bytes)),
        memory(std::move(executor), offsets.back(), MemoryLocation::host)
  {}

  char *host(const int c) override
  {
    return memory.data() + offsets[c];
  }
  const char *fetch(const int c) override
  {
    return memory.data() + offsets[c];
  }
  void release() override
  {}
  std::size_t slot_bytes() const override
  {
    return 0;
  }

private:
  std::vector<std::size_t> offsets;
  Buffer<char> memory;
};
} // namespace

std::unique_ptr<ChunkStream>
HostExecutor::make_chunk_stream(const std::vector<std::size_t> &chunk_bytes,
                                const int /* n_slots */) const
{
  return std::make_unique<HostChunkStream>(shared_from_this(), chunk_bytes);
}
} // namespace femgpu::linalg
