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
 * Memory on the devices of parts that the kernels of all of them reach. The parts are processes of
 * one host, each with a device; what one of them takes is opened by the others through CUDA IPC.
 */
class PeerMemory
{
public:
  /// Memory of this part, and where the others have theirs.
  class Region
  {
  public:
    /// On the device of a part; own memory is that of this part.
    char *of_part(const int part) const
    {
      return of_parts[static_cast<std::size_t>(part)];
    }
    char *own() const
    {
      return data.get();
    }

  private:
    friend PeerMemory;
    struct GiveBack
    {
      PeerMemory *memory;
      void operator()(char *region) const;
    };

    explicit Region(PeerMemory *memory) : data(nullptr, GiveBack{memory})
    {}

    std::unique_ptr<char, GiveBack> data;
    std::vector<char *> of_parts;
  };

  /// @param parts outlives it
  PeerMemory(std::shared_ptr<const CudaExecutor> executor, const Communicator &parts);
  ~PeerMemory();
  PeerMemory(const PeerMemory &) = delete;
  PeerMemory &operator=(const PeerMemory &) = delete;

  /// Is called by all parts, each of which says how much it wants. Memory is zero, of all parts,
  /// when the call returns; it must not outlive this. @throws DeviceError, in all parts, if one of
  /// them has no memory, or cannot reach that of another one
  Region allocate(std::size_t bytes);

private:
  struct Chunk
  {
    char *data;
    std::map<std::size_t, std::size_t> free; ///< bytes by where they begin
  };
  struct Piece
  {
    std::size_t chunk, begin, bytes;
  };
  struct Offer;

  Offer take(std::size_t bytes);
  void give_back(char *region);
  std::string open(const std::vector<Offer> &offers);
  static void throw_first(const std::vector<Offer> &offers);

  std::shared_ptr<const CudaExecutor> executor;
  const Communicator &parts;
  std::vector<Chunk> chunks;
  std::map<char *, Piece> taken;           ///< own regions
  std::vector<std::vector<char *>> opened; ///< chunks of each other part
};
} // namespace femgpu::linalg::cuda

#endif
