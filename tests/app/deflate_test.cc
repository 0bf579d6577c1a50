#include "app/deflate.h"

#include <cstdint>
#include <set>

#include <gtest/gtest.h>
#include <zlib.h>

namespace femgpu
{
namespace
{
using Bytes = std::vector<unsigned char>;

/// Fills the stack memory of later calls with @p value.
[[gnu::noinline]] void fill_stack(const std::uint16_t value)
{
  volatile std::uint16_t numbers[1 << 17];
  for (volatile std::uint16_t &number : numbers)
    number = value;
}

/// Compresses @p bytes below @p depth nested calls that use 64 KiB of stack each.
[[gnu::noinline]] Bytes deflate_at_depth(const unsigned int depth, const Bytes &bytes)
{
  volatile unsigned int room[1 << 14];
  room[0] = depth;
  Bytes result =
      depth > 0 ? deflate_at_depth(depth - 1, bytes) : deflated(bytes.data(), bytes.size());
  EXPECT_EQ(room[0], depth); // keeps `room` alive
  return result;
}

TEST(Deflate, SameBytesWhereverAndWhateverTheMemoryIs)
{
  for (std::size_t n = 0; n < 2000; n += n < 40 ? 1 : 80) {
    Bytes bytes(n);
    for (std::size_t i = 0; i < n; ++i)
      bytes[i] = static_cast<unsigned char>(i % 4 == 0 ? 1 + i / 36 : 0);
    std::set<Bytes> all;
    for (std::uint16_t k = 0; k < 40; ++k) {
      fill_stack(k);
      all.insert(deflate_at_depth(k, bytes));
    }
    EXPECT_EQ(all.size(), 1U) << n;
  }
}

TEST(Deflate, ZlibReadsWhatWasThere)
{
  for (const std::size_t n : {0, 1, 7, 8, 9, 100, 1 << 16, 1 << 20})
    for (const bool is_noise : {false, true}) {
      Bytes bytes(n), back(n + 1);
      std::uint64_t state = 1;
      for (unsigned char &byte : bytes) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        byte = static_cast<unsigned char>(is_noise ? state >> 56 : (state >> 60) % 2);
      }
      const Bytes compressed = deflated(bytes.data(), n);
      EXPECT_LE(compressed.size(), n + n / 10000 + 30);
      uLongf length = back.size();
      EXPECT_EQ(uncompress(back.data(), &length, compressed.data(), compressed.size()), Z_OK);
      back.resize(length);
      EXPECT_EQ(back, bytes) << n;
    }
}
} // namespace
} // namespace femgpu
