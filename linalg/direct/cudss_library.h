#ifndef femgpu_linalg_direct_cudss_library_h
#define femgpu_linalg_direct_cudss_library_h

#include "linalg/direct/cudss_abi.h"

#include <string>

namespace femgpu::linalg
{
/// The cuDSS functions that we call. NVIDIA's library is not a part of femgpu, and is loaded only
/// when it is needed.
struct CudssLibrary
{
  cudss::GetProperty *get_property;
  cudss::Create *create;
  cudss::Destroy *destroy;
  cudss::SetStream *set_stream;
  cudss::SetMemoryHandler *set_memory_handler;
  cudss::ConfigCreate *config_create;
  cudss::ConfigDestroy *config_destroy;
  cudss::ConfigSet *config_set;
  cudss::DataCreate *data_create;
  cudss::DataDestroy *data_destroy;
  cudss::DataGet *data_get;
  cudss::CreateDense *create_dense;
  cudss::CreateCsr *create_csr;
  cudss::MatrixDestroy *matrix_destroy;
  cudss::Execute *execute;
  std::string version; ///< "1.0.0"

  /// Loads @p file permanently; without a directory, it is found as the loader finds libraries.
  /// @throws DeviceError if it cannot be loaded, or is not cuDSS 1.0
  explicit CudssLibrary(const std::string &file);

  /// Returns the library of this process: the file that the environment variable FEMGPU_CUDSS names
  /// or, if it is not set, libcudss.so.1.
  /// @throws DeviceError if it cannot be loaded, or is not cuDSS 1.0
  static const CudssLibrary &get();
};
} // namespace femgpu::linalg

#endif
