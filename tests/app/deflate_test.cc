#include "app/deflate.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace femgpu
{
namespace
{
/// Leaves @p value on the part of the stack which later calls have.
[[gnu::noinline]] void fill_stack(const std::uint16_t value)
{
  volatile std::uint16_t numbers[1 << 17];
  for (volatile std::uint16_t &number : numbers)
    number = value;
}

TEST(Deflate, SameBytesWhateverWasInMemory)
{
  std::vector<unsigned char> bytes(100'000);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(i * i / 5000);
  fill_stack(0);
  const std::vector<unsigned char> first = deflated(bytes.data(), bytes.size());
  for (std::uint16_t value = 1; value < 17; ++value) {
    fill_stack(value);
    EXPECT_EQ(deflated(bytes.data(), bytes.size()), first) << value;
  }
}
} // namespace
} // namespace femgpu
