#ifndef femgpu_linalg_execution_cuda_on_chip_basis_cuh
#define femgpu_linalg_execution_cuda_on_chip_basis_cuh

#include "linalg/execution/cuda/on_chip/resident.cuh"
#include "linalg/execution/cuda/on_chip/resident_launch.cuh"
#include "linalg/execution/cuda/on_chip/sum_exchange.cuh"
#include "linalg/memory/buffer.h"
#include "linalg/steps/columns.h"

/**
 * @file
 * A whole solve with a Krylov basis in one kernel. Every block keeps its rows of all basis vectors,
 * and the coefficients of a cycle, in shared memory. All blocks compute the same coefficients from
 * the same sums, so that they take the same branches whatever the values are.
 *
 * A method defines the steps: begin(), begin_cycle(), apply(j), project(j), extend_basis(j),
 * solve(), update() and end_cycle(), which otherwise run as one kernel each (see PipelinedWorkspace
 * in solvers/pipelined_gmres.cc). The method's of_block() returns the method restricted to the rows
 * of a block. The vector that A multiplies is exchanged in V[1].
 */
namespace femgpu::linalg::cuda
{
/// The argument of the kernel.
template <class Method_, class State_>
struct BasisLoop
{
  using Method = Method_;
  using State = State_;

  ResidentLayout layout;
  Method method;
  CsrView<double> A;
  GridMemory grid;
  Packet *packets; ///< memory of a SumExchange of cycle.size + 3 sums
  State start;
  State *state;
  LoopResult<State> *result;
  int max_numbers; ///< maximum number of doubles in `result`
};

/// Returns how many doubles of shared memory a block needs for the dot products, for an integer
/// (the number of columns), and for two sums of each warp.
template <class Method>
FEMGPU_HD
int numbers_of_sums(const Method &method)
{
  return method.cycle.size + 1 + 1 + 2 * (basis_threads / warp_size);
}

/// Returns how many doubles a block's shared memory contains before the entries of the matrix.
template <class Fabric, class Method>
FEMGPU_HD
int numbers_before_entries(const Method &method, const int n, const int slice)
{
  const int exchange = Fabric::publishes_in_shared_memory ? n : 0;
  return exchange + (method.cycle.size + 1) * slice + method.block_workspace_size() +
         numbers_of_sums(method);
}

/// A block of the kernel, which runs the steps for its rows.
template <class Fabric, class Entries, int R, class Sums, class Loop>
class ResidentBasis
    : public LoopBlock<Fabric, typename Loop::State, Sums, basis_threads, false, false>
{
  using Base = LoopBlock<Fabric, typename Loop::State, Sums, basis_threads, false, false>;
  using Base::fabric;
  using Base::state;
  using Base::sums;

public:
  __device__ ResidentBasis(const Loop &loop, double *shared)
      : Base(Fabric(shared, loop.grid), loop.start, loop.state), loop(loop),
        thread(loop.layout, fabric.rank()), exchange(loop.packets), warp(threadIdx.x / warp_size),
        lane(threadIdx.x % warp_size)
  {
    const int size = loop.method.cycle.size, slice = loop.layout.slice;
    double *const basis = shared + (Fabric::publishes_in_shared_memory ? loop.A.n : 0);
    double *const numbers = basis + (size + 1) * slice;
    totals = numbers + loop.method.block_workspace_size();
    int *const columns = reinterpret_cast<int *>(totals + size + 1);
    warp_sums = totals + size + 2;
    steps =
        loop.method.of_block(thread.first_row, thread.n_rows,
                             {basis, static_cast<std::size_t>(slice), size + 1}, numbers, columns);
    for_rows([&](const int k, const int local) {
      diagonal[k] = steps.m(local);
      readers[k] = fabric.readers(thread.first_row + local, 0, 1);
    });
    entries.load(loop.A, fabric, thread, reinterpret_cast<char *>(warp_sums + 2 * n_warps),
                 loop.layout.shared_bytes);
    fabric.barrier(); // wait until shared memory is complete
  }

  __device__ void run()
  {
    compute_residual(steps.begin());
    while (is_running())
      run_cycle();
    this->store_state(loop.state);
    this->store_result(loop.result, loop.max_numbers);
    if constexpr (Fabric::has_ghosts)
      fabric.finalize(exchange.n_rounds());
    else
      fabric.finalize();
  }

private:
  static constexpr int n_warps = basis_threads / warp_size;
  static constexpr int n_rows_of_thread = 2; ///< rows per thread, outside of products

  /// Returns whether the loop is running. The threads synchronise after reading the state.
  __device__ bool is_running() const
  {
    const bool running = state.running;
    __syncthreads();
    return running;
  }

  /// Calls f(k, local) for the rows that this thread owns outside of products: k counts these rows,
  /// and `local` is the number of the row in the block.
  template <class Function>
  __device__ void for_rows(const Function &f) const
  {
#pragma unroll
    for (int k = 0; k < n_rows_of_thread; ++k) {
      const int local = k * basis_threads + static_cast<int>(threadIdx.x);
      if (local < thread.n_rows)
        f(k, local);
    }
  }

  /// Publishes D v, where D is the diagonal preconditioner.
  /// @param vector the vector that the next product multiplies, with ghosts
  __device__ void publish_preconditioned(const double *v, double *vector) const
  {
    for_rows([&](const int k, const int local) {
      fabric.publish(true, thread.first_row + local, readers[k], diagonal[k] * v[local], vector);
    });
  }
  /// Publishes x, which is in device memory.
  __device__ void publish_solution() const
  {
    if constexpr (Fabric::publishes_in_shared_memory || Fabric::has_ghosts)
      for_rows([&](const int k, const int local) {
        fabric.publish(true, thread.first_row + local, readers[k], steps.x[local], nullptr);
      });
  }

  /// Runs @p body with A @p v, where @p v has been published, and accumulates the body's sums.
  template <class Body>
  __device__ void multiply(const Body &body, const double *v)
  {
    sums = Sums{};
#pragma unroll
    for (int k = 0; k < R; ++k) {
      double Av_i = entries.product(loop.A, fabric, thread, k, v);
      if (thread.lanes > 1)
        Av_i = lane_sum(Av_i, thread.lanes);
      if (thread.owns(k))
        run_body(body, state, thread.local(k), sums, Av_i);
    }
  }

  /// Computes r = b − A x.
  template <class Body>
  __device__ void compute_residual(const Body &body)
  {
    publish_solution();
    fabric.update_ghost_values(loop.method.x);
    fabric.await_published();
    multiply(body, loop.method.x);
    this->complete(body);
  }

  __device__ void run_cycle()
  {
    if (threadIdx.x == 0)
      steps.begin_cycle().finish(state, sums);
    __syncthreads();
    publish_preconditioned(steps.V[0], loop.method.V[1]);
    fabric.update_ghost_values(loop.method.V[1]);
    fabric.await_published();
    for (int j = 0; j < loop.method.cycle.size && state.running; ++j)
      run_column(j);
    if (warp == 0)
      steps.solve()(Team<warp_size>(steps.scratch(), nullptr), 0);
    __syncthreads();
    const auto update = steps.update();
    for_rows([&](int /* k */, const int local) { run_body(update, state, local, sums); });
    compute_residual(steps.end_cycle());
  }

  /// Computes V_{j+1} from D V_j, which has been published, and publishes D V_{j+1}. The sums of
  /// V_{j+1} are combined during this exchange, because only the next product needs the exchanged
  /// vector.
  __device__ void run_column(const int j)
  {
    multiply(steps.apply(j), loop.method.V[1]);
    __syncthreads();
    compute_dots(j);
    const auto extend_basis = steps.extend_basis(j);
    for_rows([&](int /* k */, const int local) { extend_basis(state, local, sums); });
    publish_preconditioned(steps.V[j + 1], loop.method.V[1]); // the publishing thread has computed
                                                              // the row
    exchange.begin_round();
    double values[2] = {sums.ww, sums.rw};
    const double warp_sum = spread_sums(values);
    if (lane < 2)
      warp_sums[2 * warp + lane] = warp_sum;
    fabric.update_ghost_values(loop.method.V[1]);
    fabric.await_published([&] { complete_column(extend_basis, totals[j + 1]); });
    this->store_for_watch();
  }

  /// Combines the sums of the new basis vector and runs the epilogue. Called by one warp when all
  /// warps of the block have stored their sums.
  template <class ExtendBasis>
  __device__ void complete_column(const ExtendBasis &extend_basis, const double before)
  {
    double lane_total = short_column_sums<2, n_warps>(n_warps, warp_sums);
    if constexpr (!Fabric::publishes_in_shared_memory) {
      const int first = loop.method.cycle.size + 1; // these sums follow the dot products
      if (lane < 2)
        exchange.send_partial(first + lane, lane_total);
      lane_total = exchange.template receive_by_warp<2>(fabric, first);
    }
    Sums total{};
    total.before = before;
    total.ww = __shfl_sync(~0U, lane_total, 0);
    total.rw = __shfl_sync(~0U, lane_total, 1);
    if (lane == 0)
      extend_basis.finish(state, total);
    __syncwarp();
  }

  /// Computes the dot products of V_0 to V_{j+1} with V_{j+1}, and the coefficients to subtract.
  __device__ void compute_dots(const int j)
  {
    const int count = j + 2;
    exchange.begin_round();
    for_columns(count, [&](auto number, const int column) {
      constexpr int P = decltype(number)::value;
      double values[P];
      dots_of_block(column, steps.V[j + 1], values);
      const double of_block = spread_sums(values);
      if (lane < P)
        contribute_dot(j, column + lane * n_warps, of_block);
    });
    if constexpr (!Fabric::publishes_in_shared_memory)
      exchange.receive(fabric, count,
                       [&](const int column, const double dot) { receive_dot(j, column, dot); });
    __syncthreads();
  }

  /// Calls f(count, column) for the columns of this warp, two columns at a time; the last call has
  /// only one column if their number is odd.
  template <class Function>
  __device__ void for_columns(const int count, const Function &f) const
  {
    for (int column = warp; column < count; column += 2 * n_warps)
      if (column + n_warps < count)
        f(std::integral_constant<int, 2>(), column);
      else
        f(std::integral_constant<int, 1>(), column);
  }

  /// Computes this lane's part of the dot products of w with P columns of the basis: @p column,
  /// @p column + n_warps, ...
  template <int P>
  __device__ void dots_of_block(const int column, const double *w, double (&values)[P]) const
  {
    constexpr int batch = 8;
    const double *v[P];
#pragma unroll
    for (int p = 0; p < P; ++p) {
      v[p] = steps.V[column + p * n_warps];
      values[p] = 0.;
    }
    for (int first = lane; first < thread.n_rows; first += batch * warp_size)
#pragma unroll
      for (int e = 0; e < batch; ++e) {
        const int i = first + e * warp_size;
        const bool is_valid = i < thread.n_rows;
        const double w_i = is_valid ? w[i] : 0.;
#pragma unroll
        for (int p = 0; p < P; ++p)
          values[p] += (is_valid ? v[p][i] : 0.) * w_i;
      }
  }

  __device__ void contribute_dot(const int j, const int column, const double of_block) const
  {
    if constexpr (Fabric::publishes_in_shared_memory)
      receive_dot(j, column, of_block);
    else
      exchange.send_partial(column, of_block);
  }
  __device__ void receive_dot(const int j, const int column, const double dot) const
  {
    totals[column] = dot;
    if (column >= 1 && column <= j)
      steps.project(j).entry(column - 1, 0, dot);
  }

  const Loop &loop;
  ThreadRows thread;
  SumExchange exchange;
  int warp, lane;
  typename Loop::Method steps; ///< the method, restricted to the rows of the block
  Entries entries;
  double *totals;    ///< the dot products
  double *warp_sums; ///< sums of the new basis vector, two per warp
  double diagonal[n_rows_of_thread];
  unsigned int readers[n_rows_of_thread]; // where publish() sends each row; see Fabric::readers()
};

template <class Fabric, class Entries, int R, class Sums, class Loop>
__global__ void __launch_bounds__(basis_threads, 1) run_basis(const __grid_constant__ Loop loop)
{
  extern __shared__ double exchange[];
  ResidentBasis<Fabric, Entries, R, Sums, Loop>(loop, exchange).run();
}

/// Launches the loop with the basis in shared memory, or only checks whether the basis fits.
/// Entries of the matrix use the remaining shared memory, or registers.
/// @return whether there is enough shared memory
template <class Sums, class Fabric, class Entries, int R, class Loop>
bool start_basis(const CudaExecutor &executor, const LaunchMode what, Loop &loop,
                 const BasisShape &shape)
{
  constexpr auto kernel = run_basis<Fabric, Entries, R, Sums, Loop>;
  const std::size_t max_bytes = executor.kernels().shared_bytes(address_of(kernel));
  const auto numbers =
      static_cast<std::size_t>(numbers_before_entries<Fabric>(loop.method, loop.A.n, shape.slice));
  const std::size_t before = sizeof(double) * numbers;
  if (before > max_bytes)
    return false;
  const std::size_t bytes = Entries::in_shared_memory ? max_bytes : before;
  loop.layout = {loop.A.n, shape.slice, shape.lanes, static_cast<unsigned int>(bytes - before)};
  if (what == LaunchMode::launch)
    launch(executor, executor.stream(),
           {static_cast<unsigned int>(shape.blocks), basis_threads, bytes, Residency::all}, kernel,
           loop);
  return true;
}

/// Calls start_basis() with the kernel for @p shape, which has several blocks.
template <class Sums, class Fabric, class Loop>
bool start_basis_with(const CudaExecutor &executor, const LaunchMode what, Loop &loop,
                      const BasisShape &shape)
{
  if (!shape.is_matrix_in_registers)
    return start_basis<Sums, Fabric, EntriesOf<Fabric, false, 2>, 2>(executor, what, loop, shape);
  if (shape.slice <= basis_threads)
    return start_basis<Sums, Fabric, EntriesOf<Fabric, true, 1>, 1>(executor, what, loop, shape);
  return start_basis<Sums, Fabric, EntriesOf<Fabric, true, 2>, 2>(executor, what, loop, shape);
}

/// Calls start_basis() with the kernel for any number of blocks.
template <class Sums, class Loop>
bool start_basis_of(const CudaExecutor &executor, const LaunchMode what, Loop &loop,
                    const BasisShape &shape)
{
  if (loop.grid.peers != nullptr)
    return start_basis_with<Sums, PeerFabric>(executor, what, loop, shape);
  if (shape.blocks > 1)
    return start_basis_with<Sums, GridFabric>(executor, what, loop, shape);
  if (shape.is_matrix_in_registers)
    return start_basis<Sums, BlockFabric, EntriesOf<BlockFabric, true, 2>, 2>(executor, what, loop,
                                                                              shape);
  return start_basis<Sums, BlockFabric, EntriesOf<BlockFabric, false, 2>, 2>(executor, what, loop,
                                                                             shape);
}

/// Returns how to run the loop if the basis of @p system fits on the chip; otherwise nothing.
template <class Loop>
std::optional<BasisShape> shape_for_basis(const CudaExecutor &executor, const Loop &loop,
                                          const ResidentSystem &system)
{
  return choose_basis_shape(system,
                            loop.method.block_workspace_size() + numbers_of_sums(loop.method),
                            executor.resident_limits());
}

/// Launches the loop.
/// @param memory memory for the sums of several blocks, which this function allocates
/// @return whether there is enough shared memory
template <class Sums, class Loop>
bool launch_basis(const CudaExecutor &executor, Loop &loop, const BasisShape &shape,
                  Buffer<Packet> &memory)
{
  if (shape.blocks > 1 || loop.grid.peers != nullptr) {
    const int packets = SumExchange::packets_for(loop.method.cycle.size + 3, shape.blocks);
    memory = Buffer<Packet>(executor.shared_from_this(), static_cast<std::size_t>(packets));
    memory.fill_zero();
  }
  loop.packets = memory.data();
  return start_basis_of<Sums>(executor, LaunchMode::launch, loop, shape);
}
} // namespace femgpu::linalg::cuda

#endif
