#ifndef femgpu_linalg_execution_cuda_kept_graphs_h
#define femgpu_linalg_execution_cuda_kept_graphs_h

#include "linalg/execution/cuda/graph.h"

#include <typeindex>
#include <unordered_map>

namespace femgpu::linalg::cuda
{
/**
 * Executable graphs of one device, the last of each kind of loop. To capture a loop costs little
 * and says all that there is to know of it; what costs is to make it executable. So each loop is
 * captured, and the last executable of its kind takes over what is new, addresses and numbers,
 * where both have the same nodes; nobody has to say, or to find out, what has changed. What is kept
 * refers to memory that may be gone, and is not run again without that.
 */
class KeptGraphs
{
public:
  /// An executable of @p graph, which stays until the next call for this kind.
  /// @param kind the type of the loop
  cudaGraphExec_t executable(std::type_index kind, Graph graph);

  /// How often an executable was made, and not taken over.
  int n_made() const
  {
    return made;
  }

private:
  std::unordered_map<std::type_index, Graph> graphs;
  int made = 0;
};
} // namespace femgpu::linalg::cuda

#endif
