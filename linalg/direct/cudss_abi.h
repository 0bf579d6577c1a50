#ifndef femgpu_linalg_direct_cudss_abi_h
#define femgpu_linalg_direct_cudss_abi_h

#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstddef>
#include <cstdint>

/**
 * @file
 * The part of the binary interface of cuDSS 1.0 that we use, so that its header is not needed to
 * build femgpu. Enumerators are passed as int, which is their underlying type. Other versions have
 * other values: in cuDSS 0.7, for example, most settings are numbered differently.
 */
namespace femgpu::linalg::cudss
{
constexpr int major_version = 1, minor_version = 0;

using Handle = struct CudssHandle *;
using Config = struct CudssConfig *;
using Data = struct CudssData *;
using Matrix = struct CudssMatrix *;

enum Status : int
{
  success = 0,
  not_initialized = 1,
  allocation_failed = 2,
  invalid_value = 3,
  not_supported = 4,
  execution_failed = 5,
  internal_error = 6,
  refinement_failed = 7 ///< iterative refinement did not reach its tolerance
};

/// Settings (cudssConfigParam_t); each value is an int.
enum Setting : int
{
  matching_algorithm = 3,
  refinement_steps = 5,
  deterministic_mode = 24
};
constexpr int no_matching = 0;

/// Results (cudssDataParam_t).
enum Result : int
{
  info = 0,             ///< int; 0 if the factorisation has succeeded
  factor_nonzeros = 1,  ///< int64_t
  perturbed_pivots = 2, ///< an integer of the type of the column indices
};

enum Phase : int
{
  analysis = 1 << 0 | 1 << 1,
  factorisation = 1 << 2,
  refactorisation = 1 << 3,
  solution = 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9
};

/// Properties of a matrix (cudssMatrixType_t).
enum MatrixType : int
{
  general = 0,
  positive_definite = 3
};
constexpr int full_view = 0;        ///< both triangles are stored (cudssMatrixViewType_t)
constexpr int zero_based = 0;       ///< cudssIndexBase_t
constexpr int columns_in_order = 0; ///< cudssLayout_t

/// The functions by which cuDSS allocates device memory (cudssDeviceMemHandler_t). They return 0 on
/// success.
struct MemoryHandler
{
  void *context;
  int (*allocate)(void *context, void **pointer, std::size_t bytes, cudaStream_t stream);
  int (*deallocate)(void *context, void *pointer, std::size_t bytes, cudaStream_t stream);
  char name[64];
};

using Create = int(Handle *);
using Destroy = int(Handle);
using GetProperty = int(libraryPropertyType, int *);
using SetStream = int(Handle, cudaStream_t);
using SetMemoryHandler = int(Handle, const MemoryHandler *);
using ConfigCreate = int(Config *);
using ConfigDestroy = int(Config);
using ConfigSet = int(Config, int setting, const void *value, std::size_t bytes);
using DataCreate = int(Handle, Data *);
using DataDestroy = int(Handle, Data);
using DataGet = int(Handle, Data, int result, void *value, std::size_t bytes, std::size_t *written);
using CreateDense = int(Matrix *, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                        const void *values, cudaDataType_t, int layout);
using CreateCsr = int(Matrix *, std::int64_t rows, std::int64_t columns, std::int64_t nonzeros,
                      const void *row_starts, const void *row_ends, const void *column_indices,
                      const void *values, cudaDataType_t of_offsets, cudaDataType_t of_indices,
                      cudaDataType_t of_values, int type, int view, int base);
using MatrixDestroy = int(Matrix);
using Execute = int(Handle, int phase, Config, Data, Matrix A, Matrix x, Matrix b);
} // namespace femgpu::linalg::cudss

#endif
