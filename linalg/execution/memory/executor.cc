#include "linalg/execution/memory/executor.h"

#include "linalg/base/error.h"
#include "linalg/base/host_memory.h"
#include "linalg/base/parallel.h"
#include "linalg/base/text.h"
#ifdef FEMGPU_HAVE_CUDA
#include "linalg/execution/cuda/executor.h"
#endif

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace femgpu::linalg
{
MemoryInfo Executor::memory() const
{
  MemoryInfo info = memory_raw();
  if (granted > 0) {
    info.total = std::min(info.total, granted);
    info.free = std::min(info.free, granted - std::min(used, granted));
  }
  return info;
}

void *Executor::allocate(const std::size_t bytes, const MemoryPlace place) const
{
  if (bytes == 0 || place == MemoryPlace::source)
    return nullptr;
  if (place == MemoryPlace::host)
    return allocate_on_host_raw(bytes);
  if (granted > 0 && used + bytes > granted)
    throw DeviceError(
        "The solver needs " + gigabytes(bytes) + " more on " + name() + ", where " +
        gigabytes(granted - std::min(used, granted)) + " of the " + gigabytes(granted) +
        " granted are free. Grant more (Solver/Device memory, --device-memory), or take what "
        "needs less: format csr, a preconditioner without entries of its own (jacobi, "
        "chebyshev), a solver with fewer vectors.");
  void *const pointer = allocate_raw(bytes);
  used += bytes;
  peak = std::max(peak, used);
  return pointer;
}

void Executor::deallocate(void *const pointer, const std::size_t bytes,
                          const MemoryPlace place) const noexcept
{
  if (pointer == nullptr || place == MemoryPlace::source)
    return;
  if (place == MemoryPlace::host)
    return deallocate_on_host_raw(pointer);
  deallocate_raw(pointer);
  used -= bytes;
}

void Executor::copy_to_host(void *to, const void *from, const std::size_t bytes) const
{
  moved_to_host += bytes;
  copy_to_host_raw(to, from, bytes);
}

HostExecutor::HostExecutor(const Resources &resources)
    : Executor(resources.memory),
      threads(resources.threads > 0 ? resources.threads
                                    : static_cast<unsigned int>(n_loop_threads()))
{}

std::string HostExecutor::description() const
{
  return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

MemoryInfo HostExecutor::memory_raw() const
{
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return {static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page,
          static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * page};
}

void *HostExecutor::allocate_raw(const std::size_t bytes) const
{
  constexpr std::size_t cache_line = 64;
  const std::size_t rounded = (bytes + cache_line - 1) / cache_line * cache_line;
  void *const pointer = std::aligned_alloc(cache_line, rounded);
  if (pointer == nullptr)
    throw DeviceError("The host has no " + std::to_string(bytes >> 20) +
                      " MiB of memory left for the solver. Refine less, or run on more memory.");
  return pointer;
}

void HostExecutor::deallocate_raw(void *const pointer) const noexcept
{
  std::free(pointer);
}

void HostExecutor::copy_from_host(void *to, const void *from, const std::size_t bytes) const
{
  if (bytes > 0)
    std::memcpy(to, from, bytes);
}

void HostExecutor::copy_to_host_raw(void *to, const void *from, const std::size_t bytes) const
{
  copy_from_host(to, from, bytes);
}

void HostExecutor::copy_inside(void *to, const void *from, const std::size_t bytes) const
{
  copy_from_host(to, from, bytes);
}

void HostExecutor::fill_zero(void *to, const std::size_t bytes) const
{
  if (bytes > 0)
    std::memset(to, 0, bytes);
}

namespace
{
// The number K of "cuda:K", 0 for "cuda", -1 for everything else.
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
    catch (const DeviceError &) { // NOLINT(bugprone-empty-catch): the next one may work
    }
  }
#else
  if (device >= 0)
    throw DeviceError("Backend '" + backend +
                      "' was asked for, but this femgpu was built without CUDA. Use --backend "
                      "host, or rebuild where nvcc >= 12.4 is installed.");
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
