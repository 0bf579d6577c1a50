#ifndef femgpu_linalg_execution_cuda_iteration_graph_loop_cuh
#define femgpu_linalg_execution_cuda_iteration_graph_loop_cuh

#include "linalg/execution/cuda/graph.h"
#include "linalg/execution/cuda/iteration/step_launcher.cuh"

#include <algorithm>
#include <tuple>
#include <typeinfo>

namespace femgpu::linalg::cuda
{
/// Runs a loop by one launch of a graph. The graph is a WHILE node whose body contains the steps of
/// several passes, with a nested WHILE node for each inner loop. After the pass that ends the loop,
/// the remaining passes in the body do nothing.
template <class State, class Sums>
class GraphLoop
{
public:
  /// @param blocks maximum number of blocks of a step
  GraphLoop(const CudaExecutor &executor, StepLauncher<State, Sums> &launcher, const int blocks)
      : executor(executor), launcher(launcher), blocks(blocks)
  {}

  template <class... Steps>
  void run(const Steps &...steps)
  {
    executor.make_current();
    const cudaGraphExec_t executable = executor.graphs().executable(
        typeid(std::tuple<State, Sums, Steps...> *), make_graph(steps...));
    FEMGPU_CUDA(cudaGraphLaunch(executable, executor.stream()));
  }

private:
  // How often the graph's body repeats the steps. Evaluating the WHILE node costs some
  // microseconds, each kernel run past the end of a solve costs one microsecond, and each captured
  // kernel costs time, too.
  static constexpr int unrolled = 8, unrolled_long = 2;
  static constexpr std::size_t long_pass = 24; // number of kernels

  template <class... Steps>
  Graph make_graph(const Steps &...steps)
  {
    Graph graph = Graph::make_empty();
    LoopNode loop(graph.graph, {}, make_handle(graph.graph, 1));
    // The watch stream is idle before the graph is launched.
    const cudaStream_t stream = executor.watch_stream();
    StreamCapture capture(stream, loop.body);
    constexpr bool is_once = (IsCountedSteps<Steps>::value || ...);
    static_assert(is_once || !(StepRunsAlways<Steps>::value || ...),
                  "steps after the end must do nothing");
    int times = is_once ? 1 : unrolled;
    for (int repetition = 1; repetition <= times; ++repetition) {
      capture_pass({stream, blocks, {loop.handle, DecidedLoop::loop}}, repetition == times,
                   steps...);
      if (repetition == 1 && n_nodes(captured_graph(stream).graph) > long_pass)
        times = std::min(times, unrolled_long);
    }
    capture.end();
    return graph;
  }

  /// Captures the steps of one pass in order. If @p is_last is true, the last step decides whether
  /// the loop of step_launch.decision continues.
  template <class Step, class... Rest>
  void capture_pass(const StepLaunch &step_launch, const bool is_last, const Step &step,
                    const Rest &...rest)
  {
    static_assert(sizeof...(Rest) > 0 || can_decide<Step>,
                  "the last step of a loop must decide whether it ends");
    if constexpr (IsInnerLoop<Step>::value)
      capture_inner(step_launch, step);
    else if constexpr (next_is_inner_loop<Rest...>()) {
      static_assert(HasEpilogue<decltype(step.body)>::value,
                    "the step before an inner loop must decide whether it runs");
      inner_handle = make_handle(captured_graph(step_launch.stream).graph, 0);
      launcher.run(
          {step_launch.stream, step_launch.blocks, {inner_handle, DecidedLoop::inner_loop}}, step);
    }
    else
      launcher.run({step_launch.stream, step_launch.blocks,
                    is_last && sizeof...(Rest) == 0 ? step_launch.decision : Decision()},
                   step);
    if constexpr (sizeof...(Rest) > 0)
      capture_pass(step_launch, is_last, rest...);
  }

  template <class First = void, class... Rest>
  static constexpr bool next_is_inner_loop()
  {
    return IsInnerLoop<First>::value;
  }

  /// Adds a WHILE node to the graph that @p step_launch.stream captures.
  template <class... Steps>
  void capture_inner(const StepLaunch &step_launch, const InnerLoop<Steps...> &inner)
  {
    const auto captured = captured_graph(step_launch.stream);
    LoopNode loop(captured.graph, captured.last_nodes, inner_handle);
    set_last_node(step_launch.stream, loop.node);
    const cudaStream_t stream = executor.stream(); // also idle before the graph is launched
    StreamCapture capture(stream, loop.body);
    std::apply(
        [&](const auto &...steps) {
          capture_pass({stream, step_launch.blocks, {inner_handle, DecidedLoop::inner_loop}}, true,
                       steps...);
        },
        inner.steps);
    capture.end();
  }

  const CudaExecutor &executor;
  StepLauncher<State, Sums> &launcher;
  int blocks;
  cudaGraphConditionalHandle inner_handle = 0; // handle of the inner loop captured next
};
} // namespace femgpu::linalg::cuda

#endif
