#include "linalg/execution/memory/chunk_stream.h"

#include "linalg/execution/memory/buffer.h"
#include "linalg/execution/memory/executor.h"

namespace femgpu::linalg
{
std::vector<std::size_t> ChunkStream::offsets_of(const std::vector<std::size_t> &chunk_bytes)
{
  constexpr std::size_t line = 256;
  std::vector<std::size_t> offsets(1, 0);
  for (const std::size_t bytes : chunk_bytes)
    offsets.push_back(offsets.back() + (bytes + line - 1) / line * line);
  return offsets;
}

namespace
{
/// Nothing is copied: the memory of the host is that of the executor.
class HostChunkStream final : public ChunkStream
{
public:
  HostChunkStream(ExecutorPtr executor, const std::vector<std::size_t> &chunk_bytes)
      : offsets(offsets_of(chunk_bytes)),
        memory(std::move(executor), offsets.back(), MemoryPlace::host)
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
