#ifndef femgpu_linalg_base_host_device_h
#define femgpu_linalg_base_host_device_h

#include <cmath>

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

/// Before a loop over the entries of a row: the GPU has the loads of four of them under way at
/// once.
#ifdef __CUDACC__
#define FEMGPU_UNROLL _Pragma("unroll 4")
#else
#define FEMGPU_UNROLL
#endif

#endif
