#ifndef femgpu_linalg_execution_cuda_runner_cuh
#define femgpu_linalg_execution_cuda_runner_cuh

#include "linalg/execution/cuda/gram.cuh"
#include "linalg/execution/cuda/launch.cuh"
#include "linalg/execution/cuda/plain_step.cuh"

#include <algorithm>

namespace femgpu::linalg
{
/// The backend that runs steps (steps/steps.h) on a CUDA device, each as one kernel. A loop is one
/// graph with a WHILE node, or one kernel, or the host launches each step; see Iteration.
struct CudaBackend
{
  static constexpr BackendKind kind = BackendKind::cuda;
};

template <>
class Runner<CudaBackend> final : public StepRunner
{
public:
  explicit Runner(const Executor &executor) : Runner(executor, nullptr, nullptr)
  {}

  /// Makes a runner on @p launch_stream, which may be capturing.
  /// @param loop state of a loop in device memory: if the loop has ended, the steps do nothing
  Runner(const Executor &executor, const cudaStream_t launch_stream, const LoopState *loop)
      : cuda_executor(static_cast<const CudaExecutor &>(executor)),
        launch_stream(launch_stream == nullptr ? cuda_executor.stream() : launch_stream), loop(loop)
  {}

  void gather(const double *v, const int *rows, int n, double *to, int width) override;
  void add_to_rows(const double *from, const int *rows, int n, double *v, int width) override;
  void copy_strided(const double *from, int from_stride, int n, double *to, int to_stride) override;

  template <class Body>
  void run(const RowStep<Body> &step)
  {
    launch(step, step.n);
  }

  template <class Operator, class Body>
  void run(const ProductStep<Operator, Body> &step)
  {
    const double *const v = prepare_product(*step.A, *this, step.v);
    cuda::visit_product(step, v, [&](const auto &kernel_step) {
      launch_one_wave(kernel_step, static_cast<long long>(kernel_step.A.n) * kernel_step.A.lanes);
    });
  }

  template <class Body>
  void run(const TeamStep<Body> &step)
  {
    constexpr int teams = cuda::block_size_of<TeamStep<Body>> / Body::team_size;
    const std::size_t bytes = teams * sizeof(double) * static_cast<std::size_t>(step.scratch);
    if (bytes > default_shared_bytes - static_shared_bytes)
      cuda_executor.kernels().shared_bytes(cuda::address_of(cuda::run_plain_step<TeamStep<Body>>));
    launch(step, static_cast<long long>(step.n) * Body::team_size, bytes);
  }

  /// The maximum number of doubles of scratch for a team that is a block.
  int max_scratch() const
  {
    const std::size_t bytes = cuda_executor.resident_limits().shared_bytes - static_shared_bytes;
    return static_cast<int>(bytes / sizeof(double));
  }

  template <class Body>
  void run(const ChainStep<Body> &step)
  {
    const long long items = static_cast<long long>(step.n_chains) * step.longest;
    const long long teams = std::clamp<long long>(step.n_teams, 1, items);
    const long long resident = 2048LL * cuda_executor.n_multiprocessors();
    launch(step, std::min(teams * cuda::warp_size, resident));
  }

  template <class Body>
  void run(const GramStep<Body> &step)
  {
    cuda::launch_gram_by_columns(cuda_executor, launch_stream, step, loop);
  }

  cudaStream_t stream() const
  {
    return launch_stream;
  }
  const CudaExecutor &executor() const
  {
    return cuda_executor;
  }
  /// The state of the loop that the steps belong to; nullptr: there is none.
  const LoopState *loop_state() const
  {
    return loop;
  }

private:
  static constexpr std::size_t default_shared_bytes = 48 << 10;
  static constexpr std::size_t static_shared_bytes = 1 << 10; ///< maximum static shared memory
                                                              ///< that a step uses

  template <class Step>
  void launch(const Step &step, const long long threads, const std::size_t shared_bytes = 0)
  {
    constexpr int block = cuda::block_size_of<Step>;
    const long long blocks = (threads + block - 1) / block;
    const long long max_blocks = 1LL << 22; // so that thread numbers fit in 32 bits
    cuda::launch(cuda_executor, launch_stream,
                 {static_cast<unsigned int>(std::min(blocks, max_blocks)), block, shared_bytes},
                 cuda::run_plain_step<Step>, step, loop);
  }

  /// Launches no more blocks than the device holds at once, with as much L1 cache as possible: each
  /// further block would have to load the state of the loop before it begins.
  template <class Step>
  void launch_one_wave(const Step &step, const long long threads)
  {
    constexpr int block = cuda::block_size_of<Step>;
    const int active_blocks = cuda_executor.kernels().max_active_blocks(
        cuda::address_of(cuda::run_plain_step<Step>), block);
    const long long max_blocks =
        static_cast<long long>(cuda_executor.n_multiprocessors()) * active_blocks;
    launch(step, std::min(threads, max_blocks * block));
  }

  const CudaExecutor &cuda_executor;
  cudaStream_t launch_stream;
  const LoopState *loop;
};
} // namespace femgpu::linalg

#endif
