#ifndef femgpu_linalg_execution_cuda_on_chip_batch_cuh
#define femgpu_linalg_execution_cuda_on_chip_batch_cuh

#include "linalg/execution/cuda/executor.h"
#include "linalg/execution/cuda/on_chip/resident.cuh"
#include "linalg/execution/cuda/on_chip/resident_launch.cuh"
#include "linalg/steps/batch.h"

#include <algorithm>

namespace femgpu::linalg
{
namespace cuda
{
/// The arguments of a block that do not depend on the block's system.
struct BatchLayout
{
  int lanes;
  unsigned int shared_bytes; ///< memory for the exchange vector (fabric.cuh), then matrix entries
  bool uses_diagonal;

  __device__ ResidentLayout of(const BatchSystem &system) const
  {
    const int n = system.A.n;
    return {n, n, lanes, shared_bytes - static_cast<unsigned int>(sizeof(double) * n)};
  }
};

/// The block that solves one system of a batch and keeps it on the chip; see steps/batch.h. The
/// state is in shared memory, so that more registers remain for other blocks.
template <class Program, class Entries, int R, int max_threads>
class BatchBlock : public Resident<BlockFabric, Entries, R, Program::n_vectors,
                                   typename Program::State, typename Program::Sums, max_threads,
                                   /* state_per_thread */ false, /* runs_deferred */ true>
{
public:
  using State = typename Program::State;
  using Sums = typename Program::Sums;
  static constexpr int n_vectors = Program::n_vectors;
  static constexpr int x = 0, r = 1;
  using Base = Resident<BlockFabric, Entries, R, n_vectors, State, Sums, max_threads, false, true>;

  __device__ BatchBlock(const BatchSystem &system, const BatchLayout &layout, const State &start,
                        double *exchange)
      : Base(BlockFabric(exchange, {}), layout.of(system), vectors_of(system), system.A, start,
             nullptr, exchange),
        b(system.b), solution(system.x)
  {
    this->load_rows({nullptr, 1.});
    if (!layout.uses_diagonal)
      return;
#pragma unroll
    for (int k = 0; k < R; ++k)
      if (this->thread.has_row(k))
        this->diagonal[k] = 1. / this->A.diagonal(this->thread.row(k));
  }

  __device__ const State &state() const
  {
    return Base::state;
  }

  template <class Action>
  __device__ void change_state(const Action &action)
  {
    __syncthreads(); // all threads have read the state
    if (threadIdx.x == 0)
      action(Base::state);
    __syncthreads();
  }

  __device__ void clear_vectors(const bool keeps_x)
  {
#pragma unroll
    for (int k = 0; k < R; ++k)
#pragma unroll
      for (int vector = 0; vector < n_vectors; ++vector)
        if (vector != r && (vector != x || !keeps_x))
          this->row[k][vector] = 0.;
  }

  template <class... Formulas>
  __device__ void run(StepList<Formulas...> /* steps */)
  {
    (Base::run(Formulas()), ...);
  }

  template <class Formulas>
  __device__ void residual()
  {
#pragma unroll
    for (int k = 0; k < R; ++k)
      this->publish(k, this->row[k][x], nullptr);
    this->fabric.await_published();
    set_sums(this->sums, Sums{}, typename Formulas::Contributes{});
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const double Ax_i = this->product(k, nullptr);
      Sums row_sums{};
      const double b_i = this->thread.has_row(k) ? b[this->thread.row(k)] : 0.;
      this->row[k][r] = Formulas::row_sums(b_i, Ax_i, this->row[k][x], row_sums);
      if (this->thread.owns(k))
        add_sums(this->sums, row_sums, typename Formulas::Contributes{});
    }
    this->complete(Formulas());
  }

  __device__ void end_run(const bool keeps_x)
  {
#pragma unroll
    for (int k = 0; k < R; ++k) {
      if (keeps_x && this->thread.owns(k))
        solution[this->thread.row(k)] = this->row[k][x];
      else if (!keeps_x && this->thread.has_row(k))
        this->row[k][x] = solution[this->thread.row(k)];
    }
    __syncthreads(); // all threads see the solution
  }

