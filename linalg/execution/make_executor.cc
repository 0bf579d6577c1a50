#include "linalg/execution/make_executor.h"

#include "linalg/base/error.h"
#include "linalg/base/text.h"
#include "linalg/execution/host/executor.h"
#ifdef FEMGPU_HAVE_CUDA
#include "linalg/execution/cuda/executor.h"
#endif

namespace femgpu::linalg
{
namespace
{
// Returns the number K of "cuda:K", 0 for "cuda", and -1 for any other name.
int cuda_device_of(const std::string &backend)
{
  if (backend == "cuda")
    return 0;
  const std::string digits = backend.compare(0, 5, "cuda:") == 0 ? backend.substr(5) : "";
  return is_digits(digits) && digits.size() <= 3 ? std::stoi(digits) : -1;
}
} // namespace

ExecutorPtr make_executor(const std::string &backend, const Resources &resources)
{
  if (backend == "host")
    return std::make_shared<HostExecutor>(resources);
  const int device = cuda_device_of(backend);
  if (backend != "auto" && device < 0)
    throw ParameterError("Unknown backend '" + backend + "'; use auto, host, cuda or cuda:K.");
#ifdef FEMGPU_HAVE_CUDA
  if (device >= 0)
    return std::make_shared<CudaExecutor>(device, resources.memory);
  for (int k = 0; k < n_cuda_devices(); ++k) {
    try {
      return std::make_shared<CudaExecutor>(k, resources.memory);
    }
    catch (const DeviceError &) { // NOLINT(bugprone-empty-catch): the next device may work
    }
  }
#else
  if (device >= 0)
    throw DeviceError("Backend '" + backend +
                      "' is unavailable: this femgpu was built without CUDA. Use backend host, or "
                      "rebuild where nvcc >= 12.4 is installed.");
#endif
  return std::make_shared<HostExecutor>(resources);
}

#ifndef FEMGPU_HAVE_CUDA
int n_cuda_devices() noexcept
{
  return 0;
}

std::vector<std::string> describe_cuda_devices()
{
  return {};
}
#endif
} // namespace femgpu::linalg
