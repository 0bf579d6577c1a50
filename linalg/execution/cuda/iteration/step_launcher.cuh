#ifndef femgpu_linalg_execution_cuda_iteration_step_launcher_cuh
#define femgpu_linalg_execution_cuda_iteration_step_launcher_cuh

#include "linalg/execution/cuda/iteration/step_kernel.cuh"
#include "linalg/execution/cuda/runner.cuh"
#include "linalg/execution/cuda/step_gather.h"
#include "linalg/steps/gram.h"

#include <algorithm>
#include <tuple>

namespace femgpu::linalg::cuda
{
/// Where and how a step is launched.
struct StepLaunch
{
  cudaStream_t stream; ///< may be capturing
  int blocks;          ///< at most
  Decision decision;
};

/// Launches steps with state and sums, one kernel each, and those that need neither.
template <class State, class Sums>
class StepLauncher
{
public:
  /// @param state on the device. @param n rows of a step, or more
  /// @param communicator of a part of the rows; nullptr: all are here
  StepLauncher(const CudaExecutor &executor, State *state, const int n,
               const Communicator *const communicator)
      : executor(executor), state(state), n(n), communicator(communicator),
        peers(communicator == nullptr ? nullptr : communicator->peer_sums()),
        step_gather(communicator == nullptr ? nullptr : communicator->step_gather())
  {}

  /// Has the host to add the sums of steps?
  bool waits_for_host() const
  {
    return communicator != nullptr && peers == nullptr && step_gather == nullptr;
  }

  /// Memory where the blocks of a step meet; to be called while nothing is captured. (Loops that
  /// are one kernel have their own.)
  void prepare()
  {
    if (arrived.size() > 0)
      return;
    const ExecutorPtr owner = executor.shared_from_this();
    partials = Buffer<Sums>(owner, static_cast<std::size_t>(max_blocks()));
    arrived = Buffer<unsigned int>(owner, 1);
    partials.fill_zero();
    arrived.fill_zero();
  }

  /// For steps whose products are with operators of so many threads a row at most. Steps that share
  /// sums have the same places for them.
  int n_blocks(const int most_lanes) const
  {
    const long long threads = static_cast<long long>(n) * most_lanes;
    const long long blocks = (threads + threads_per_block - 1) / threads_per_block;
    return static_cast<int>(std::clamp(blocks, 1LL, static_cast<long long>(max_blocks())));
  }

  template <class Body>
  void run(const StepLaunch &how, const RowStep<Body> &step)
  {
    start(how, step);
  }

  template <class Operator, class Body>
  void run(const StepLaunch &how, const ProductStep<Operator, Body> &step)
  {
    Runner<CudaBackend> runner = runner_for<Body>(how);
    const double *const v = prepare_product(*step.A, runner, step.v);
    visit_product(step, v, [&](const auto &kernel_step) { start(how, kernel_step); });
  }

  template <class Body>
  void run(const StepLaunch &how, const GramStep<Body> &step)
  {
    launch_gram(executor, how.stream, step, state);
  }

  template <class Body>
  void run(const StepLaunch &how, const TeamStep<Body> &step)
  {
    runner_for<Body>(how).run(step);
  }

  template <class Make>
  void run(const StepLaunch &how, const CountedSteps<Make> &steps)
  {
    for (int j = 0; j < steps.count; ++j)
      std::apply([&](const auto &...of_j) { (run(how, of_j), ...); }, steps.make(j));
  }

private:
  static constexpr int blocks_per_multiprocessor = 2048 / threads_per_block;

  int max_blocks() const
  {
    return executor.n_multiprocessors() * blocks_per_multiprocessor;
  }

  /// For what belongs to a step without a state of its own.
  template <class Body>
  Runner<CudaBackend> runner_for(const StepLaunch &how) const
  {
    return {executor, how.stream, RunsAlways<Body>::value ? nullptr : state};
  }

  /// By no more blocks than the device has at one time: one that had to wait for a place would be
  /// alone with its rows.
  template <class Step>
  void start(const StepLaunch &how, const Step &step)
  {
    using Body = decltype(step.body);
    constexpr auto kernel = run_step<Step, State, Sums>;
    const int at_once = executor.kernels().blocks_at_once(address_of(kernel), threads_per_block);
    const int blocks = std::min(how.blocks, executor.n_multiprocessors() * at_once);
    Workspace<State, Sums> work{state, partials.data(), static_cast<unsigned int>(how.blocks),
                                arrived.data(), how.decision};
    if (peers != nullptr)
      work.peers = *peers;
    const auto launch_with = [&](const int n_blocks) {
      launch(executor, how.stream, {static_cast<unsigned int>(n_blocks), threads_per_block}, kernel,
             step, work);
    };
    if constexpr (HasEpilogue<Body>::value && !CompletedSums<Body>::empty)
      if (communicator != nullptr && peers == nullptr) {
        static_assert(sizeof(Sums) <= CudaExecutor::mailbox_bytes);
        work.of_parts = step_gather == nullptr
                            ? static_cast<Sums *>(executor.mailbox())
                            : reinterpret_cast<Sums *>(step_gather->room(sizeof(Sums)));
        work.part = StepPart::rows;
        launch_with(blocks);
        work.part = StepPart::epilogue;
        if (step_gather == nullptr) {
          FEMGPU_CUDA(cudaStreamSynchronize(how.stream));
          sum_over_parts(*communicator, *work.of_parts, CompletedSums<Body>{});
          work.n_parts = 1;
        }
        else {
          step_gather->gather(sizeof(Sums));
          ++work.of_parts; // behind those of this part
          work.n_parts = communicator->n_parts();
        }
        launch_with(1);
        return;
      }
    launch_with(blocks);
  }

  const CudaExecutor &executor;
  State *state;
  int n;
  const Communicator *communicator;
  const PeerSums *peers;   // nullptr: there is one part, or kernels do not add up sums of several
  StepGather *step_gather; // nullptr: nor do they go from device to device
  Buffer<Sums> partials;
  Buffer<unsigned int> arrived; // number of blocks of a step
};
} // namespace femgpu::linalg::cuda

#endif
