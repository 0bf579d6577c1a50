#include "linalg/execution/cuda/executor.h"

#include "linalg/base/error.h"
#include "linalg/execution/cuda/runner.cuh"
#include "linalg/execution/make_executor.h"
#include "linalg/steps/arrival_count.h"

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sstream>

namespace femgpu::linalg
{
namespace
{
// Conditional graph nodes need a driver for CUDA 12.4 or newer.
constexpr int min_driver_version = 12040;
// The oldest architecture for which the default build contains machine code.
constexpr int min_architecture = 80;

std::string gibibytes(const std::size_t bytes)
{
  std::ostringstream text;
  text.precision(1);
  text << std::fixed << static_cast<double>(bytes) / (1ULL << 30) << " GiB";
  return text.str();
}

/// Returns whether the environment variable @p variable has the value @p value.
bool is_set(const char *variable, const char *value)
{
  const char *const text = std::getenv(variable);
  return text != nullptr && std::strcmp(text, value) == 0;
}
} // namespace

void check_cuda(const cudaError_t error, const char *call, const char *file, const int line)
{
  if (error == cudaSuccess)
    return;
  std::ostringstream text;
  text << "The GPU reported " << cudaGetErrorName(error) << " (" << cudaGetErrorString(error)
       << ") in " << call << " at " << file << ":" << line
       << ". Try again with backend host; if that works, please report this message.";
  throw DeviceError(text.str());
}

int n_cuda_devices() noexcept
{
  int driver = 0, n = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver < min_driver_version ||
      cudaGetDeviceCount(&n) != cudaSuccess)
    n = 0;
  cudaGetLastError(); // so that a later call does not report a missing driver
  return n;
}

CudaExecutor::CudaExecutor(const int device, const std::size_t memory_limit)
    : Executor(memory_limit), device(device)
{
  const int n = n_cuda_devices();
  if (device >= n)
    throw DeviceError("Backend 'cuda:" + std::to_string(device) + "' is unavailable: " +
                      (n == 0 ? std::string("no usable CUDA device was found (a driver for CUDA "
                                            ">= 12.4 and compute capability >= 8.0 are needed)")
                              : "this host has only cuda:0 to cuda:" + std::to_string(n - 1)) +
                      ". Use backend host or auto.");
  FEMGPU_CUDA(cudaSetDevice(device));
  cudaDeviceProp properties{};
  FEMGPU_CUDA(cudaGetDeviceProperties(&properties, device));
  if (10 * properties.major + properties.minor < min_architecture)
    throw DeviceError("cuda:" + std::to_string(device) + " (" + properties.name +
                      ") has compute capability " + std::to_string(properties.major) + "." +
                      std::to_string(properties.minor) +
                      ", but 8.0 or newer is needed. Use another device or backend host.");
  device_name = properties.name;
  resident.multiprocessors = properties.multiProcessorCount;
  resident.shared_bytes = properties.sharedMemPerBlockOptin;
  resident.cache_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  resident.cluster_blocks = properties.major >= 9 ? 16 : 0;
  FEMGPU_CUDA(cudaStreamCreateWithFlags(&work_stream, cudaStreamNonBlocking));
  FEMGPU_CUDA(cudaStreamCreateWithFlags(&side_stream, cudaStreamNonBlocking));
  FEMGPU_CUDA(cudaMallocHost(&pinned, result_slot_bytes + staging_bytes));
  staging = static_cast<char *>(pinned) + result_slot_bytes;
  staged = std::make_unique<CudaStagedCopies>(work_stream);
  kernel_cache = std::make_unique<cuda::KernelProperties>(device, resident.shared_bytes);
  graph_cache = std::make_unique<cuda::GraphCache>();
  const std::size_t sums_bytes =
      2 * cuda::max_sums * sizeof(double) * static_cast<std::size_t>(resident.multiprocessors);
  FEMGPU_CUDA(cudaMalloc(&grid.sums, sums_bytes));
  FEMGPU_CUDA(cudaMalloc(&grid.arrivals, 2 * sizeof(unsigned int)));
  const unsigned int no_arrivals[2] = {first_arrival, 0};
  copy_from_host(grid.arrivals, no_arrivals, sizeof(no_arrivals));
  has_pool = !is_set("FEMGPU_CUDA_ALLOCATION", "plain");
  is_stepwise = is_set("FEMGPU_CUDA_LOOPS", "stepwise");
  cudaMemPoolProps pool_properties{};
  pool_properties.allocType = cudaMemAllocationTypePinned;
  pool_properties.location.type = cudaMemLocationTypeDevice;
  pool_properties.location.id = device;
  FEMGPU_CUDA(cudaMemPoolCreate(&pool, &pool_properties)); // not the device's default pool,
                                                           // which other libraries use, too
  // Freed memory stays in the pool, so that a solve allocates its vectors within a microsecond.
  std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  FEMGPU_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
}

CudaExecutor::~CudaExecutor()
{
  cudaStreamSynchronize(work_stream);
  graph_cache.reset();
  staged.reset();
  cudaFree(grid.arrivals);
  cudaFree(grid.sums);
  cudaFreeHost(pinned);
  cudaStreamDestroy(side_stream);
  cudaStreamDestroy(work_stream);
  cudaMemPoolDestroy(pool);
}

std::string CudaExecutor::name() const
{
  return "cuda:" + std::to_string(device);
}

std::string CudaExecutor::description() const
{
  return device_name;
}

