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
constexpr std::size_t smallest_chunk = std::size_t{4} << 20;

std::string text_of(const cudaError_t error)
{
  cudaGetLastError(); // so that a later call does not report it
  return std::string(cudaGetErrorName(error)) + " (" + cudaGetErrorString(error) + ")";
}
} // namespace

/// A rank's description of the memory that it has allocated, for the other ranks.
struct PeerMemory::Offer
{
  std::size_t chunk = 0, begin = 0;
  cudaIpcMemHandle_t handle{}; ///< of the chunk
  bool is_new = false;         ///< whether this call allocated the chunk
  char failure[256] = "";      ///< why the rank has no memory

  void set_failure(const std::string &text)
  {
    text.copy(failure, sizeof(failure) - 1);
  }
};

void PeerMemory::Region::GiveBack::operator()(char *const region) const
{
  memory->give_back(region);
}

PeerMemory::PeerMemory(std::shared_ptr<const CudaExecutor> executor, const Communicator &parts)
    : executor(std::move(executor)), parts(parts), opened(static_cast<std::size_t>(parts.n_parts()))
{}

PeerMemory::~PeerMemory()
{
  executor->use_in_this_thread();
  cudaStreamSynchronize(executor->stream());
  for (const std::vector<char *> &of_part : opened)
    for (char *const chunk : of_part)
      cudaIpcCloseMemHandle(chunk);
  for (const Chunk &chunk : chunks)
    cudaFree(chunk.data);
}

/// Finds memory in a chunk; allocates a new chunk if necessary.
PeerMemory::Offer PeerMemory::take(const std::size_t bytes)
{
  Offer offer;
  for (; offer.chunk < chunks.size(); ++offer.chunk) {
    auto &free = chunks[offer.chunk].free;
    const auto found = std::find_if(free.begin(), free.end(),
                                    [&](const auto &piece) { return piece.second >= bytes; });
    if (found == free.end())
      continue;
    offer.begin = found->first;
    if (found->second > bytes)
      free[found->first + bytes] = found->second - bytes;
    free.erase(found);
    break;
  }
  if (offer.chunk == chunks.size()) {
    const std::size_t size = std::max(bytes, smallest_chunk);
    void *data = nullptr;
    cudaError_t error = cudaMalloc(&data, size);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      executor->give_back_unused();
      error = cudaMalloc(&data, size);
    }
    if (error != cudaSuccess) {
      offer.set_failure("cannot allocate " + std::to_string(size) +
                        " bytes of peer memory: " + text_of(error));
      return offer;
    }
    offer.is_new = true;
    chunks.push_back({static_cast<char *>(data), {}});
    if (size > bytes)
      chunks.back().free[bytes] = size - bytes;
  }
  char *const chunk = chunks[offer.chunk].data;
  taken[chunk + offer.begin] = {offer.chunk, offer.begin, bytes};
  if (const cudaError_t error = cudaIpcGetMemHandle(&offer.handle, chunk); error != cudaSuccess)
    offer.set_failure("cannot share its memory with other ranks: " + text_of(error));
  return offer;
}

void PeerMemory::give_back(char *const region)
{
  const auto found = taken.find(region);
  auto [chunk, begin, bytes] = found->second;
  taken.erase(found);
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

/// @throws DeviceError if one of the ranks has failed
void PeerMemory::throw_first(const std::vector<Offer> &offers)
{
  for (std::size_t part = 0; part < offers.size(); ++part)
    if (offers[part].failure[0] != '\0')
      throw DeviceError("Subdomain " + std::to_string(part) + " " + offers[part].failure +
                        ". Set Solver/Communicator = mpi, which needs no peer memory.");
}

/// Opens new chunks of the other ranks. @return why that failed, or ""
std::string PeerMemory::open(const std::vector<Offer> &offers)
{
  for (std::size_t part = 0; part < offers.size(); ++part) {
    const Offer &offer = offers[part];
    if (static_cast<int>(part) == parts.part() || offer.chunk < opened[part].size())
      continue;
    void *chunk = nullptr;
    const cudaError_t error =
        cudaIpcOpenMemHandle(&chunk, offer.handle, cudaIpcMemLazyEnablePeerAccess);
    if (error != cudaSuccess)
      return "cannot access the memory of subdomain " + std::to_string(part) + ": " +
             text_of(error);
    opened[part].push_back(static_cast<char *>(chunk));
  }
  return "";
}

PeerMemory::Region PeerMemory::allocate(const std::size_t bytes)
{
  executor->use_in_this_thread();
  const std::size_t rounded =
      (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  Offer mine = take(rounded);
  Region region(this);
  if (mine.failure[0] == '\0') {
    region.data.reset(chunks[mine.chunk].data + mine.begin);
    executor->fill_zero(region.own(), rounded);
    executor->synchronize();
  }
  std::vector<Offer> offers(opened.size());
  parts.gather(&mine, sizeof(Offer), offers.data());
  throw_first(offers);
  const bool are_new =
      std::any_of(offers.begin(), offers.end(), [](const Offer &offer) { return offer.is_new; });
  if (are_new) {
    mine.set_failure(open(offers));
    std::vector<Offer> answers(opened.size());
    parts.gather(&mine, sizeof(Offer), answers.data());
    throw_first(answers);
  }
  for (std::size_t part = 0; part < offers.size(); ++part)
    region.of_parts.push_back((static_cast<int>(part) == parts.part()
                                   ? chunks[mine.chunk].data
                                   : opened[part][offers[part].chunk]) +
                              offers[part].begin);
  return region;
}
} // namespace femgpu::linalg::cuda
