#ifndef femgpu_linalg_base_host_device_h
#define femgpu_linalg_base_host_device_h

#include <cmath>
#include <cstdint>
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

/// *at, of which a kernel reads each entry once and writes none: on a GPU it does not displace what
/// is read again from the first-level cache, and doubles come into the second-level cache early.
template <class T>
FEMGPU_HD
T load_once(const T *const at)
{
#ifdef __CUDA_ARCH__
  T value;
  if constexpr (std::is_same_v<T, double>)
    asm volatile("ld.global.nc.L1::no_allocate.L2::256B.f64 %0, [%1];" : "=d"(value) : "l"(at));
  else if constexpr (std::is_same_v<T, float>)
    asm volatile("ld.global.nc.L1::no_allocate.L2::256B.f32 %0, [%1];" : "=f"(value) : "l"(at));
  else if constexpr (std::is_same_v<T, int>)
    asm volatile("ld.global.nc.L1::no_allocate.s32 %0, [%1];" : "=r"(value) : "l"(at));
  else {
    static_assert(std::is_same_v<T, std::uint16_t>);
    asm volatile("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(value) : "l"(at));
  }
  return value;
#else
  return *at;
#endif
}
} // namespace femgpu::linalg

#endif