MemoryInfo CudaExecutor::memory_raw() const
{
  make_current();
  MemoryInfo info;
  FEMGPU_CUDA(cudaMemGetInfo(&info.free, &info.total));
  std::uint64_t reserved = 0, used = 0;
  FEMGPU_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  FEMGPU_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  info.free += reserved - used;
  return info;
}

cudaError_t CudaExecutor::try_to_allocate(void **pointer, const std::size_t bytes) const
{
  return has_pool ? cudaMallocFromPoolAsync(pointer, bytes, pool, work_stream)
                  : cudaMalloc(pointer, bytes);
}

void CudaExecutor::trim_pool() const
{
  FEMGPU_CUDA(cudaStreamSynchronize(work_stream));
  FEMGPU_CUDA(cudaMemPoolTrimTo(pool, 0));
}

void *CudaExecutor::allocate_raw(const std::size_t bytes) const
{
  make_current();
  void *pointer = nullptr;
  cudaError_t error = try_to_allocate(&pointer, bytes);
  if (error == cudaErrorMemoryAllocation) { // the pool's unused memory may be fragmented
    cudaGetLastError();
    trim_pool();
    error = try_to_allocate(&pointer, bytes);
  }
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    const MemoryInfo info = memory();
    throw DeviceError("The solver needs " + gibibytes(bytes) + " more memory on " + name() + " (" +
                      device_name + "), but only " + gibibytes(info.free) + " of " +
                      gibibytes(info.total) +
                      " are free. Refine less, free device memory, or use backend host.");
  }
  FEMGPU_CUDA(error);
  return pointer;
}

void CudaExecutor::deallocate_raw(void *const pointer) const noexcept
{
  if (has_pool)
    cudaFreeAsync(pointer, work_stream);
  else
    cudaFree(pointer); // waits for all kernels
}

void *CudaExecutor::allocate_on_host_raw(const std::size_t bytes) const
{
  make_current();
  void *pointer = nullptr;
  const cudaError_t error = cudaMallocHost(&pointer, bytes); // kernels can access it, too
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError(); // so that a later call does not report it
    throw DeviceError("The host cannot pin " + gibibytes(bytes) + " for a matrix that " + name() +
                      " reads from host memory. Free host memory, or grant more device memory.");
  }
  FEMGPU_CUDA(error);
  return pointer;
}

void CudaExecutor::deallocate_on_host_raw(void *const pointer) const noexcept
{
  cudaStreamSynchronize(work_stream);
  cudaFreeHost(pointer);
}

void CudaExecutor::copy_from_host(void *to, const void *from, const std::size_t bytes) const
{
  if (bytes == 0)
    return;
  make_current();
  if (staged->should_stage(bytes) && !is_device_memory(from))
    return staged->copy_from_host(to, from, bytes);
  FEMGPU_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, work_stream));
  FEMGPU_CUDA(cudaStreamSynchronize(work_stream));
}

void CudaExecutor::copy_to_host_raw(void *to, const void *from, const std::size_t bytes) const
{
  if (bytes == 0)
    return;
  make_current();
  const bool is_to_host = !is_device_memory(to);
  if (is_to_host && staged->should_stage(bytes))
    return staged->copy_to_host(to, from, bytes);
  // Copies to memory that is not pinned are slow.
  const bool is_staged = is_to_host && bytes <= staging_bytes;
  FEMGPU_CUDA(
      cudaMemcpyAsync(is_staged ? staging : to, from, bytes, cudaMemcpyDefault, work_stream));
  FEMGPU_CUDA(cudaStreamSynchronize(work_stream));
  if (is_staged)
    std::memcpy(to, staging, bytes);
}

void CudaExecutor::copy_within(void *to, const void *from, const std::size_t bytes) const
{
  if (bytes > 0)
    FEMGPU_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, work_stream));
}

void CudaExecutor::fill_zero(void *to, const std::size_t bytes) const
{
  if (bytes == 0)
    return;
  make_current();
  FEMGPU_CUDA(cudaMemsetAsync(to, 0, bytes, work_stream));
}

void CudaExecutor::run_steps(const std::function<void(StepRunner &)> &work) const
{
  Runner<CudaBackend> runner(*this);
  work(runner);
}

void CudaExecutor::synchronize() const
{
  FEMGPU_CUDA(cudaStreamSynchronize(work_stream));
}

void CudaExecutor::make_current() const
{
  FEMGPU_CUDA(cudaSetDevice(device));
}

bool CudaExecutor::is_device_memory(const void *const pointer) const
{
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    cudaGetLastError(); // so that a later call does not report it
    return false;
  }
  return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

void CudaExecutor::wait_for(void *const stream) const
{
  make_current();
  cudaEvent_t reached = nullptr;
  FEMGPU_CUDA(cudaEventCreateWithFlags(&reached, cudaEventDisableTiming));
  cudaError_t error = cudaEventRecord(reached, static_cast<cudaStream_t>(stream));
  if (error == cudaSuccess)
    error = cudaStreamWaitEvent(work_stream, reached, 0);
  cudaEventDestroy(reached);
  FEMGPU_CUDA(error);
}

std::vector<std::string> describe_cuda_devices()
{
  std::vector<std::string> lines;
  for (int device = 0; device < n_cuda_devices(); ++device) {
    try {
      const CudaExecutor executor(device);
      const MemoryInfo info = executor.memory();
      lines.push_back(executor.name() + "  " + executor.description() + ", " +
                      gibibytes(info.free) + " of " + gibibytes(info.total) + " free");
    }
    catch (const DeviceError &error) {
      lines.push_back("cuda:" + std::to_string(device) + "  " + error.what());
    }
  }
  return lines;
}
} // namespace femgpu::linalg
