#ifndef femgpu_linalg_memory_chunk_stream_h
#define femgpu_linalg_memory_chunk_stream_h

#include <cstddef>
#include <vector>

namespace femgpu::linalg
{
/**
 * Streams chunks of bytes from host memory through a ring of slots in the memory of an executor,
 * for data that are larger than the executor's memory.
 *
 * Use: fill host(c) of all chunks once; then repeat: fetch(c), run steps (kernels, steps/steps.h)
 * that read the chunk, release(). Cost: host memory for all chunks, pinned for a CUDA device, and
 * n_slots times the size of the largest chunk in the executor's memory. A chunk that is not in a
 * slot is copied while steps that read the preceding chunks run. If every chunk has a slot, each is
 * copied only once. The host backend reads the chunks in place.
 */
class ChunkStream
{
public:
  virtual ~ChunkStream() = default;

  /// Returns the host memory of chunk @p c, to be filled before the first fetch().
  virtual char *host(int c) = 0;

  /// Queues the copy of chunk @p c if necessary, without waiting.
  /// @return the chunk's address, for steps that are queued before release()
  virtual const char *fetch(int c) = 0;

  /// Declares that no step queued from now on reads the chunk that was fetched last.
  virtual void release() = 0;

  /// Returns the total size in bytes of the slots in the executor's memory.
  virtual std::size_t slot_bytes() const = 0;

protected:
  /// Returns the offset of each chunk, then the end of the last one, all rounded up to multiples of
  /// 256 bytes.
  static std::vector<std::size_t> offsets_of(const std::vector<std::size_t> &chunk_bytes);
};
} // namespace femgpu::linalg

#endif
