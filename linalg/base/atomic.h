#ifndef femgpu_linalg_base_atomic_h
#define femgpu_linalg_base_atomic_h

#include "linalg/base/host_device.h"

/**
 * @file
 * Atomic updates of a number by the threads of a kernel, on the host or a GPU. The result does not
 * depend on the order of the updates. Floating-point sums would depend on it and are not provided.
 */
namespace femgpu::linalg
{
/// Replaces *to by the minimum of *to and @p value. T is int or an unsigned type of 32 or 64 bits.
template <class T>
FEMGPU_HD
void atomic_min(T *to, const T value)
{
#ifdef __CUDA_ARCH__
  if (value < *const_cast<const volatile T *>(to)) // other threads never increase *to
    atomicMin(to, value);
#else
  T old = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (value < old &&
         !__atomic_compare_exchange_n(to, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}

/// Replaces *to by the maximum of *to and @p value. T is int or an unsigned type of 32 or 64 bits.
template <class T>
FEMGPU_HD
void atomic_max(T *to, const T value)
{
#ifdef __CUDA_ARCH__
  if (value > *const_cast<const volatile T *>(to)) // other threads never decrease *to
    atomicMax(to, value);
#else
  T old = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (value > old &&
         !__atomic_compare_exchange_n(to, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}

/// Adds @p value to *to. @return the old value of *to
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

/// Stores @p value in *to. All threads that concurrently write *to must store the same value.
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
