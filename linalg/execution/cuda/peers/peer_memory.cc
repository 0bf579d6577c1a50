#include "linalg/execution/cuda/peers/peer_memory.h"

#include "linalg/base/error.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace femgpu::linalg::cuda
{
namespace
{
constexpr std::size_t alignment = 256;
constexpr std::size_t smallest_chunk = std::size_t{16} << 20;

std::string text_of(const cudaError_t error)
{
  cudaGetLastError(); // so that a later call does not report it
  return std::string(cudaGetErrorName(error)) + " (" + cudaGetErrorString(error) + ")";
}
} // namespace

/// A rank's description of the memory that it has allocated, for the other ranks.
struct PeerMemory::AllocationInfo
{
  std::size_t chunk = 0, begin = 0;
  cudaIpcMemHandle_t handle{}; ///< handle of the chunk
  bool is_new = false;         ///< whether this call allocated the chunk
  char failure[256] = "";      ///< why the rank has failed; empty: it has not

  void set_failure(const std::string &text)
  {
    text.copy(failure, sizeof(failure) - 1);
  }
};

void PeerMemory::Region::Deallocate::operator()(char *const region) const
{
  memory->deallocate(region);
}

PeerMemory::PeerMemory(std::shared_ptr<const CudaExecutor> executor, const Communicator &comm)
    : executor(std::move(executor)), comm(comm), opened(static_cast<std::size_t>(comm.n_ranks()))
{}

PeerMemory::~PeerMemory()
{
  executor->make_current();
  cudaStreamSynchronize(executor->stream());
  for (const std::vector<char *> &of_rank : opened)
    for (char *const chunk : of_rank)
      cudaIpcCloseMemHandle(chunk);
  for (const Chunk &chunk : chunks)
    cudaFree(chunk.data);
}

/// Finds free memory of size @p bytes in a chunk, and allocates a new chunk if necessary.
PeerMemory::AllocationInfo PeerMemory::suballocate(const std::size_t bytes)
{
  AllocationInfo info;
  for (; info.chunk < chunks.size(); ++info.chunk) {
    auto &free = chunks[info.chunk].free;
    const auto found = std::find_if(free.begin(), free.end(),
                                    [&](const auto &piece) { return piece.second >= bytes; });
    if (found == free.end())
      continue;
    info.begin = found->first;
    if (found->second > bytes)
      free[found->first + bytes] = found->second - bytes;
    free.erase(found);
    break;
  }
  if (info.chunk == chunks.size()) {
    // If possible as large as all other chunks together, because it takes milliseconds until all
    // ranks have opened a new chunk.
    std::size_t size = std::max({bytes, smallest_chunk, chunk_bytes});
    void *data = nullptr;
    cudaError_t error = cudaMalloc(&data, size);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      executor->trim_pool();
      size = bytes;
      error = cudaMalloc(&data, size);
    }
    if (error != cudaSuccess) {
      info.set_failure("cannot allocate " + std::to_string(size) +
                       " bytes of peer memory: " + text_of(error));
      return info;
    }
    info.is_new = true;
    chunk_bytes += size;
    chunks.push_back({static_cast<char *>(data), {}});
    if (size > bytes)
      chunks.back().free[bytes] = size - bytes;
  }
  char *const chunk = chunks[info.chunk].data;
  allocated[chunk + info.begin] = {info.chunk, info.begin, bytes};
  if (const cudaError_t error = cudaIpcGetMemHandle(&info.handle, chunk); error != cudaSuccess)
    info.set_failure("cannot share its memory with other ranks: " + text_of(error));
  return info;
}

void PeerMemory::deallocate(char *const region)
{
  const auto found = allocated.find(region);
  auto [chunk, begin, bytes] = found->second;
  allocated.erase(found);
  auto &free = chunks[chunk].free;
  const auto next = free.find(begin + bytes);
  if (next != free.end()) {
    bytes += next->second;
    free.erase(next);
  }
  const auto after = free.lower_bound(begin);
  if (after != free.begin())
    if (const auto before = std::prev(after); before->first + before->second == begin) {
      before->second += bytes;
      return;
    }
  free[begin] = bytes;
}

/// Throws DeviceError with the failure of the lowest rank that has failed, if any rank has.
void PeerMemory::throw_first_failure(const std::vector<AllocationInfo> &infos)
{
  for (std::size_t rank = 0; rank < infos.size(); ++rank)
    if (infos[rank].failure[0] != '\0')
      throw DeviceError("Subdomain " + std::to_string(rank) + " " + infos[rank].failure +
                        ". Use communicator mpi, which needs no peer memory.");
}

/// Opens the new chunks of the other ranks. @return why this failed; an empty string on success
std::string PeerMemory::open(const std::vector<AllocationInfo> &infos)
{
  for (std::size_t rank = 0; rank < infos.size(); ++rank) {
    const AllocationInfo &info = infos[rank];
    if (static_cast<int>(rank) == comm.rank() || info.chunk < opened[rank].size())
      continue;
    void *chunk = nullptr;
    const cudaError_t error =
        cudaIpcOpenMemHandle(&chunk, info.handle, cudaIpcMemLazyEnablePeerAccess);
    if (error != cudaSuccess)
      return "cannot access the memory of subdomain " + std::to_string(rank) + ": " +
             text_of(error);
    opened[rank].push_back(static_cast<char *>(chunk));
  }
  return "";
}

PeerMemory::Region PeerMemory::allocate(const std::size_t bytes)
{
  executor->make_current();
  const std::size_t rounded =
      (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  AllocationInfo mine = suballocate(rounded);
  Region region(this);
  if (mine.failure[0] == '\0') {
    region.data.reset(chunks[mine.chunk].data + mine.begin);
    executor->fill_zero(region.own(), rounded);
    executor->synchronize();
  }
  std::vector<AllocationInfo> infos(opened.size());
  comm.gather(&mine, sizeof(AllocationInfo), infos.data());
  throw_first_failure(infos);
  const bool are_new = std::any_of(infos.begin(), infos.end(),
                                   [](const AllocationInfo &info) { return info.is_new; });
  if (are_new) {
    mine.set_failure(open(infos));
    std::vector<AllocationInfo> answers(opened.size());
    comm.gather(&mine, sizeof(AllocationInfo), answers.data());
    throw_first_failure(answers);
  }
  for (std::size_t rank = 0; rank < infos.size(); ++rank)
    region.of_ranks.push_back((static_cast<int>(rank) == comm.rank()
                                   ? chunks[mine.chunk].data
                                   : opened[rank][infos[rank].chunk]) +
                              infos[rank].begin);
  return region;
}
} // namespace femgpu::linalg::cuda
