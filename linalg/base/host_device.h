#ifndef femgpu_linalg_base_host_device_h
#define femgpu_linalg_base_host_device_h

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// Marks a function that both the host compiler and nvcc compile, such as the body of a kernel.
#ifdef __CUDACC__
#define FEMGPU_HD __host__ __device__ __forceinline__
#else
#define FEMGPU_HD inline
#endif

/// Marks a function that both compilers compile but that is too large to be inlined into kernels.
#ifdef __CUDACC__
#define FEMGPU_HD_CALLED __host__ __device__ __noinline__ inline
#else
#define FEMGPU_HD_CALLED inline
#endif

/// Marks a lambda that is the body of a step (a kernel, steps/steps.h). Write this macro between
/// the captures and the parameters. The lambda must capture by value and must not be defined in a
/// constructor or a private function, which nvcc does not support.
#ifdef __CUDACC__
#define FEMGPU_BODY __device__
#else
#define FEMGPU_BODY
#endif

/// Unrolls a short loop with a known number of iterations, so that a GPU can keep the arrays that
/// the loop indexes in registers.
#ifdef __CUDACC__
#define FEMGPU_UNROLL _Pragma("unroll")
#else
#define FEMGPU_UNROLL
#endif

/// Prevents unrolling of a rarely executed loop in a kernel, to save registers.
#ifdef __CUDACC__
#define FEMGPU_ROLLED _Pragma("unroll 1")
#else
#define FEMGPU_ROLLED
#endif

namespace femgpu::linalg
{
/// Whether nvcc compiles this file.
#ifdef __CUDACC__
constexpr bool is_for_gpu = true;
#else
constexpr bool is_for_gpu = false;
#endif

/// Returns 1/x, for divisions on the critical path. On a GPU it has less latency than a division;
/// the error is at most two units in the last place if |x| and 1/|x| are normal numbers.
FEMGPU_HD
double reciprocal(const double x)
{
#ifdef __CUDA_ARCH__
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x)); // 20 correct bits
  y = fma(y, fma(-x, y, 1.), y);
  return fma(y, fma(-x, y, 1.), y);
#else
  return 1. / x;
#endif
}

/**
 * Returns the L2 cache policy for data that a kernel reads once; 0 on the host. If the data fit in
 * the cache, they stay there for the next kernel; otherwise they are evicted before other data.
 * @param cache_resident whether the data fit in the cache
 */
FEMGPU_HD
std::uint64_t cache_policy([[maybe_unused]] const bool cache_resident)
{
#ifdef __CUDA_ARCH__
  std::uint64_t evict_unchanged, evict_first;
  asm("createpolicy.fractional.L2::evict_unchanged.b64 %0, 1.0;" : "=l"(evict_unchanged));
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(evict_first));
  return cache_resident ? evict_unchanged : evict_first;
#else
  return 0;
#endif
}

/// Loads *at without allocating a line in L1; no running kernel may write *at.
/// @param policy policy for the L2 cache, returned by cache_policy()
template <class T>
FEMGPU_HD
T load_once(const T *const at, [[maybe_unused]] const std::uint64_t policy)
{
#ifdef __CUDA_ARCH__
  T value;
  if constexpr (std::is_same_v<T, double>)
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.f64 %0, [%1], %2;"
                 : "=d"(value)
                 : "l"(at), "l"(policy));
  else if constexpr (std::is_same_v<T, float>)
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.f32 %0, [%1], %2;"
                 : "=f"(value)
                 : "l"(at), "l"(policy));
  else if constexpr (std::is_same_v<T, int>)
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.s32 %0, [%1], %2;"
                 : "=r"(value)
                 : "l"(at), "l"(policy));
  else {
    static_assert(sizeof(T) == sizeof(std::uint16_t) && std::is_trivially_copyable_v<T>);
    std::uint16_t bits;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.u16 %0, [%1], %2;"
                 : "=h"(bits)
                 : "l"(at), "l"(policy));
    memcpy(&value, &bits, sizeof(T));
  }
  return value;
#else
  return *at;
#endif
}
} // namespace femgpu::linalg

#endif
