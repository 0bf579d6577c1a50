#ifndef femgpu_linalg_execution_cuda_iteration_device_state_cuh
#define femgpu_linalg_execution_cuda_iteration_device_state_cuh

#include "linalg/execution/cuda/executor.h"
#include "linalg/execution/cuda/on_chip/loop_block.cuh"
#include "linalg/memory/buffer.h"
#include "linalg/steps/steps.h"

#include <chrono>
#include <thread>
#include <vector>

namespace femgpu::linalg::cuda
{
/// The state of an iteration and the numbers that epilogues write, in device memory. Both are
/// copied to and from the host in stream order. If a loop is one kernel, the host instead reads
/// them from the result slot (CudaExecutor::result_slot()), where the kernel has stored them.
template <class State>
class DeviceState
{
public:
  explicit DeviceState(const CudaExecutor &executor)
      : executor(executor), state(executor.shared_from_this(), 1)
  {}

  State *data()
  {
    return state.data();
  }

  void set(const State &s)
  {
    next = s;
    is_new = true;
    result_number = 0;
  }
  /// The state passed to the last set().
  const State &start() const
  {
    return next;
  }
  /// Copies the state to the device if set() has changed it. Does not wait for the copy: the driver
  /// has already read the state when the call returns.
  void send()
  {
    if (!is_new)
      return;
    FEMGPU_CUDA(cudaMemcpyAsync(state.data(), &next, sizeof(State), cudaMemcpyHostToDevice,
                                executor.stream()));
    is_new = false;
  }
  State get()
  {
    send();
    if (has_result()) {
      executor.synchronize();
      return result_slot()->state;
    }
    State s;
    state.copy_to_host(&s);
    return s;
  }

  double *allocate_numbers(const int size)
  {
    numbers = Buffer<double>(executor.shared_from_this(), static_cast<std::size_t>(size));
    return numbers.data();
  }
  /// Returns the first @p count numbers that epilogues have written; call get() first.
  std::vector<double> get_numbers(const int count) const
  {
    if (!has_result() || count > max_numbers())
      return numbers.to_host(static_cast<std::size_t>(count));
    return {result_slot()->numbers(), result_slot()->numbers() + count};
  }

  /// The memory in which a kernel stores its result for the host.
  LoopResult<State> *result_slot() const
  {
    return static_cast<LoopResult<State> *>(executor.result_slot());
  }
  /// Returns how many numbers fit in the result slot.
  static constexpr int max_numbers()
  {
    return static_cast<int>((CudaExecutor::result_slot_bytes - sizeof(LoopResult<State>)) /
                            sizeof(double));
  }
  /// Records the launch of a kernel that begins with the state start() and stores its final state
  /// in the result slot.
  void expect_result()
  {
    is_new = false;
    result_number = executor.claim_result_slot();
  }

  /// Passes the state to @p watch at intervals until all steps are done; returns at once if
  /// @p watch is empty.
  void call_watch(const Watch<State> &watch) const
  {
    if (!watch)
      return;
    using clock = std::chrono::steady_clock;
    auto last = clock::now();
    while (cudaStreamQuery(executor.stream()) == cudaErrorNotReady) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (std::chrono::duration<double>(clock::now() - last).count() < watch_interval)
        continue;
      State now;
      FEMGPU_CUDA(cudaMemcpyAsync(&now, state.data(), sizeof(State), cudaMemcpyDeviceToHost,
                                  executor.watch_stream()));
      FEMGPU_CUDA(cudaStreamSynchronize(executor.watch_stream()));
      watch(now);
      last = clock::now();
    }
  }

private:
  // Returns whether the result slot has this loop's result, which another loop may overwrite.
  bool has_result() const
  {
    return result_number != 0 && result_number == executor.last_result_number();
  }

  const CudaExecutor &executor;
  Buffer<State> state;
  State next{}; // the state passed to set(); the device may not have it yet
  bool is_new = false;
  Buffer<double> numbers;               // written by epilogues
  unsigned long long result_number = 0; // number of the result in the result slot; 0: none
};
} // namespace femgpu::linalg::cuda

#endif
