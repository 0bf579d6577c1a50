#ifndef femgpu_linalg_execution_cuda_executor_h
#define femgpu_linalg_execution_cuda_executor_h

#include "linalg/execution/cuda/check.h"
#include "linalg/execution/cuda/graph.h"
#include "linalg/execution/cuda/kernel_properties.h"
#include "linalg/execution/cuda/staged_copies.h"
#include "linalg/memory/executor.h"

#include <memory>

namespace femgpu::linalg
{
namespace cuda
{
struct PeerLoop;

constexpr int max_sums = 8; ///< maximum number of sums that an epilogue of a resident loop reads

/// Device memory through which the blocks of a resident loop (a loop that is one kernel)
/// synchronise and combine sums.
struct GridMemory
{
  /// Two counters: the number of arrivals at barriers, starting from first_arrival, and the number
  /// of blocks that have ended, starting from 0. Both are reset when a kernel ends.
  unsigned int *arrivals;
  double *sums; ///< two buffers, each with max_sums numbers per block
  /// The data, in device memory, by which the loop communicates with the loops on other devices;
  /// nullptr: there are no other devices.
  const PeerLoop *peers = nullptr;
};
} // namespace cuda

/// One CUDA device, and the stream on which its steps (steps/steps.h) run in order.
class CudaExecutor final : public Executor
{
public:
  /// @param memory_limit bytes of device memory that may be used; 0: all
  /// @throws DeviceError if device number @p device does not exist or is too old
  explicit CudaExecutor(int device, std::size_t memory_limit = 0);
  ~CudaExecutor() override;
  CudaExecutor(const CudaExecutor &) = delete;
  CudaExecutor &operator=(const CudaExecutor &) = delete;

  BackendKind backend() const override
  {
    return BackendKind::cuda;
  }
  std::string name() const override;
  std::string description() const override;
  void copy_from_host(void *to, const void *from, std::size_t bytes) const override;
  void copy_within(void *to, const void *from, std::size_t bytes) const override;
  void fill_zero(void *to, std::size_t bytes) const override;
  std::unique_ptr<ChunkStream> make_chunk_stream(const std::vector<std::size_t> &chunk_bytes,
                                                 int n_slots) const override;
  void run_steps(const std::function<void(StepRunner &)> &work) const override;
  void synchronize() const override;
  void make_current() const override;
  bool is_device_memory(const void *pointer) const override;
  void wait_for(void *stream) const override;
  void *stream_handle() const override
  {
    return work_stream;
  }

  int device_number() const
  {
    return device;
  }
  cudaStream_t stream() const
  {
    return work_stream;
  }
  /// A second stream, for copying the state of a running solve.
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

  /// The memory for a resident loop with one block per multiprocessor. Only one kernel at a time
  /// may use it; kernels on stream() run one at a time.
  cuda::GridMemory grid_memory() const
  {
    return grid;
  }

  /// Cached properties of the kernels that this device runs.
  cuda::KernelProperties &kernels() const
  {
    return *kernel_cache;
  }
  /// Cached executable graphs of the loops that run on this device.
  cuda::GraphCache &graphs() const
  {
    return *graph_cache;
  }

  /// Waits for all steps, then returns the pool's unused memory to the driver for other programs.
  void trim_pool() const;

  /// The number of kernels launched so far.
  std::size_t n_launches() const
  {
    return launches;
  }
  void count_launch() const
  {
    ++launches;
  }

  /// Pinned memory that both the host and kernels access, for the result of one kernel at a time.
  void *result_slot() const
  {
    return pinned;
  }
  static constexpr std::size_t result_slot_bytes = 1 << 16;
  /// Returns whether the host launches the steps of all loops that would otherwise be graphs. (This
  /// is the case with FEMGPU_CUDA_LOOPS=stepwise, for compute-sanitizer, which does not track the
  /// memory of kernels in the body of a conditional graph node.)
  bool launches_stepwise() const
  {
    return is_stepwise;
  }

  /// Reserves the result slot for a kernel. @return the number of the kernel's result
  unsigned long long claim_result_slot() const
  {
    return ++n_results;
  }
  /// The number of the last result for which the slot was claimed. The slot holds this result when
  /// its kernel has ended.
  unsigned long long last_result_number() const
  {
    return n_results;
  }

protected:
  MemoryInfo memory_raw() const override;
  void *allocate_on_host_raw(std::size_t bytes) const override;
  void deallocate_on_host_raw(void *pointer) const noexcept override;
  void *allocate_raw(std::size_t bytes) const override;
  void deallocate_raw(void *pointer) const noexcept override;
  void copy_to_host_raw(void *to, const void *from, std::size_t bytes) const override;

private:
  cudaError_t try_to_allocate(void **pointer, std::size_t bytes) const;

  int device;
  ResidentLimits resident;
  std::string device_name;
  cudaStream_t work_stream = nullptr;
  cudaStream_t side_stream = nullptr;
  cudaMemPool_t pool = nullptr;
  bool has_pool = true; // FEMGPU_CUDA_ALLOCATION=plain uses cudaMalloc instead
  bool is_stepwise = false;
  static constexpr std::size_t staging_bytes = 1 << 16;
  void *pinned = nullptr; // the result slot, followed by the staging memory
  void *staging = nullptr;
  std::unique_ptr<CudaStagedCopies> staged; // makes the copies for which should_stage() is true
  std::unique_ptr<cuda::KernelProperties> kernel_cache;
  std::unique_ptr<cuda::GraphCache> graph_cache;
  mutable unsigned long long n_results = 0;
  mutable std::size_t launches = 0;
  cuda::GridMemory grid{};
};
} // namespace femgpu::linalg

#endif
