#ifndef femgpu_linalg_base_atomic_h
#define femgpu_linalg_base_atomic_h

#include "linalg/base/host_device.h"

/**
 * @file
 * What threads that run a step may do to one number together, on either backend. Only what has the
 * same result in any order: there are no sums of floating-point numbers here.
 */
namespace femgpu::linalg
{
/// Leaves the smaller one of what is there and @p value; unsigned, of 64 bits, or int.
template <class T>
FEMGPU_HD
void lower_to(T *to, const T value)
{
#ifdef __CUDA_ARCH__
  if (value < *const_cast<const volatile T *>(to)) // it never rises meanwhile
    atomicMin(to, value);
#else
  T old = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (value < old &&
         !__atomic_compare_exchange_n(to, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}

/// Leaves the larger one of what is there and @p value; unsigned, of 64 bits, or int.
template <class T>
FEMGPU_HD
void raise_to(T *to, const T value)
{
#ifdef __CUDA_ARCH__
  if (value > *const_cast<const volatile T *>(to)) // it never falls meanwhile
    atomicMax(to, value);
#else
  T old = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (value > old &&
         !__atomic_compare_exchange_n(to, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}

/// Adds @p value; gives what was there.
template <class T>
FEMGPU_HD
T add_to(T *to, const T value)
{
#ifdef __CUDA_ARCH__
  return atomicAdd(to, value);
#else
  return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
#endif
}

/// A value that all who store here store.
FEMGPU_HD
void store_together(int *to, const int value)
{
#ifdef __CUDA_ARCH__
  *const_cast<volatile int *>(to) = value;
#else
  __atomic_store_n(to, value, __ATOMIC_RELAXED);
#endif
}
} // namespace femgpu::linalg

#endif
