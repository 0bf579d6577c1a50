#include "linalg/memory/chunk_stream.h"

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
} // namespace femgpu::linalg
