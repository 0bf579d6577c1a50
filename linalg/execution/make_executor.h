#ifndef femgpu_linalg_execution_make_executor_h
#define femgpu_linalg_execution_make_executor_h

#include "linalg/memory/executor.h"

namespace femgpu::linalg
{
/**
 * Returns the executor that @p backend names: "host", "cuda" (device 0), "cuda:K", or "auto".
 * "auto" takes the first working CUDA device if the program has the CUDA backend, otherwise the
 * host.
 * @throws ParameterError if @p backend is none of these names
 * @throws DeviceError if a CUDA device was requested by name and is unavailable
 */
ExecutorPtr make_executor(const std::string &backend, const Resources &resources = {});

/// Returns the number of CUDA devices; 0 if there is no driver or the driver is too old.
int n_cuda_devices() noexcept;

/// Returns one line per CUDA device, with its name and its free and total memory.
std::vector<std::string> describe_cuda_devices();
} // namespace femgpu::linalg

#endif
