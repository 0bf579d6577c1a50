#ifndef femgpu_linalg_execution_cuda_iteration_host_loop_cuh
#define femgpu_linalg_execution_cuda_iteration_host_loop_cuh

#include "linalg/execution/cuda/iteration/device_state.cuh"
#include "linalg/execution/cuda/iteration/step_launcher.cuh"

#include <chrono>
#include <tuple>

namespace femgpu::linalg::cuda
{
/// A loop that is driven by the host: it launches every step, and looks at the state after each
/// pass (or, where nobody else waits, after some short ones: behind the end steps do nothing),
/// before each pass of an inner loop, and now and then in a long pass.
template <class State, class Sums>
class HostLoop
{
public:
  /// @param blocks of each step at most
  HostLoop(const CudaExecutor &executor, StepLauncher<State, Sums> &launcher,
           DeviceState<State> &state, const int blocks)
      : launcher(launcher), state(state), how{executor.stream(), blocks, {}}, now(state.get())
  {}

  template <class... Steps>
  void run(const Watch<State> &watch, const Steps &...steps)
  {
    using clock = std::chrono::steady_clock;
    auto last = clock::now();
    constexpr bool is_short = !((IsCountedSteps<Steps>::value || IsInnerLoop<Steps>::value) || ...);
    const int passes_between_looks = is_short && launcher.is_asynchronous() ? 8 : 1;
    while (now.running) {
      for (int pass = 0; pass < passes_between_looks; ++pass)
        (launch(steps), ...);
      look();
      if (watch && std::chrono::duration<double>(clock::now() - last).count() > watch_interval) {
        watch(now);
        last = clock::now();
      }
    }
  }

private:
  // To look takes the time of some launches.
  static constexpr int launches_between_looks = 1024;

  void look()
  {
    now = state.get();
    launches = 0;
  }

  template <class Step>
  void launch(const Step &step)
  {
    if (++launches > launches_between_looks)
      look();
    if (now.running || RunsAlways<typename Step::Body>::value)
      launcher.run(how, step);
  }
  template <class Make>
  void launch(const CountedSteps<Make> &steps)
  {
    for (int j = 0; j < steps.count; ++j)
      std::apply([&](const auto &...of_j) { (launch(of_j), ...); }, steps.make(j));
  }
  template <class... Steps>
  void launch(const InnerLoop<Steps...> &loop)
  {
    for (look(); now.running && now.inner; look())
      std::apply([&](const auto &...steps) { (launch(steps), ...); }, loop.steps);
  }

  StepLauncher<State, Sums> &launcher;
  DeviceState<State> &state;
  StepLaunch how;
  State now;
  int launches = 0; // since now
};
} // namespace femgpu::linalg::cuda

#endif
