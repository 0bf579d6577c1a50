#ifndef femgpu_linalg_base_hash_h
#define femgpu_linalg_base_hash_h

#include "linalg/base/host_device.h"

namespace femgpu::linalg
{
/// Returns a pseudorandom number that depends only on @p number; different numbers give different
/// results (the finalizer of MurmurHash3).
FEMGPU_HD
unsigned int hash_of(const unsigned int number)
{
  unsigned int h = number;
  h = (h ^ (h >> 16U)) * 0x85ebca6bU;
  h = (h ^ (h >> 13U)) * 0xc2b2ae35U;
  return h ^ (h >> 16U);
}
} // namespace femgpu::linalg

#endif
