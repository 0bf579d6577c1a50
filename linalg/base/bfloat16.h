#ifndef femgpu_linalg_base_bfloat16_h
#define femgpu_linalg_base_bfloat16_h

#include "linalg/base/host_device.h"

#include <cstring>
#include <limits>

namespace femgpu::linalg
{
/// A number stored as the upper half of a float: it has the range of a float, but only 8
/// significant bits. Arithmetic is in double precision.
class BFloat16
{
public:
  BFloat16() = default;

  /// Rounds @p x to nearest, ties to even. Integer arithmetic makes the result bitwise the same on
  /// the host and on a GPU, and avoids the double rounding of a conversion via float. Numbers too
  /// large for this type become infinite; NaN stays NaN.
  FEMGPU_HD
  explicit BFloat16(const double x)
  {
    std::uint64_t u;
    memcpy(&u, &x, sizeof(u));
    const auto sign = static_cast<std::uint16_t>(u >> 63 << 15);
    const std::uint64_t magnitude = u << 1 >> 1, infinity = std::uint64_t{0x7ff} << 52;
    bits = sign | (magnitude > infinity ? 0x7fc0 : rounded(magnitude));
  }

  FEMGPU_HD
  explicit operator double() const
  {
    const std::uint32_t upper = static_cast<std::uint32_t>(bits) << 16;
    float x;
    memcpy(&x, &upper, sizeof(x));
    return static_cast<double>(x);
  }

private:
  /// Rounds |x|, whose bits as a double are @p magnitude, and returns the bits of the result.
  FEMGPU_HD
  static std::uint16_t rounded(const std::uint64_t magnitude)
  {
    const int exponent = static_cast<int>(magnitude >> 52) - 1023;
    if (exponent > 127)
      return 0x7f80;
    // Subnormal numbers have the same unit in the last place as the smallest normal ones.
    const int dropped_bits = exponent >= -126 ? 45 : 45 - 126 - exponent;
    if (dropped_bits > 53) // less than half a unit
      return 0;
    const std::uint64_t one = 1, significand = (magnitude & ((one << 52) - 1)) | one << 52;
    const std::uint64_t truncated = significand >> dropped_bits, half = one << (dropped_bits - 1);
    const std::uint64_t rest = significand & ((one << dropped_bits) - 1);
    const bool rounds_up = rest > half || (rest == half && (truncated & 1) == 1);
    // The leading bit of `truncated` adds one to the exponent, and so does a carry from rounding.
    const int biased = exponent >= -126 ? exponent + 126 : 0;
    return static_cast<std::uint16_t>((biased << 7) + static_cast<int>(truncated) +
                                      (rounds_up ? 1 : 0));
  }

  std::uint16_t bits;
};
} // namespace femgpu::linalg

/// The members of std::numeric_limits that femgpu uses.
template <>
class std::numeric_limits<femgpu::linalg::BFloat16>
{
public:
  static constexpr double min() // the smallest positive normal number
  {
    return 0x1p-126;
  }
  static constexpr double max()
  {
    return 0x1.fep127;
  }
  static constexpr double epsilon()
  {
    return 0x1p-7;
  }
};

#endif
