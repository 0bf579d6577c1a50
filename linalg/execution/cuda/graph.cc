#include "linalg/execution/cuda/graph.h"

#include <utility>

namespace femgpu::linalg::cuda
{
cudaGraphExec_t KeptGraphs::executable(const std::type_index kind, Graph graph)
{
  Graph &kept = graphs[kind];
  cudaGraphExecUpdateResultInfo what_differs{};
  if (kept.executable != nullptr &&
      cudaGraphExecUpdate(kept.executable, graph.graph, &what_differs) == cudaSuccess)
    std::swap(kept.executable, graph.executable);
  else {
    cudaGetLastError(); // there was none, or its nodes differ
    FEMGPU_CUDA(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
    ++made;
  }
  kept = std::move(graph);
  return kept.executable;
}
} // namespace femgpu::linalg::cuda
