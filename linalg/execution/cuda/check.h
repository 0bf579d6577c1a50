#ifndef femgpu_linalg_execution_cuda_check_h
#define femgpu_linalg_execution_cuda_check_h

#include <cuda_runtime_api.h>

namespace femgpu::linalg
{
/// Throws DeviceError with the name and description of @p error, the call and its location in the
/// source, unless @p error is cudaSuccess.
void check_cuda(cudaError_t error, const char *call, const char *file, int line);

/// Calls a function of the CUDA runtime and throws DeviceError if the call fails.
#define FEMGPU_CUDA(call) ::femgpu::linalg::check_cuda((call), #call, __FILE__, __LINE__)
} // namespace femgpu::linalg

#endif
