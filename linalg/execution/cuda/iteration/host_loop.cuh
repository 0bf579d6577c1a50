#ifndef femgpu_linalg_execution_cuda_iteration_host_loop_cuh
#define femgpu_linalg_execution_cuda_iteration_host_loop_cuh

#include "linalg/execution/cuda/iteration/device_state.cuh"
#include "linalg/execution/cuda/iteration/step_launcher.cuh"

#include <tuple>

namespace femgpu::linalg::cuda
{
/// Launches every step of a loop from the host, and looks at the state after each pass.
template <class State, class Sums>
class HostLoop
{
public:
  /// @param blocks of each step at most
  HostLoop(const CudaExecutor &executor, StepLauncher<State, Sums> &launcher,
           DeviceState<State> &state, const int blocks)
      : launcher(launcher), state(state), how{executor.stream(), blocks, {}}
  {}

  template <class... Steps>
  void run(const Watch<State> &watch, const Steps &...steps)
  {
    State now = state.get();
    while (now.running) {
      (launch(steps), ...);
      now = state.get();
      if (watch)
        watch(now);
    }
  }

private:
  template <class Step>
  void launch(const Step &step)
  {
    launcher.run(how, step);
  }
  template <class... Steps>
  void launch(const InnerLoop<Steps...> &loop)
  {
    for (State now = state.get(); now.running && now.inner; now = state.get())
      std::apply([&](const auto &...steps) { (launch(steps), ...); }, loop.steps);
  }

  StepLauncher<State, Sums> &launcher;
  DeviceState<State> &state;
  StepLaunch how;
};
} // namespace femgpu::linalg::cuda

#endif
