#ifndef femgpu_linalg_execution_cuda_executor_h
#define femgpu_linalg_execution_cuda_executor_h

#include "linalg/base/error.h"
#include "linalg/execution/executor.h"

#include <cuda_runtime_api.h>

namespace femgpu::linalg
{
/// Number of CUDA devices; 0 without a driver, or with one that is too old.
int n_cuda_devices() noexcept;

/// Throws DeviceError with name, text and place of @p error unless it is cudaSuccess.
void check_cuda(cudaError_t error, const char *call, const char *file, int line);

/// Every call of the CUDA run-time library goes through this.
#define FEMGPU_CUDA(call) ::femgpu::linalg::check_cuda((call), #call, __FILE__, __LINE__)

/// One CUDA device and the stream on which its steps run in order.
class CudaExecutor final : public Executor
{
public:
  /// @throws DeviceError if device number @p device does not exist or is too old.
  explicit CudaExecutor(int device);
  ~CudaExecutor() override;
  CudaExecutor(const CudaExecutor &) = delete;
  CudaExecutor &operator=(const CudaExecutor &) = delete;

  BackendKind backend() const override
  {
    return BackendKind::cuda;
  }
  std::string name() const override;
  std::string description() const override;
  MemoryInfo memory() const override;
  void copy_from_host(void *to, const void *from, std::size_t bytes) const override;
  void copy_to_host(void *to, const void *from, std::size_t bytes) const override;
  void copy_inside(void *to, const void *from, std::size_t bytes) const override;
  void fill_zero(void *to, std::size_t bytes) const override;
  void synchronize() const override;

  cudaStream_t stream() const
  {
    return work_stream;
  }
  /// A second stream, for looking at a solve that is under way.
  cudaStream_t watch_stream() const
  {
    return side_stream;
  }
  int n_multiprocessors() const
  {
    return resident.multiprocessors;
  }
  ResidentLimits resident_limits() const override
  {
    return resident;
  }

protected:
  void *allocate_raw(std::size_t bytes) const override;
  void deallocate_raw(void *pointer) const noexcept override;

private:
  int device;
  ResidentLimits resident;
  std::string device_name;
  cudaStream_t work_stream = nullptr;
  cudaStream_t side_stream = nullptr;
  cudaMemPool_t pool = nullptr;
  static constexpr std::size_t staging_bytes = 1 << 16;
  void *staging = nullptr; // pinned
};
} // namespace femgpu::linalg

#endif
