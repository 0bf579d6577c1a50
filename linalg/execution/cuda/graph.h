#ifndef femgpu_linalg_execution_cuda_graph_h
#define femgpu_linalg_execution_cuda_graph_h

#include "linalg/execution/cuda/check.h"

#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

/**
 * @file
 * CUDA graphs with loops. A loop is a WHILE node, which can also be added during a stream capture.
 */
namespace femgpu::linalg::cuda
{
/// Owns a graph and its executable, if any.
struct Graph
{
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;

  static Graph make_empty()
  {
    Graph created;
    FEMGPU_CUDA(cudaGraphCreate(&created.graph, 0));
    return created;
  }
  Graph() = default;
  ~Graph()
  {
    if (executable != nullptr)
      cudaGraphExecDestroy(executable);
    if (graph != nullptr)
      cudaGraphDestroy(graph);
  }
  Graph(Graph &&other) noexcept
  {
    swap(other);
  }
  Graph &operator=(Graph &&other) noexcept
  {
    swap(other);
    return *this;
  }
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

private:
  void swap(Graph &other) noexcept
  {
    std::swap(graph, other.graph);
    std::swap(executable, other.executable);
  }
};

/// Creates a handle for a WHILE node of @p graph.
/// @param start 1 if the loop runs when the graph is launched, otherwise 0
inline cudaGraphConditionalHandle make_handle(const cudaGraph_t graph, const unsigned int start)
{
  cudaGraphConditionalHandle handle;
  FEMGPU_CUDA(cudaGraphConditionalHandleCreate(&handle, graph, start, cudaGraphCondAssignDefault));
  return handle;
}

inline std::size_t n_nodes(const cudaGraph_t graph)
{
  std::size_t n = 0;
  FEMGPU_CUDA(cudaGraphGetNodes(graph, nullptr, &n));
  return n;
}

/// A WHILE node, owned by its graph.
struct LoopNode
{
  cudaGraphConditionalHandle handle;
  cudaGraphNode_t node = nullptr;
  cudaGraph_t body = nullptr;

  /// Adds the node to @p graph, after the nodes @p after.
  LoopNode(const cudaGraph_t graph, const std::vector<cudaGraphNode_t> &after,
           const cudaGraphConditionalHandle handle)
      : handle(handle)
  {
    cudaGraphNodeParams parameters{};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = handle;
    parameters.conditional.type = cudaGraphCondTypeWhile;
    parameters.conditional.size = 1;
#if CUDART_VERSION >= 13000
    FEMGPU_CUDA(cudaGraphAddNode(&node, graph, after.data(), nullptr, after.size(), &parameters));
#else
    FEMGPU_CUDA(cudaGraphAddNode(&node, graph, after.data(), after.size(), &parameters));
#endif
    body = parameters.conditional.phGraph_out[0];
  }
};

/// Captures a stream into a graph that the caller owns. If an exception is thrown before end(), the
/// destructor ends the capture, so that the stream can be used again; the graph is then incomplete.
class StreamCapture
{
public:
  StreamCapture(const cudaStream_t stream, const cudaGraph_t to) : stream(stream)
  {
    FEMGPU_CUDA(cudaStreamBeginCaptureToGraph(stream, to, nullptr, nullptr, 0,
                                              cudaStreamCaptureModeThreadLocal));
  }
  ~StreamCapture()
  {
    if (!is_capturing)
      return;
    cudaGraph_t incomplete = nullptr;
    cudaStreamEndCapture(stream, &incomplete);
    cudaGetLastError(); // a call that is illegal during capture may have ended it
  }
  StreamCapture(const StreamCapture &) = delete;
  StreamCapture &operator=(const StreamCapture &) = delete;

  void end()
  {
    cudaGraph_t complete = nullptr;
    is_capturing = false; // even if the call fails
    FEMGPU_CUDA(cudaStreamEndCapture(stream, &complete));
  }

private:
  cudaStream_t stream;
  bool is_capturing = true;
};

/// The graph into which a stream captures, and the nodes on which the next captured node depends.
struct CapturedGraph
{
  cudaGraph_t graph = nullptr;
  std::vector<cudaGraphNode_t> last_nodes;
};

inline CapturedGraph captured_graph(const cudaStream_t stream)
{
  CapturedGraph captured;
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t *nodes = nullptr;
  std::size_t n_nodes = 0;
#if CUDART_VERSION >= 13000
  FEMGPU_CUDA(cudaStreamGetCaptureInfo(stream, &status, nullptr, &captured.graph, &nodes, nullptr,
                                       &n_nodes));
#else
  FEMGPU_CUDA(
      cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &captured.graph, &nodes, &n_nodes));
#endif
  captured.last_nodes.assign(nodes, nodes + n_nodes);
  return captured;
}

/// Makes the work that @p stream captures next depend on @p node only.
inline void set_last_node(const cudaStream_t stream, cudaGraphNode_t node)
{
#if CUDART_VERSION >= 13000
  FEMGPU_CUDA(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1,
                                                  cudaStreamSetCaptureDependencies));
#else
  FEMGPU_CUDA(
      cudaStreamUpdateCaptureDependencies(stream, &node, 1, cudaStreamSetCaptureDependencies));
#endif
}

/**
 * Caches the executable graphs of one device: the last one for each kind of loop. Capturing a loop
 * is cheap and describes the loop completely; instantiating an executable graph is expensive. So
 * every loop is captured anew. If its graph has the same nodes as the cached executable, the
 * executable is updated with the new addresses and numbers; callers need not track what has
 * changed. A cached graph may refer to freed memory, and is run only after an update.
 */
class GraphCache
{
public:
  /// Returns an executable of @p graph. It is valid until the next call for the same @p kind.
  /// @param kind the type of the loop
  cudaGraphExec_t executable(std::type_index kind, Graph graph);

  /// The number of executables that were instantiated rather than updated.
  int n_created() const
  {
    return created;
  }

private:
  std::unordered_map<std::type_index, Graph> graphs;
  int created = 0;
};
} // namespace femgpu::linalg::cuda

#endif