  template <class Formulas>
  __device__ void magnitudes()
  {
    set_sums(this->sums, Sums{}, typename Formulas::Contributes{});
#pragma unroll
    for (int k = 0; k < R; ++k)
      if (this->thread.owns(k)) {
        const int i = this->thread.row(k);
        Formulas::row_sums(this->A.row_magnitude(i, solution) + fabs(b[i]), this->sums);
      }
    this->complete(Formulas());
  }

private:
  /// Returns the vectors of a system. Only x has memory; other vectors are zero at first and are
  /// not stored.
  __device__ static VectorSet<n_vectors> vectors_of(const BatchSystem &system)
  {
    VectorSet<n_vectors> vectors{};
    vectors.data[x] = system.x;
    return vectors;
  }

  const double *b;
  double *solution;
};

template <class Program, class Entries, int max_threads, int R>
__global__ void __launch_bounds__(max_threads, 1)
    run_batch(const BatchSystem *systems, const __grid_constant__ typename Program::State start,
              const BatchLayout layout, typename Program::Result *results)
{
  extern __shared__ double exchange[];
  BatchBlock<Program, Entries, R, max_threads> block(systems[blockIdx.x], layout, start, exchange);
  Program::run(block);
  if (threadIdx.x == 0)
    results[blockIdx.x] = Program::result(block.state());
}
} // namespace cuda

/// Solves several systems at the same time, each by one block; the hardware schedules the blocks on
/// multiprocessors.
template <>
class BatchRunner<CudaBackend>
{
public:
  /// Launches the batch; reading @p results waits for its end.
  template <class Program>
  static void run(const SystemBatch &batch, const typename Program::State &start,
                  Buffer<typename Program::Result> &results)
  {
    for (const BatchGroup &group : *batch.groups)
      launch<Program>(batch, group, start, results.data(),
                      std::make_index_sequence<std::size(batch_kernels)>());
  }

private:
  template <class Program, std::size_t... numbers>
  static void launch(const SystemBatch &batch, const BatchGroup &group,
                     const typename Program::State &start, typename Program::Result *results,
                     std::index_sequence<numbers...> /* of kernels */)
  {
    const auto number = static_cast<std::size_t>(group.shape.kernel);
    ((number == numbers && start_kernel<Program, numbers>(batch, group, start, results)) || ...);
  }

  template <class Program, std::size_t number>
  static bool start_kernel(const SystemBatch &batch, const BatchGroup &group,
                           const typename Program::State &start, typename Program::Result *results)
  {
    constexpr ChipKernel chip_kernel = batch_kernels[number];
    if constexpr (chip_kernel.rows < 8 || Program::n_vectors <= max_vectors_for_8_rows) {
      using Entries =
          cuda::EntriesOf<cuda::BlockFabric, chip_kernel.is_matrix_in_registers, chip_kernel.rows>;
      constexpr auto kernel =
          cuda::run_batch<Program, Entries, chip_kernel.max_threads, chip_kernel.rows>;
      const auto &executor = static_cast<const CudaExecutor &>(*batch.executor);
      const std::size_t max_bytes = executor.kernels().shared_bytes(cuda::address_of(kernel));
      const std::size_t bytes = std::min(group.shared_bytes, max_bytes);
      const cuda::BatchLayout layout{group.shape.lanes, static_cast<unsigned int>(bytes),
                                     batch.uses_diagonal};
      const cuda::Grid grid{static_cast<unsigned int>(group.size),
                            static_cast<unsigned int>(group.shape.threads), bytes};
      cuda::launch(executor, executor.stream(), grid, kernel, batch.systems->data() + group.first,
                   start, layout, results + group.first);
    }
    return true;
  }
};
} // namespace femgpu::linalg

#endif
