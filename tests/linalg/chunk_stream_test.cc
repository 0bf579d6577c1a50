#include "linalg/memory/buffer.h"
#include "linalg/memory/chunk_stream.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>

namespace femgpu::linalg::test
{
namespace
{
class ChunkStreamTest : public OnBackend
{
protected:
  /// Fetches all chunks in order, twice, and returns all bytes as kernels on the device read them.
  std::vector<char> visit_twice(ChunkStream &chunks, const std::vector<std::size_t> &sizes) const
  {
    std::size_t total = 0;
    for (const std::size_t size : sizes)
      total += size;
    Buffer<char> found(executor, 2 * total);
    char *to = found.data();
    for (int visit = 0; visit < 2; ++visit)
      for (std::size_t c = 0; c < sizes.size(); ++c) {
        executor->copy_within(to, chunks.fetch(static_cast<int>(c)), sizes[c]);
        chunks.release();
        to += sizes[c];
      }
    return found.to_host();
  }
};

TEST_P(ChunkStreamTest, StepsFindEachChunkHoweverManySlotsThereAre)
{
  const std::vector<std::size_t> sizes = {1000, 3'000'000, 1, 2'000'000, 256};
  for (const int n_slots : {1, 2, 3, 5}) {
    SCOPED_TRACE(n_slots);
    const auto chunks = executor->make_chunk_stream(sizes, n_slots);
    std::vector<char> expected;
    for (std::size_t c = 0; c < sizes.size(); ++c) {
      const auto letter = static_cast<char>('a' + c);
      char *const chunk = chunks->host(static_cast<int>(c));
      std::fill(chunk, chunk + sizes[c], letter);
      expected.insert(expected.end(), sizes[c], letter);
    }
    const std::vector<char> once = expected;
    expected.insert(expected.end(), once.begin(), once.end());
    EXPECT_TRUE(visit_twice(*chunks, sizes) == expected); // EXPECT_EQ would print all bytes
  }
}

TEST_P(ChunkStreamTest, SlotsAreAsLargeAsTheLargestChunk)
{
  const std::size_t largest = 3'000'000, slots = 2;
  const auto chunks = executor->make_chunk_stream({1000, largest, 1}, static_cast<int>(slots));
  const std::size_t expected = executor->backend() == BackendKind::host ? 0 : slots * largest;
  EXPECT_GE(chunks->slot_bytes(), expected);
  EXPECT_LE(chunks->slot_bytes(), expected + slots * 256);
}

INSTANTIATE_TEST_SUITE_P(Backends, ChunkStreamTest, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
