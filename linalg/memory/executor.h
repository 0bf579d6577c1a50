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

/// What of a device decides whether a system can stay on it; see cuda/on_chip/resident.cuh.
struct ResidentLimits
{
  int multiprocessors = 0;
  std::size_t shared_bytes = 0; ///< most that a block can have
  int cluster_blocks = 0;       ///< of the largest cluster; 0 without clusters
  std::size_t cache_bytes = 0;  ///< of the second level
};

/// Where data live and steps run.
enum class BackendKind
{
  host,
  cuda
};

/// Bytes of memory of an executor.
struct MemoryInfo
{
  std::size_t total = 0;
  std::size_t free = 0;
};

/// What an executor may take of its device, or of the host.
struct Resources
{
  unsigned int threads; ///< of the host; 0: all cores that the process may use
  std::size_t memory;   ///< bytes; 0: all that there is

  Resources(const unsigned int threads = 0, const std::size_t memory = 0)
      : threads(threads), memory(memory)
  {}
};

/// Where a Buffer is: in the memory of its executor; in the host's, which its steps reach, over a
/// bus if they run on a device; or nowhere else than what it is made of, which is not copied but
/// read where it is.
enum class MemoryPlace
{
  executor,
  host,
  source
};

/**
 * A place that owns memory and runs steps: the cores of this host, or one CUDA device. Buffers keep
 * a shared pointer to theirs. An executor is used by one thread at a time.
 */
class Executor : public std::enable_shared_from_this<Executor>
{
public:
  virtual ~Executor() = default;

  virtual BackendKind backend() const = 0;

  /// As `--backend` takes it: "host" or "cuda:K".
  virtual std::string name() const = 0;

  /// For people: device name or number of threads.
  virtual std::string description() const = 0;

  /// Memory of the device, or of this host, as far as it is granted.
  MemoryInfo memory() const;

  /// Is it only so much of its memory that it may take? Then a matrix may have to stay in that of
  /// the host.
  bool has_limited_memory() const
  {
    return granted > 0;
  }

  /**
   * @p bytes of uninitialised memory; nullptr for 0 bytes.
   * @throws DeviceError naming the bytes asked for and the bytes free.
   */
  void *allocate(std::size_t bytes, MemoryPlace place = MemoryPlace::executor) const;
  void deallocate(void *pointer, std::size_t bytes,
                  MemoryPlace place = MemoryPlace::executor) const noexcept;

  /// Copies between this executor's memory, in any place, and the host's; both wait until the copy
  /// is done.
  virtual void copy_from_host(void *to, const void *from, std::size_t bytes) const = 0;
  void copy_to_host(void *to, const void *from, std::size_t bytes) const;
  /// A copy inside this executor's memory, in order with the steps.
  virtual void copy_inside(void *to, const void *from, std::size_t bytes) const = 0;
  virtual void fill_zero(void *to, std::size_t bytes) const = 0;

  /// Host memory for chunks of @p chunk_bytes, which pass through @p n_slots slots of this
  /// executor's memory. @throws DeviceError naming the bytes if there is not enough memory
  virtual std::unique_ptr<ChunkStream>
  make_chunk_stream(const std::vector<std::size_t> &chunk_bytes, int n_slots) const = 0;

  /// What decides whether loops can stay on a chip.
  virtual ResidentLimits resident_limits() const
  {
    return {};
  }

  /// Is called first where another thread than the one that made the executor goes on with it.
  virtual void use_in_this_thread() const
  {}

  /// Calls @p work with a runner, whose steps run after all steps that were given before.
  virtual void run_steps(const std::function<void(StepRunner &)> &work) const = 0;

  /// Waits for all steps; throws DeviceError if one of them failed.
  virtual void synchronize() const = 0;

  /// All bytes that copy_to_host() has moved.
  std::size_t bytes_to_host() const
  {
    return moved_to_host;
  }

  /// Largest number of bytes of its own memory that were allocated at one time.
  std::size_t peak_bytes() const
  {
    return peak;
  }

protected:
  /// @param granted bytes; 0: all that there is
  explicit Executor(const std::size_t granted) : granted(granted)
  {}

  virtual MemoryInfo memory_raw() const = 0;
  virtual void *allocate_on_host_raw(std::size_t bytes) const = 0;
  virtual void deallocate_on_host_raw(void *pointer) const noexcept = 0;
  virtual void *allocate_raw(std::size_t bytes) const = 0;
  virtual void deallocate_raw(void *pointer) const noexcept = 0;
  virtual void copy_to_host_raw(void *to, const void *from, std::size_t bytes) const = 0;

private:
  std::size_t granted;
  mutable std::size_t moved_to_host = 0;
  mutable std::size_t used = 0;
  mutable std::size_t peak = 0;
};

using ExecutorPtr = std::shared_ptr<const Executor>;
} // namespace femgpu::linalg

#endif
