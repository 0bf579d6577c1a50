#ifndef femgpu_linalg_execution_cuda_peers_peer_memory_h
#define femgpu_linalg_execution_cuda_peers_peer_memory_h

#include "linalg/execution/cuda/executor.h"
#include "linalg/operators/communicator.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg::cuda
{
/**
 * Device memory of all ranks that the kernels of all ranks can access. The ranks are processes on
 * one host, each with a device. The other ranks open a rank's memory through CUDA IPC.
 */
class PeerMemory
{
public:
  /// A part of this rank's memory, and the addresses of the corresponding parts of the other ranks.
  class Region
  {
  public:
    /// Returns the address of the part on the device of @p rank.
    char *of_rank(const int rank) const
    {
      return of_ranks[static_cast<std::size_t>(rank)];
    }
    char *own() const
    {
      return data.get();
    }

  private:
    friend PeerMemory;
    struct Deallocate
    {
      PeerMemory *memory;
      void operator()(char *region) const;
    };

    explicit Region(PeerMemory *memory) : data(nullptr, Deallocate{memory})
    {}

    std::unique_ptr<char, Deallocate> data;
    std::vector<char *> of_ranks;
  };

  /// @param comm must outlive this object
  PeerMemory(std::shared_ptr<const CudaExecutor> executor, const Communicator &comm);
  ~PeerMemory();
  PeerMemory(const PeerMemory &) = delete;
  PeerMemory &operator=(const PeerMemory &) = delete;

  /// Allocates zeroed memory on each rank; the sizes may differ. Collective. The memory is zero on
  /// all ranks when the call returns, and must not outlive this object.
  /// @throws DeviceError, on all ranks, if a rank is out of memory or cannot access the memory of
  /// another one
  Region allocate(std::size_t bytes);

private:
  struct Chunk
  {
    char *data;
    std::map<std::size_t, std::size_t> free; ///< size of each free piece, by offset
  };
  struct Piece
  {
    std::size_t chunk, begin, bytes;
  };
  struct AllocationInfo;

  AllocationInfo suballocate(std::size_t bytes);
  void deallocate(char *region);
  std::string open(const std::vector<AllocationInfo> &infos);
  static void throw_first_failure(const std::vector<AllocationInfo> &infos);

  std::shared_ptr<const CudaExecutor> executor;
  const Communicator &comm;
  std::vector<Chunk> chunks;
  std::size_t chunk_bytes = 0;             ///< size of all chunks
  std::map<char *, Piece> allocated;       ///< regions of this rank
  std::vector<std::vector<char *>> opened; ///< addresses of the chunks of each other rank
};
} // namespace femgpu::linalg::cuda

#endif
