#ifndef femgpu_linalg_memory_executor_h
#define femgpu_linalg_memory_executor_h

#include "linalg/memory/chunk_stream.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg
{
class StepRunner;

/// Properties of a device that determine whether a solver's loop can run as one kernel that keeps
/// the matrix and the vectors on the chip (execution/cuda/on_chip/resident.cuh).
struct ResidentLimits
{
  int multiprocessors = 0;
  std::size_t shared_bytes = 0; ///< maximum shared memory of a block
  int cluster_blocks = 0;       ///< maximum number of blocks of a cluster; 0: no clusters
  std::size_t cache_bytes = 0;  ///< size of the L2 cache
};

/// The backends, which store data and run kernels.
enum class BackendKind
{
  host,
  cuda
};

/// The total and the free memory of an executor in bytes.
struct MemoryInfo
{
  std::size_t total = 0;
  std::size_t free = 0;
};

/// The resources of the device or of the host that an executor may use.
struct Resources
{
  unsigned int threads; ///< host threads; 0: one for each core that the process may use
  std::size_t memory;   ///< maximum bytes of memory; 0: no limit

  Resources(const unsigned int threads = 0, const std::size_t memory = 0)
      : threads(threads), memory(memory)
  {}
};

/// The memory that contains the elements of a Buffer.
enum class MemoryLocation
{
  executor, ///< memory of the buffer's executor
  host,     ///< host memory, which a device accesses over the bus
  source    ///< the caller's host memory: the buffer refers to it instead of copying it
};

/**
 * Allocates memory and runs steps (kernels, steps/steps.h) on the cores of this host or on one CUDA
 * device. Buffers hold a shared pointer to their executor. Only one thread at a time may use an
 * executor.
 */
class Executor : public std::enable_shared_from_this<Executor>
{
public:
  virtual ~Executor() = default;

  virtual BackendKind backend() const = 0;

  /// The name in the form that make_executor() expects: "host" or "cuda:K".
  virtual std::string name() const = 0;

  /// Describes the executor for reports: device name or number of threads.
  virtual std::string description() const = 0;

  /// Returns the total and the free memory of the device or of this host, but no more than the
  /// memory limit allows.
  MemoryInfo memory() const;

  /// Returns whether Resources::memory limits the memory that the executor may use. A matrix may
  /// then have to stay in host memory.
  bool has_limited_memory() const
  {
    return memory_limit > 0;
  }

  /**
   * Allocates uninitialised memory of size @p bytes. Returns nullptr if the size is 0, or if the
   * location is MemoryLocation::source.
   * @throws DeviceError, which names the requested and the free bytes, if memory is exhausted
   */
  void *allocate(std::size_t bytes, MemoryLocation location = MemoryLocation::executor) const;
  void deallocate(void *pointer, std::size_t bytes,
                  MemoryLocation location = MemoryLocation::executor) const noexcept;

  /// Copies from host memory, or from memory of this executor's device, to memory of this executor,
  /// in any MemoryLocation, and waits until the copy is done.
  virtual void copy_from_host(void *to, const void *from, std::size_t bytes) const = 0;
  /// Copies from memory of this executor to host memory or to memory of its device, and waits until
  /// the copy is done.
  void copy_to_host(void *to, const void *from, std::size_t bytes) const;
  /// Copies within this executor's memory, after all steps launched so far.
  virtual void copy_within(void *to, const void *from, std::size_t bytes) const = 0;
  virtual void fill_zero(void *to, std::size_t bytes) const = 0;

  /// Allocates host memory for chunks whose sizes are @p chunk_bytes, and @p n_slots slots in this
  /// executor's memory through which the chunks are streamed.
  /// @throws DeviceError, which names the requested bytes, if memory is exhausted
  virtual std::unique_ptr<ChunkStream>
  make_chunk_stream(const std::vector<std::size_t> &chunk_bytes, int n_slots) const = 0;

  /// Returns whether @p pointer refers to memory of a device, or to memory that moves between host
  /// and device.
  virtual bool is_device_memory(const void * /* pointer */) const
  {
    return false;
  }

  /// Makes the steps launched from now on wait for the work that is in the CUDA stream @p stream
  /// now. Does nothing on the host.
  /// @param stream a cudaStream_t of the executor's device; nullptr: the device's legacy stream
  virtual void wait_for(void * /* stream */) const
  {}

  /// Returns the CUDA stream (cudaStream_t) on which steps run in order; nullptr on the host.
  virtual void *stream_handle() const
  {
    return nullptr;
  }

  /// Returns the properties that determine whether loops can keep their systems on the chip; all
  /// are 0 if none can.
  virtual ResidentLimits resident_limits() const
  {
    return {};
  }

  /// Prepares the calling thread for this executor. A thread other than the one that made the
  /// executor must call this function first.
  virtual void make_current() const
  {}

  /// Calls @p work with an object that runs steps. These steps run after all steps launched before.
  virtual void run_steps(const std::function<void(StepRunner &)> &work) const = 0;

  /// Waits for all steps. @throws DeviceError if a step failed
  virtual void synchronize() const = 0;

  /// The number of bytes that copy_to_host() has copied to host memory so far.
  std::size_t bytes_to_host() const
  {
    return copied_to_host;
  }

  /// The maximum number of bytes of the executor's memory that were allocated at the same time.
  std::size_t peak_bytes() const
  {
    return peak;
  }

protected:
  /// @param memory_limit bytes that may be used; 0: no limit
  explicit Executor(const std::size_t memory_limit) : memory_limit(memory_limit)
  {}

  virtual MemoryInfo memory_raw() const = 0;
  virtual void *allocate_on_host_raw(std::size_t bytes) const = 0;
  virtual void deallocate_on_host_raw(void *pointer) const noexcept = 0;
  virtual void *allocate_raw(std::size_t bytes) const = 0;
  virtual void deallocate_raw(void *pointer) const noexcept = 0;
  virtual void copy_to_host_raw(void *to, const void *from, std::size_t bytes) const = 0;

private:
  std::size_t memory_limit;
  mutable std::size_t copied_to_host = 0;
  mutable std::size_t used = 0;
  mutable std::size_t peak = 0;
};

using ExecutorPtr = std::shared_ptr<const Executor>;
} // namespace femgpu::linalg

#endif
