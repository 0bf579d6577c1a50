#include "linalg/execution/cuda/staged_copies.h"

#include "linalg/base/parallel.h"
#include "linalg/execution/cuda/executor.h"

#include <algorithm>
#include <cstring>

namespace femgpu::linalg
{
namespace
{
constexpr std::size_t page = 4096;

std::size_t ceil_div(const std::size_t a, const std::size_t b)
{
  return (a + b - 1) / b;
}

void parallel_copy(char *const to, const char *const from, const std::size_t bytes)
{
  constexpr std::size_t min_bytes_per_thread = std::size_t(1) << 17;
  const int thread_limit = std::min(n_loop_threads(), CudaStagedCopies::max_threads);
  const int threads = std::clamp(static_cast<int>(bytes / min_bytes_per_thread), 1, thread_limit);
  const std::size_t bytes_per_thread =
      ceil_div(ceil_div(bytes, static_cast<std::size_t>(threads)), page) * page;
  on_threads(threads, [&](const int t) {
    const std::size_t begin = std::min(bytes, bytes_per_thread * static_cast<std::size_t>(t));
    std::memcpy(to + begin, from + begin, std::min(bytes_per_thread, bytes - begin));
  });
}
} // namespace

CudaStagedCopies::CudaStagedCopies(cudaStream_t stream, const std::size_t chunk_bytes,
                                   const std::size_t n_chunks)
    : stream(stream), chunk_bytes(chunk_bytes), n_chunks(n_chunks)
{}

CudaStagedCopies::~CudaStagedCopies()
{
  for (const Chunk &chunk : chunks)
    cudaEventDestroy(chunk.done);
  cudaFreeHost(pinned);
}

void CudaStagedCopies::allocate()
{
  was_allocated = true;
  if (cudaMallocHost(&pinned, n_chunks * chunk_bytes) != cudaSuccess) {
    cudaGetLastError(); // so that a later call does not report it
    pinned = nullptr;
    return;
  }
  for (std::size_t k = 0; k < n_chunks; ++k) {
    chunks.push_back({static_cast<char *>(pinned) + k * chunk_bytes, nullptr});
    FEMGPU_CUDA(cudaEventCreateWithFlags(&chunks.back().done, cudaEventDisableTiming));
  }
}

bool CudaStagedCopies::should_stage(const std::size_t bytes)
{
  if (bytes < min_bytes)
    return false;
  if (!was_allocated)
    allocate();
  return !chunks.empty();
}

/// Returns the size of the pieces into which a copy of size @p bytes is split. Short copies are
/// split, too, so that the threads copy one piece while another one is transferred.
std::size_t CudaStagedCopies::piece_bytes(const std::size_t bytes) const
{
  const std::size_t quarter = ceil_div(ceil_div(bytes, 4), page) * page;
  return std::min(chunk_bytes, std::max(quarter, min_bytes / 2));
}

void CudaStagedCopies::copy_from_host(void *const to, const void *const from,
                                      const std::size_t bytes)
{
  const std::size_t piece = piece_bytes(bytes);
  for (std::size_t k = 0; k * piece < bytes; ++k) {
    const Chunk &chunk = chunks[k % chunks.size()];
    const std::size_t begin = k * piece, size = std::min(piece, bytes - begin);
    FEMGPU_CUDA(cudaEventSynchronize(chunk.done));
    parallel_copy(chunk.memory, static_cast<const char *>(from) + begin, size);
    FEMGPU_CUDA(cudaMemcpyAsync(static_cast<char *>(to) + begin, chunk.memory, size,
                                cudaMemcpyDefault, stream));
    FEMGPU_CUDA(cudaEventRecord(chunk.done, stream));
  }
  FEMGPU_CUDA(cudaStreamSynchronize(stream));
}

void CudaStagedCopies::copy_to_host(void *const to, const void *const from, const std::size_t bytes)
{
  const std::size_t piece = piece_bytes(bytes), n_pieces = ceil_div(bytes, piece);
  const auto start = [&](const std::size_t k) {
    const Chunk &chunk = chunks[k % chunks.size()];
    const std::size_t begin = k * piece;
    FEMGPU_CUDA(cudaMemcpyAsync(chunk.memory, static_cast<const char *>(from) + begin,
                                std::min(piece, bytes - begin), cudaMemcpyDefault, stream));
    FEMGPU_CUDA(cudaEventRecord(chunk.done, stream));
  };
  for (std::size_t k = 0; k < std::min(n_pieces, chunks.size()); ++k)
    start(k);
  for (std::size_t k = 0; k < n_pieces; ++k) {
    const Chunk &chunk = chunks[k % chunks.size()];
    const std::size_t begin = k * piece;
    FEMGPU_CUDA(cudaEventSynchronize(chunk.done));
    parallel_copy(static_cast<char *>(to) + begin, chunk.memory, std::min(piece, bytes - begin));
    if (k + chunks.size() < n_pieces)
      start(k + chunks.size());
  }
}
} // namespace femgpu::linalg
