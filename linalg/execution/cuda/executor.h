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

constexpr int most_sums = 8; ///< that the epilogue of a resident loop reads

/// Memory of the device where all blocks of a resident loop meet.
struct GridMemory
{
  /// 2: of blocks that have come to a meeting, and that have left; first_arrival and 0 at first,
  /// and again when a kernel has ended.
  unsigned int *arrivals;
  double *sums; ///< twice most_sums of each block
  /// On the device: what loops of other devices tell each other; nullptr: there are none.
  const PeerLoop *peers = nullptr;
};
} // namespace cuda

/// One CUDA device and the stream on which its steps run in order.
class CudaExecutor final : public Executor
{
public:
  /// @param granted bytes of the device's memory; 0: all
  /// @throws DeviceError if device number @p device does not exist or is too old.
  explicit CudaExecutor(int device, std::size_t granted = 0);
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
  void copy_inside(void *to, const void *from, std::size_t bytes) const override;
  void fill_zero(void *to, std::size_t bytes) const override;
  std::unique_ptr<ChunkStream> make_chunk_stream(const std::vector<std::size_t> &chunk_bytes,
                                                 int n_slots) const override;
  void run_steps(const std::function<void(StepRunner &)> &work) const override;
  void synchronize() const override;
  void use_in_this_thread() const override;

  int device_number() const
  {
    return device;
  }
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

  /// Room for as many blocks as there are multiprocessors, and for one kernel at a time: as kernels
  /// of stream() are.
  cuda::GridMemory grid_memory() const
  {
    return grid;
  }

  /// Of the kernels that this device runs.
  cuda::KernelProperties &kernels() const
  {
    return *known_kernels;
  }
  /// Of the loops that run here.
  cuda::KeptGraphs &graphs() const
  {
    return *kept_graphs;
  }

  /// Leaves to others what the pool of memory keeps and nobody has; waits for all steps.
  void give_back_unused() const;

  /// Kernels that were launched.
  std::size_t n_launches() const
  {
    return launches;
  }
  void count_launch() const
  {
    ++launches;
  }

  /// Memory that the host and kernels reach, for the result of one kernel at a time.
  void *mailbox() const
  {
    return pinned;
  }
  static constexpr std::size_t mailbox_bytes = 1 << 16;
  /// Are all loops that would be graphs to be driven by the host? (FEMGPU_CUDA_LOOPS=stepwise, for
  /// compute-sanitizer, which does not follow the memory of kernels in the body of a conditional
  /// graph node.)
  bool launches_stepwise() const
  {
    return is_stepwise;
  }

  /// For a kernel that has been given the mailbox: a number that nobody had before.
  unsigned long long claim_mailbox() const
  {
    return ++mails;
  }
  /// Whose result is in the mailbox, when its kernel has ended.
  unsigned long long last_mail() const
  {
    return mails;
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
  bool has_pool = true; // FEMGPU_CUDA_ALLOCATION=plain takes memory by cudaMalloc instead
  bool is_stepwise = false;
  static constexpr std::size_t staging_bytes = 1 << 16;
  void *pinned = nullptr; // the mailbox, then staging
  void *staging = nullptr;
  std::unique_ptr<CudaStagedCopies> staged; // for larger copies
  std::unique_ptr<cuda::KernelProperties> known_kernels;
  std::unique_ptr<cuda::KeptGraphs> kept_graphs;
  mutable unsigned long long mails = 0;
  mutable std::size_t launches = 0;
  cuda::GridMemory grid{};
};
} // namespace femgpu::linalg

#endif
