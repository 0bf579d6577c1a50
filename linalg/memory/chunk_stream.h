#ifndef femgpu_linalg_memory_chunk_stream_h
#define femgpu_linalg_memory_chunk_stream_h

#include <cstddef>
#include <vector>

namespace femgpu::linalg
{
/**
 * Chunks of bytes in host memory that pass, one after the other, through a ring of slots in the
 * memory of an executor, for what is larger than that memory.
 *
 * Use: fill host(c) of all chunks once; then, as often as wanted, fetch(c), run steps that read the
 * chunk, release(). Cost: all chunks in host memory, which is pinned for a CUDA device, n_slots of
 * the largest chunk in the executor's; a chunk that is not in a slot is copied while steps of the
 * chunks before it run. Where all chunks have slots of their own, each is copied once. The host's
 * cores read the chunks where they are. Fails: with DeviceError if there is not enough of either
 * memory.
 */
class ChunkStream
{
public:
  virtual ~ChunkStream() = default;

  /// Where chunk @p c is filled, before the first fetch().
  virtual char *host(int c) = 0;

  /// Queues the copy of chunk @p c if it is needed. @return where steps find it that are queued
  /// from now on. Does not wait.
  virtual const char *fetch(int c) = 0;

  /// The steps queued so far are the last that read the chunk fetched last.
  virtual void release() = 0;

  /// Bytes of the slots in the memory of the executor.
  virtual std::size_t slot_bytes() const = 0;

protected:
  /// Where each chunk begins, and the end of the last: multiples of a line of the memory.
  static std::vector<std::size_t> offsets_of(const std::vector<std::size_t> &chunk_bytes);
};
} // namespace femgpu::linalg

#endif
