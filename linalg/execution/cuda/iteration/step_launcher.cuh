#ifndef femgpu_linalg_execution_cuda_iteration_step_launcher_cuh
#define femgpu_linalg_execution_cuda_iteration_step_launcher_cuh

#include "linalg/execution/cuda/iteration/step_kernel.cuh"
#include "linalg/execution/cuda/runner.cuh"
#include "linalg/execution/cuda/step_gather.h"
#include "linalg/steps/gram.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace femgpu::linalg::cuda
{
/// How a step is launched, and which loop of a graph its epilogue continues or ends.
struct StepLaunch
{
  cudaStream_t stream; ///< may be capturing
  int blocks;          ///< maximum number of blocks
  Decision decision;
};

/// Launches steps with state and sums, one kernel each, and steps that need neither.
template <class State, class Sums>
class StepLauncher
{
public:
  /// @param state state of the iteration, in device memory
  /// @param n maximum number of rows of a step
  /// @param communicator communicator of the ranks that own the rows; nullptr: there is one rank
  StepLauncher(const CudaExecutor &executor, State *state, const int n,
               const Communicator *const communicator)
      : executor(executor), state(state), n(n), communicator(communicator),
        peers(communicator == nullptr ? nullptr : communicator->peer_sums()),
        step_gather(communicator == nullptr ? nullptr : communicator->step_gather())
  {}

  /// Returns whether the host has to add up the sums of steps.
  bool waits_for_host() const
  {
    return communicator != nullptr && peers == nullptr && step_gather == nullptr;
  }

  /// Collective. Returns the maximum of @p count over the ranks.
  double max_over_ranks(const std::size_t count) const
  {
    const auto value = static_cast<double>(count);
    return communicator == nullptr ? value : communicator->max(value);
  }

  /// Allocates the memory through which the blocks of a step combine sums; must not be called
  /// during a capture. (Loops that are one kernel use other memory.)
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

  /// Returns the maximum number of blocks for steps whose products use at most @p max_lanes threads
  /// per row. It is also the number of slots for partial sums, the same for steps that share sums.
  int n_blocks(const int max_lanes) const
  {
    const long long threads = static_cast<long long>(n) * max_lanes;
    const long long blocks = (threads + threads_per_block - 1) / threads_per_block;
    return static_cast<int>(std::clamp(blocks, 1LL, static_cast<long long>(max_blocks())));
  }

  template <class Body>
  void run(const StepLaunch &step_launch, const RowStep<Body> &step)
  {
    start(step_launch, step);
  }

  template <class Operator, class Body>
  void run(const StepLaunch &step_launch, const ProductStep<Operator, Body> &step)
  {
    Runner<CudaBackend> runner = runner_for<Body>(step_launch);
    const double *const v = prepare_product(*step.A, runner, step.v);
    visit_product(step, v, [&](const auto &kernel_step) { start(step_launch, kernel_step); });
  }

  template <class Body>
  void run(const StepLaunch &step_launch, const GramStep<Body> &step)
  {
    launch_gram(executor, step_launch.stream, step, state);
  }

  template <class Body>
  void run(const StepLaunch &step_launch, const TeamStep<Body> &step)
  {
    runner_for<Body>(step_launch).run(step);
  }

  template <class Make>
  void run(const StepLaunch &step_launch, const CountedSteps<Make> &steps)
  {
    for (int j = 0; j < steps.count; ++j)
      std::apply([&](const auto &...steps_of_j) { (run(step_launch, steps_of_j), ...); },
                 steps.make(j));
  }

private:
  static constexpr int blocks_per_multiprocessor = 2048 / threads_per_block;

  int max_blocks() const
  {
    return executor.n_multiprocessors() * blocks_per_multiprocessor;
  }

  /// Returns a runner for the kernels of a step that do not need the state, such as those that
  /// prepare a product.
  template <class Body>
  Runner<CudaBackend> runner_for(const StepLaunch &step_launch) const
  {
    return {executor, step_launch.stream, RunsAlways<Body>::value ? nullptr : state};
  }

  /// Launches no more blocks than the device holds at once: a block that had to wait for a free
  /// multiprocessor would run while most of the device is idle.
  template <class Step>
  void start(const StepLaunch &step_launch, const Step &step)
  {
    using Body = decltype(step.body);
    constexpr auto kernel = run_step<Step, State, Sums>;
    const int active_blocks =
        executor.kernels().max_active_blocks(address_of(kernel), threads_per_block);
    const int blocks = std::min(step_launch.blocks, executor.n_multiprocessors() * active_blocks);
    StepContext<State, Sums> context{state, partials.data(),
                                     static_cast<unsigned int>(step_launch.blocks), arrived.data(),
                                     step_launch.decision};
    if (peers != nullptr)
      context.peers = *peers;
    const auto launch_with = [&](const int n_blocks) {
      launch(executor, step_launch.stream, {static_cast<unsigned int>(n_blocks), threads_per_block},
             kernel, step, context);
    };
    if constexpr (HasEpilogue<Body>::value && !CompletedSums<Body>::empty)
      if (communicator != nullptr && peers == nullptr) {
        static_assert(sizeof(Sums) <= CudaExecutor::result_slot_bytes);
        context.rank_sums = step_gather == nullptr
                                ? static_cast<Sums *>(executor.result_slot())
                                : reinterpret_cast<Sums *>(step_gather->buffer(sizeof(Sums)));
        context.phase = StepPhase::rows;
        launch_with(blocks);
        context.phase = StepPhase::epilogue;
        if (step_gather == nullptr) {
          FEMGPU_CUDA(cudaStreamSynchronize(step_launch.stream));
          sum_over_ranks(*communicator, *context.rank_sums, CompletedSums<Body>{});
          context.n_ranks = 1;
        }
        else {
          step_gather->gather(sizeof(Sums));
          ++context.rank_sums; // the sums of all ranks follow this rank's
          context.n_ranks = communicator->n_ranks();
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
  const PeerSums *peers;   // nullptr: there is one rank, or kernels do not add up sums of ranks
  StepGather *step_gather; // nullptr: there is one rank, or devices do not gather sums
  Buffer<Sums> partials;
  Buffer<unsigned int> arrived; // number of blocks of a step that have stored their sums
};
} // namespace femgpu::linalg::cuda

#endif
