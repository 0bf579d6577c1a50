#ifndef femgpu_linalg_base_atomic_h
#define femgpu_linalg_base_atomic_h

#include "linalg/base/host_device.h"

/**
 * @file
 * Concurrent updates of one number by the threads of a step, on either backend. Only operations
 * whose result does not depend on the order: there are no floating-point sums here.
 */
namespace femgpu::linalg
{
/// Stores the minimum of *to and @p value; unsigned, 64 bits unsigned, or int.
template <class T>
FEMGPU_HD
void atomic_min(T *to, const T value)
{
#ifdef __CUDA_ARCH__
  if (value < *const_cast<const volatile T *>(to)) // *to never increases meanwhile
    atomicMin(to, value);
#else
  T old = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (value < old &&
         !__atomic_compare_exchange_n(to, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}

/// Stores the maximum of *to and @p value; unsigned, 64 bits unsigned, or int.
template <class T>
FEMGPU_HD
void atomic_max(T *to, const T value)
{
#ifdef __CUDA_ARCH__
  if (value > *const_cast<const volatile T *>(to)) // *to never decreases meanwhile
    atomicMax(to, value);
#else
  T old = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (value > old &&
         !__atomic_compare_exchange_n(to, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}

/// Adds @p value. @return the old value
template <class T>
FEMGPU_HD
T atomic_add(T *to, const T value)
{
#ifdef __CUDA_ARCH__
  return atomicAdd(to, value);
#else
  return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
#endif
}

/// Stores a value that all threads which write here have in common.
FEMGPU_HD
void store_relaxed(int *to, const int value)
{
#ifdef __CUDA_ARCH__
  *const_cast<volatile int *>(to) = value;
#else
  __atomic_store_n(to, value, __ATOMIC_RELAXED);
#endif
}
} // namespace femgpu::linalg

#endif
