#include "linalg/memory/chunk_stream.h"

#include "linalg/base/error.h"
#include "linalg/execution/cuda/executor.h"
#include "linalg/memory/buffer.h"

#include <algorithm>
#include <string>

namespace femgpu::linalg
{
namespace
{
/// Pinned host memory.
class PinnedMemory
{
public:
  explicit PinnedMemory(const std::size_t bytes)
  {
    const cudaError_t error = cudaMallocHost(&pointer, std::max<std::size_t>(bytes, 1));
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError(); // so that a later call does not report it
      throw DeviceError("The host cannot pin " + std::to_string(bytes >> 20) +
                        " MiB for streaming the matrix to the device. Free host memory, or keep "
                        "the matrix on the device.");
    }
    FEMGPU_CUDA(error);
  }
  ~PinnedMemory()
  {
    cudaFreeHost(pointer);
  }
  PinnedMemory(const PinnedMemory &) = delete;
  PinnedMemory &operator=(const PinnedMemory &) = delete;

  char *data() const
  {
    return static_cast<char *>(pointer);
  }

private:
  void *pointer = nullptr;
};

/// Copies chunks on a separate stream. Events order the copies with the steps: a copy waits until
/// the steps that read its slot are done, and the steps wait for the copy.
class CudaChunkStream final : public ChunkStream
{
public:
  CudaChunkStream(const CudaExecutor &executor, const std::vector<std::size_t> &chunk_bytes,
                  const int n_slots)
      : executor(executor), bytes(chunk_bytes), offsets(offsets_of(chunk_bytes)),
        memory(offsets.back()), slots(static_cast<std::size_t>(n_slots))
  {
    std::size_t largest = 0;
    for (std::size_t c = 0; c < bytes.size(); ++c)
      largest = std::max(largest, offsets[c + 1] - offsets[c]);
    slot_size = largest;
    slot_memory = Buffer<char>(executor.shared_from_this(), largest * slots.size());
    executor.synchronize(); // the memory must be valid on the other stream, too
    FEMGPU_CUDA(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    for (Slot &slot : slots) {
      FEMGPU_CUDA(cudaEventCreateWithFlags(&slot.copy_done, cudaEventDisableTiming));
      FEMGPU_CUDA(cudaEventCreateWithFlags(&slot.reads_done, cudaEventDisableTiming));
    }
  }

  ~CudaChunkStream() override
  {
    cudaStreamSynchronize(executor.stream());
    cudaStreamSynchronize(copies);
    for (const Slot &slot : slots) {
      cudaEventDestroy(slot.copy_done);
      cudaEventDestroy(slot.reads_done);
    }
    cudaStreamDestroy(copies);
  }
  CudaChunkStream(const CudaChunkStream &) = delete;
  CudaChunkStream &operator=(const CudaChunkStream &) = delete;

  char *host(const int c) override
  {
    return memory.data() + offsets[c];
  }

  const char *fetch(const int c) override
  {
    current = 0;
    while (current < slots.size() && slots[current].chunk != c)
      ++current;
    if (current < slots.size())
      return target();
    current = next; // round robin: this slot has been unused for longest
    next = (next + 1) % slots.size();
    Slot &slot = slots[current];
    slot.chunk = -1; // in case the copy fails
    FEMGPU_CUDA(cudaStreamWaitEvent(copies, slot.reads_done, 0));
    FEMGPU_CUDA(cudaMemcpyAsync(target(), host(c), bytes[c], cudaMemcpyHostToDevice, copies));
    FEMGPU_CUDA(cudaEventRecord(slot.copy_done, copies));
    FEMGPU_CUDA(cudaStreamWaitEvent(executor.stream(), slot.copy_done, 0));
    slot.chunk = c;
    return target();
  }

  void release() override
  {
    FEMGPU_CUDA(cudaEventRecord(slots[current].reads_done, executor.stream()));
  }

  std::size_t slot_bytes() const override
  {
    return slot_memory.bytes();
  }

private:
  struct Slot
  {
    cudaEvent_t copy_done = nullptr, reads_done = nullptr;
    int chunk = -1; ///< the chunk in this slot, or being copied to it; -1: none
  };

  char *target()
  {
    return slot_memory.data() + slot_size * current;
  }

  const CudaExecutor &executor;
  std::vector<std::size_t> bytes, offsets;
  PinnedMemory memory;
  std::vector<Slot> slots;
  std::size_t slot_size = 0;
  Buffer<char> slot_memory; // also keeps the executor alive
  cudaStream_t copies = nullptr;
  std::size_t current = 0, next = 0; // slot of the chunk fetched last, and slot to fill next
};
} // namespace

std::unique_ptr<ChunkStream>
CudaExecutor::make_chunk_stream(const std::vector<std::size_t> &chunk_bytes,
                                const int n_slots) const
{
  make_current();
  return std::make_unique<CudaChunkStream>(*this, chunk_bytes, n_slots);
}
} // namespace femgpu::linalg
