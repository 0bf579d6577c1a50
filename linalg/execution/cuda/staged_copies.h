#ifndef femgpu_linalg_execution_cuda_staged_copies_h
#define femgpu_linalg_execution_cuda_staged_copies_h

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

namespace femgpu::linalg
{
/**
 * Copies between pageable host memory and a device through a few pinned chunks: threads copy one
 * chunk while earlier chunks are being transferred.
 *
 * Use: for large copies, for which the driver uses one thread. (Pinning the caller's memory instead
 * would cost as much time as one copy saves.) Needs: n_chunks chunks of pinned memory, allocated at
 * the first copy and reused. Cost: as in the driver's copy, each byte is copied once more in host
 * memory, but by as many threads as the caller's loops use, up to max_threads. Fails: if no memory
 * can be pinned, should_stage() returns false.
 */
class CudaStagedCopies
{
public:
  static constexpr std::size_t default_chunk_bytes = std::size_t(4) << 20;
  static constexpr std::size_t min_bytes = std::size_t(1) << 18; ///< smaller copies are not worth
                                                                 ///< staging
  /// An estimate of how many threads saturate the bus: one thread copies some 8 GB/s, and PCIe 5.0
  /// transfers some 55 GB/s.
  static constexpr int max_threads = 8;

  explicit CudaStagedCopies(cudaStream_t stream, std::size_t chunk_bytes = default_chunk_bytes,
                            std::size_t n_chunks = 4);
  /// @pre the stream has finished all copies
  ~CudaStagedCopies();
  CudaStagedCopies(const CudaStagedCopies &) = delete;
  CudaStagedCopies &operator=(const CudaStagedCopies &) = delete;

  /// Returns whether to make a copy of size @p bytes through chunks: false if the copy is smaller
  /// than min_bytes, or if no memory could be pinned.
  bool should_stage(std::size_t bytes);

  /// Copies from host to device in stream order and waits until the copy is done.
  /// @throws DeviceError if the copy fails
  void copy_from_host(void *to, const void *from, std::size_t bytes);
  /// Copies from device to host in stream order and waits until the copy is done.
  /// @throws DeviceError if the copy fails
  void copy_to_host(void *to, const void *from, std::size_t bytes);

private:
  struct Chunk
  {
    char *memory;
    cudaEvent_t done; ///< recorded after the last copy from or to the chunk
  };

  void allocate();
  std::size_t piece_bytes(std::size_t bytes) const;

  cudaStream_t stream;
  std::size_t chunk_bytes, n_chunks;
  bool was_allocated = false;
  void *pinned = nullptr;
  std::vector<Chunk> chunks; ///< empty if no memory could be pinned
};
} // namespace femgpu::linalg

#endif
