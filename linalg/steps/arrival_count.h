#ifndef femgpu_linalg_steps_arrival_count_h
#define femgpu_linalg_steps_arrival_count_h

#include "linalg/base/host_device.h"

/**
 * @file
 * How the blocks of a kernel count arrivals at barriers. A loop may have more barriers than 32 bits
 * can count, so the counter wraps around from 2^32-1 to 0.
 */
namespace femgpu::linalg
{
/// The counter starts 2^13 arrivals before it wraps around. A loop of some fifty iterations then
/// includes the wrap-around, so that each test with larger systems covers it.
constexpr unsigned int arrivals_before_wrap = 1U << 13U;
constexpr unsigned int first_arrival = 0xffffffffU - (arrivals_before_wrap - 1);

/// Returns whether the counter @p arrived has reached @p expected. The numbers must differ by less
/// than 2^31; they do, because no block can be more than one barrier ahead of a waiting block.
FEMGPU_HD
bool have_arrived(const unsigned int arrived, const unsigned int expected)
{
  return arrived - expected < 1U << 31U;
}
} // namespace femgpu::linalg

#endif
