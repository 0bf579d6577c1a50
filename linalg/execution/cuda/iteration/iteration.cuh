#ifndef femgpu_linalg_execution_cuda_iteration_iteration_cuh
#define femgpu_linalg_execution_cuda_iteration_iteration_cuh

#include "linalg/execution/cuda/iteration/graph_loop.cuh"
#include "linalg/execution/cuda/iteration/host_loop.cuh"
#include "linalg/execution/cuda/iteration/on_chip_loop.cuh"
#include "linalg/execution/cuda/iteration/step_properties.h"
#include "linalg/steps/execution.h"

#include <string>
#include <vector>

namespace femgpu::linalg
{
/**
 * Runs the steps (steps/steps.h) of a solver on a CUDA device. A loop runs as one graph; or as one
 * kernel, if all steps are vector steps (steps/vector_steps.h) and the system is small enough; or
 * the host launches each step.
 */
template <class State, class Sums>
class Iteration<CudaBackend, State, Sums>
{
public:
  /// @param space has at least as many rows as each step
  explicit Iteration(const RowSpace &space)
      : executor(static_cast<const CudaExecutor &>(*space.executor())), n(space.n()),
        communicator(space.communicator()), sums_are_captured(space.is_capturable()),
        state(executor), launcher(executor, state.data(), n, communicator)
  {}

  /// Requests how loops run. If a loop cannot run as requested, repeat_between() throws
  /// ParameterError.
  void set_execution(const Execution how)
  {
    requested_execution = how;
  }
  /// Describes how the last loop ran, for reports.
  const std::string &execution() const
  {
    return execution_description;
  }

  /// Allocates memory for @p size numbers that epilogues write: first LoopState::n_epilogue_values
  /// numbers, then the history of residuals.
  double *allocate_numbers(const int size)
  {
    return state.allocate_numbers(size);
  }
  /// Returns the first @p count of the numbers that allocate_numbers() has allocated; call
  /// get_state() first.
  std::vector<double> get_numbers(const int count) const
  {
    return state.get_numbers(count);
  }

  void set_state(const State &s)
  {
    state.set(s);
  }
  State get_state()
  {
    return state.get();
  }

  template <class... Steps>
  void once(const Steps &...steps)
  {
    state.send();
    launcher.prepare();
    const int blocks = launcher.n_blocks(cuda::StepProperties::of(steps...).lanes);
    (launcher.run({executor.stream(), blocks, {}}, steps), ...);
  }

  /// Launches the loop; get_state() waits for its end.
  template <class... Steps>
  void repeat(const Watch<State> &watch, const Steps &...steps)
  {
    state.send();
    launcher.prepare();
    const auto step_properties = cuda::StepProperties::of(steps...);
    const int blocks = launcher.n_blocks(step_properties.lanes);
    const bool is_graph = step_properties.is_capturable && step_properties.count <= max_nodes &&
                          !executor.launches_stepwise() && sums_are_captured;
    execution_description = is_graph ? "graph" : "driven by the host";
    if (is_graph)
      cuda::GraphLoop<State, Sums>(executor, launcher, blocks).run(steps...);
    else
      cuda::HostLoop<State, Sums>(executor, launcher, state, blocks).run(watch, steps...);
    state.call_watch(watch);
  }

  /// Runs the step @p begin, then the loop (repeat()), then the step @p end. The products of
  /// @p begin and @p end have the same matrix and vector.
  /// @param has_begun whether @p begin has already been run, and is not run again
  template <class Begin, class End, class... Steps>
  void repeat_between(const ProductStep<ExactProduct, Begin> &begin,
                      const ProductStep<ExactProduct, End> &end, const bool has_begun,
                      const Watch<State> &watch, const Steps &...steps)
  {
    if (watch)
      state.send(); // a watch may read the state before the loop has stored one
    if (requested_execution != Execution::graph && supports_on_chip() &&
        record_on_chip(on_chip().launch_resident(begin, end, has_begun, steps...), watch))
      return;
    if (!has_begun)
      once(begin);
    if (requested_execution == Execution::resident)
      throw_not_resident(n);
    repeat(watch, steps...);
    once(end);
  }

  /// Launches a loop with a Krylov basis as one kernel if possible. @return whether it was launched
  template <class Method>
  bool try_on_chip(const Matrix &A, const Watch<State> &watch, const Method &method)
  {
    if (requested_execution == Execution::graph || !supports_on_chip())
      return false;
    if (watch)
      state.send(); // a watch may read the state before the loop has stored one
    return record_on_chip(on_chip().launch_basis(A, method, packets), watch);
  }

private:
  // The maximum number of steps of a graph: building a longer one takes longer than running it.
  static constexpr int max_nodes = 8192;

  cuda::OnChipLoop<State, Sums> on_chip()
  {
    return {executor, state, communicator, requested_execution == Execution::resident};
  }
  /// Returns whether a loop could be one kernel: if rows are distributed, this requires kernels
  /// that communicate directly with the kernels of other ranks.
  bool supports_on_chip() const
  {
    return communicator == nullptr || communicator->peer_sums() != nullptr;
  }

  /// Stores how the loop runs, and passes its state to @p watch until the loop ends.
  /// @param shape description by an OnChipLoop; empty: the loop was not launched
  /// @return whether the loop was launched
  bool record_on_chip(const std::string &shape, const Watch<State> &watch)
  {
    if (shape.empty())
      return false;
    execution_description = "resident: " + shape;
    state.call_watch(watch);
    return true;
  }

  const CudaExecutor &executor;
  int n;
  const Communicator *communicator; // nullptr: all rows are on this rank
  bool sums_are_captured;           // whether sums over the ranks can be captured in a graph
  cuda::DeviceState<State> state;
  cuda::StepLauncher<State, Sums> launcher;
  Buffer<cuda::Packet> packets; // memory through which a loop with a basis computes sums
  Execution requested_execution = Execution::automatic;
  std::string execution_description;
};
} // namespace femgpu::linalg

#endif
