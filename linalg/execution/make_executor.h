#ifndef femgpu_linalg_execution_make_executor_h
#define femgpu_linalg_execution_make_executor_h

#include "linalg/memory/executor.h"

namespace femgpu::linalg
{
/**
 * The executor that @p backend names: "host", "cuda" (device 0), "cuda:K", or "auto", which takes
 * the first CUDA device that works where the program has the CUDA backend, else the host.
 * @throws ParameterError if @p backend is none of these words; DeviceError if a CUDA device was
 *         asked for by name and cannot be had.
 */
ExecutorPtr make_executor(const std::string &backend, const Resources &resources = {});

/// Number of CUDA devices; 0 without a driver, or with one that is too old.
int n_cuda_devices() noexcept;

/// One line per CUDA device, with its name and its free and total memory; empty without one.
std::vector<std::string> describe_cuda_devices();
} // namespace femgpu::linalg

#endif
