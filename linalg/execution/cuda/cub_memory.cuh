#ifndef femgpu_linalg_execution_cuda_cub_memory_cuh
#define femgpu_linalg_execution_cuda_cub_memory_cuh

#include "linalg/execution/cuda/executor.h"
#include "linalg/execution/memory/buffer.h"

#include <algorithm>

namespace femgpu::linalg::cuda
{
/// Calls @p f(memory, size, stream) twice, as CUB wants: for the size of its memory, and with it.
template <class Function>
void with_cub_memory(const ExecutorPtr &executor, const Function &f)
{
  executor->use_in_this_thread(); // CUB launches on the current device
  const cudaStream_t stream = static_cast<const CudaExecutor &>(*executor).stream();
  std::size_t size = 0;
  FEMGPU_CUDA(f(nullptr, size, stream));
  Buffer<char> memory(executor, std::max<std::size_t>(size, 1));
  FEMGPU_CUDA(f(memory.data(), size, stream));
}
} // namespace femgpu::linalg::cuda

#endif
