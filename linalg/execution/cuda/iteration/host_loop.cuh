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
/// reads the state; this is safe, because steps do nothing once the loop has ended.
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
    while (now.running) {
      (launch(steps), ...);
      if (may_run_ahead && !launcher.waits_for_host() &&
          executor.n_launches() - launches_at_read <= short_pass)
        for (int pass = 1; pass < passes_between_reads; ++pass)
          (launch(steps), ...);
      read_state();
      if (watch && std::chrono::duration<double>(clock::now() - last).count() > watch_interval) {
        watch(now);
        last = clock::now();
      }
    }
  }

private:
  // Reading the state takes as long as several launches.
  static constexpr std::size_t launches_between_reads = 1024, short_pass = 24;
  static constexpr int passes_between_reads = 8;

  void read_state()
  {
    now = state.get();
    launches_at_read = executor.n_launches();
  }

  template <class Step>
  void launch(const Step &step)
  {
    if (executor.n_launches() - launches_at_read > launches_between_reads)
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
  std::size_t launches_at_read = executor.n_launches(); // at the time when `now` was read
};
} // namespace femgpu::linalg::cuda

#endif
