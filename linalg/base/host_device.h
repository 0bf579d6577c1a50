#ifndef femgpu_linalg_base_host_device_h
#define femgpu_linalg_base_host_device_h

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// Marks a function that the host compiler and nvcc both compile: a step's formulas, a row product.
#ifdef __CUDACC__
#define FEMGPU_HD __host__ __device__ __forceinline__
#else
#define FEMGPU_HD inline
#endif

/// The same for what is too large to be copied into every kernel that uses it.
#ifdef __CUDACC__
#define FEMGPU_HD_CALLED __host__ __device__ __noinline__ inline
#else
#define FEMGPU_HD_CALLED inline
#endif

/// Between captures and parameters of a lambda that is the body of a step where it is run. It
/// captures by value, and is in no constructor and no private function, which nvcc cannot do.
#ifdef __CUDACC__
#define FEMGPU_BODY __device__
#else
#define FEMGPU_BODY
#endif

/// Before a loop of a few turns, known to the compiler: what it indexes can be registers of the
/// GPU.
#ifdef __CUDACC__
#define FEMGPU_UNROLL _Pragma("unroll")
#else
#define FEMGPU_UNROLL
#endif

/// Before a loop that runs now and then in a kernel whose registers serve something else.
#ifdef __CUDACC__
#define FEMGPU_ROLLED _Pragma("unroll 1")
#else
#define FEMGPU_ROLLED
#endif

namespace femgpu::linalg
{
/// Is this compiled for a GPU?
#ifdef __CUDACC__
constexpr bool is_for_gpu = true;
#else
constexpr bool is_for_gpu = false;
#endif

/// 1/x; on a GPU to within two units in the last place where |x| and 1/|x| are normal numbers, with
/// fewer steps that wait for each other than a division: for where all wait for it.
FEMGPU_HD
double reciprocal(const double x)
{
#ifdef __CUDA_ARCH__
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x)); // 20 bits
  y = fma(y, fma(-x, y, 1.), y);
  return fma(y, fma(-x, y, 1.), y);
#else
  return 1. / x;
#endif
}

/**
 * How the second-level cache of a GPU takes what a kernel reads once. Where all of it fits it
 * @p stays for the next kernel; else it goes first, which leaves the place to what is read again.
 */
FEMGPU_HD
std::uint64_t cache_policy([[maybe_unused]] const bool stays)
{
#ifdef __CUDA_ARCH__
  std::uint64_t to_stay, to_go;
  asm("createpolicy.fractional.L2::evict_unchanged.b64 %0, 1.0;" : "=l"(to_stay));
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(to_go));
  return stays ? to_stay : to_go;
#else
  return 0;
#endif
}

/// *at, which no kernel that is running writes; it does not displace anything from the first-level
/// cache. @param policy of the second-level cache for it
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
