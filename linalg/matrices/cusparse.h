#ifndef femgpu_linalg_matrices_cusparse_h
#define femgpu_linalg_matrices_cusparse_h

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <string>

namespace femgpu::linalg
{
/// @throws ParameterError if cuSPARSE has no such operation, DeviceError for every other failure.
void check_cusparse(cusparseStatus_t status, const std::string &call);

/// Every call of cuSPARSE goes through this.
#define FEMGPU_CUSPARSE(call) ::femgpu::linalg::check_cusparse((call), #call)

/// The handle of this thread of the program, for operations on @p stream.
cusparseHandle_t cusparse_handle(cudaStream_t stream);
} // namespace femgpu::linalg

#endif
