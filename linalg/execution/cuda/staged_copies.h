#ifndef femgpu_linalg_execution_cuda_staged_copies_h
#define femgpu_linalg_execution_cuda_staged_copies_h

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

namespace femgpu::linalg
{
/**
 * Copies between ordinary host memory and a device through a few pinned chunks: threads copy one
 * chunk while those before it are on their way.
 *
 * Use: for large copies, for which the driver has one thread; pinning the memory itself costs as
 * much as one copy saves. Needs: n_chunks chunks of pinned memory, allocated at the first copy and
 * kept. Cost: what the driver does too, each byte is copied once more in host memory, by as many
 * threads as the caller's loops have, at most most_threads. Fails: never for want of pinned memory,
 * but then takes() nothing.
 */
class CudaStagedCopies
{
public:
  static constexpr std::size_t default_chunk_bytes = std::size_t(4) << 20;
  static constexpr std::size_t least_bytes = std::size_t(1) << 18; ///< that are worth two copies
  /// By estimate: a thread copies some 8 GB/s, and a bus of the fifth generation some 55 GB/s.
  static constexpr int most_threads = 8;

  explicit CudaStagedCopies(cudaStream_t stream, std::size_t chunk_bytes = default_chunk_bytes,
                            std::size_t n_chunks = 4);
  /// The stream must have done all copies.
  ~CudaStagedCopies();
  CudaStagedCopies(const CudaStagedCopies &) = delete;
  CudaStagedCopies &operator=(const CudaStagedCopies &) = delete;

  /// Whether to copy @p bytes by this: not if they are few, or if no memory could be pinned.
  bool takes(std::size_t bytes);

  /// In order with the stream; both wait until the copy is done. @throws DeviceError if it fails.
  void copy_from_host(void *to, const void *from, std::size_t bytes);
  void copy_to_host(void *to, const void *from, std::size_t bytes);

private:
  struct Chunk
  {
    char *memory;
    cudaEvent_t done; ///< the last copy from or to it
  };

  void allocate();
  std::size_t piece_bytes(std::size_t bytes) const;

  cudaStream_t stream;
  std::size_t chunk_bytes, n_chunks;
  bool was_allocated = false;
  void *pinned = nullptr;
  std::vector<Chunk> chunks; ///< none if no memory could be pinned
};
} // namespace femgpu::linalg

#endif
