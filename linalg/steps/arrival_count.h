#ifndef femgpu_linalg_steps_arrival_count_h
#define femgpu_linalg_steps_arrival_count_h

#include "linalg/base/host_device.h"

/**
 * @file
 * How the blocks of a kernel count those that have come to their meetings. A loop may have more
 * meetings than 32 bits can count, so the count goes on from 2^32-1 to 0.
 */
namespace femgpu::linalg
{
/// With what a count begins: so near to its end that a loop of some fifty iterations, and so each
/// test of larger systems, goes beyond it.
constexpr unsigned int arrivals_before_wrap = 1U << 13U;
constexpr unsigned int first_arrival = 0xffffffffU - (arrivals_before_wrap - 1);

/// Have as many arrived as are expected? For counts that differ by less than 2^31: who waits at a
/// meeting has come to it, so that others can be ahead by one meeting at most.
FEMGPU_HD
bool have_arrived(const unsigned int arrived, const unsigned int expected)
{
  return arrived - expected < 1U << 31U;
}
} // namespace femgpu::linalg

#endif
