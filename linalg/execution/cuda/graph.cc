#include "linalg/execution/cuda/graph.h"

#include <utility>

namespace femgpu::linalg::cuda
{
cudaGraphExec_t GraphCache::executable(const std::type_index kind, Graph graph)
{
  Graph &cached = graphs[kind];
  cudaGraphExecUpdateResultInfo update_info{};
  if (cached.executable != nullptr &&
      cudaGraphExecUpdate(cached.executable, graph.graph, &update_info) == cudaSuccess)
    std::swap(cached.executable, graph.executable);
  else {
    cudaGetLastError(); // no executable is cached, or its nodes differ
    FEMGPU_CUDA(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
    ++created;
  }
  cached = std::move(graph);
  return cached.executable;
}
} // namespace femgpu::linalg::cuda
