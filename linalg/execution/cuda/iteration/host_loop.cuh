#ifndef femgpu_linalg_execution_cuda_iteration_host_loop_cuh
#define femgpu_linalg_execution_cuda_iteration_host_loop_cuh

#include "linalg/execution/cuda/iteration/device_state.cuh"
#include "linalg/execution/cuda/iteration/step_launcher.cuh"

#include <chrono>
#include <tuple>

namespace femgpu::linalg::cuda
{
/// Runs a loop by launching every step from the host. A pass launches each step once. The host
/// reads the state after each pass, before each pass of an inner loop, and at intervals in a long
/// pass. If passes are short and no step waits for the host, it launches several passes before it
/// reads the state; this is safe, because steps do nothing once the loop has ended. Sums and ghosts
/// of ranks are exchanged even after the end, so all ranks must launch the same steps: when a rank
/// reads the state does not depend on its own number of launches, which differs between ranks.
template <class State, class Sums>
class HostLoop
{
public:
  /// @param blocks maximum number of blocks of a step
  HostLoop(const CudaExecutor &executor, StepLauncher<State, Sums> &launcher,
           DeviceState<State> &state, const int blocks)
      : executor(executor), launcher(launcher),
        state(state), step_launch{executor.stream(), blocks, {}}, now(state.get())
  {}

  template <class... Steps>
  void run(const Watch<State> &watch, const Steps &...steps)
  {
    using clock = std::chrono::steady_clock;
    auto last = clock::now();
    constexpr bool may_run_ahead =
        !((IsCountedSteps<Steps>::value || IsInnerLoop<Steps>::value) || ...);
    static_assert(!may_run_ahead || !(StepRunsAlways<Steps>::value || ...),
                  "steps after the end must do nothing");
    const std::size_t launches_before = executor.n_launches();
    int n_passes = 1; // between two reads
    for (bool is_first = true; now.running; is_first = false) {
      for (int pass = 0; pass < n_passes; ++pass)
        (launch(steps), ...);
      if (is_first && may_run_ahead && !launcher.waits_for_host() &&
          launcher.max_over_ranks(executor.n_launches() - launches_before) <= short_pass)
        n_passes = passes_between_reads;
      read_state();
      if (watch && std::chrono::duration<double>(clock::now() - last).count() > watch_interval) {
        watch(now);
        last = clock::now();
      }
    }
  }

private:
  // Reading the state takes as long as several launches.
  static constexpr int steps_between_reads = 64, passes_between_reads = 8;
  static constexpr std::size_t short_pass = 24; ///< maximum number of launches of a short pass

  void read_state()
  {
    now = state.get();
    steps_since_read = 0;
  }

  template <class Step>
  void launch(const Step &step)
  {
    if (++steps_since_read > steps_between_reads)
      read_state();
    if (now.running || RunsAlways<typename Step::Body>::value)
      launcher.run(step_launch, step);
  }
  template <class Make>
  void launch(const CountedSteps<Make> &steps)
  {
    for (int j = 0; j < steps.count; ++j)
      std::apply([&](const auto &...steps_of_j) { (launch(steps_of_j), ...); }, steps.make(j));
  }
  template <class... Steps>
  void launch(const InnerLoop<Steps...> &loop)
  {
    for (read_state(); now.running && now.inner; read_state())
      std::apply([&](const auto &...steps) { (launch(steps), ...); }, loop.steps);
  }

  const CudaExecutor &executor;
  StepLauncher<State, Sums> &launcher;
  DeviceState<State> &state;
  StepLaunch step_launch;
  State now;
  int steps_since_read = 0;
};
} // namespace femgpu::linalg::cuda

#endif
