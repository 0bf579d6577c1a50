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
/// The state of an iteration and the numbers that epilogues write, in device memory. They are
/// transferred by copies in stream order, or read from the mailbox if a loop that is one kernel has
/// left them there.
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
    mail = 0;
  }
  /// The state passed to the last set().
  const State &start() const
  {
    return next;
  }
  /// Copies a new state to the device. Does not wait: the state has been staged when the call
  /// returns.
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
    if (has_mail()) {
      executor.synchronize();
      return mailbox()->state;
    }
    State s;
    state.copy_to_host(&s);
    return s;
  }

  double *keep_numbers(const int size)
  {
    numbers = Buffer<double>(executor.shared_from_this(), static_cast<std::size_t>(size));
    return numbers.data();
  }
  /// Returns the first @p count numbers; call get() before.
  std::vector<double> left_numbers(const int count) const
  {
    if (!has_mail() || count > most_numbers())
      return numbers.to_host(static_cast<std::size_t>(count));
    return {mailbox()->numbers(), mailbox()->numbers() + count};
  }

  /// Memory where a kernel can leave its result for the host.
  LoopResult<State> *mailbox() const
  {
    return static_cast<LoopResult<State> *>(executor.mailbox());
  }
  /// How many numbers the mailbox has room for.
  static constexpr int most_numbers()
  {
    return static_cast<int>((CudaExecutor::mailbox_bytes - sizeof(LoopResult<State>)) /
                            sizeof(double));
  }
  /// Records that a kernel was launched that begins with start() and leaves its final state in the
  /// mailbox.
  void expect_mail()
  {
    is_new = false;
    mail = executor.claim_mailbox();
  }

  /// Passes the state to @p watch at intervals until all steps are done; returns at once without a
  /// watch.
  void show_to(const Watch<State> &watch) const
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
  // Another loop may have overwritten the result since.
  bool has_mail() const
  {
    return mail != 0 && mail == executor.last_mail();
  }

  const CudaExecutor &executor;
  Buffer<State> state;
  State next{}; // the device may not have it yet
  bool is_new = false;
  Buffer<double> numbers;      // written by epilogues
  unsigned long long mail = 0; // number of the result in the mailbox; 0: none
};
} // namespace femgpu::linalg::cuda

#endif
