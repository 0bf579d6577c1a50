#ifndef femgpu_linalg_execution_cuda_on_chip_resident_cuh
#define femgpu_linalg_execution_cuda_on_chip_resident_cuh

#include "linalg/execution/cuda/on_chip/loop_block.cuh"
#include "linalg/steps/diagonal_view.h"
#include "linalg/steps/vector_steps.h"
#include "linalg/steps/views.h"

/**
 * @file
 * A whole loop in one kernel. Until the loop ends, every thread keeps the vectors of its rows in
 * registers and, as far as it fits, the matrix in registers or in shared memory. The steps of the
 * loop (steps/vector_steps.h) can also run as one kernel each, if the system does not fit.
 */
namespace femgpu::linalg::cuda
{
constexpr int registers_per_multiprocessor = 65536;

/// How rows are assigned to threads: block b has the rows b slice <= i < (b+1) slice.
struct ResidentLayout
{
  int n;
  int slice;
  int lanes;                 ///< neighbouring threads that share a row, a power of two
  unsigned int shared_bytes; ///< bytes of shared memory for the matrix, after the exchange vector
};

/// The argument of a resident kernel.
template <int n_vectors, class State_, class Begin, class End>
struct ResidentLoop
{
  using State = State_;
  static constexpr int size = n_vectors;

  ResidentLayout layout;
  VectorSet<n_vectors> vectors;
  DiagonalView m;
  CsrView<double> A;
  GridMemory grid;
  // The vector that A multiplies in the steps before and after the loop.
  double *factor;
  Begin begin;
  End end;
  bool has_begun; ///< whether `begin` has already been run; the initial state is then in `state`
  State start;    ///< the initial state if `begin` has not been run
  State *state;
  LoopResult<State> *result;
  int max_numbers; ///< maximum number of doubles in `result`
};

/// The rows of a thread. A group of `lanes` threads shares a row, and a slot has one row for each
/// group of the block. The threads process the block's rows slot by slot.
struct ThreadRows
{
  int first_row, n_rows; ///< first row, and number of rows, of the block
  int rows_per_slot;     ///< number of rows of the block in a slot
  int row_in_slot;
  int lane, lanes;

  __device__ ThreadRows(const ResidentLayout &layout, const int rank)
      : first_row(rank * layout.slice), n_rows(min(layout.slice, layout.n - first_row)),
        rows_per_slot(blockDim.x / layout.lanes), row_in_slot(threadIdx.x / layout.lanes),
        lane(threadIdx.x % layout.lanes), lanes(layout.lanes)
  {}
  /// Returns this thread's row in slot k, relative to the block's first row.
  __device__ int local(const int k) const
  {
    return k * rows_per_slot + row_in_slot;
  }
  __device__ int row(const int k) const
  {
    return first_row + local(k);
  }
  __device__ bool has_row(const int k) const
  {
    return local(k) < n_rows;
  }
  /// Returns whether this thread stores the results of its row in slot k.
  __device__ bool owns(const int k) const
  {
    return lane == 0 && has_row(k);
  }
};

/// Up to K entries of each of a thread's R rows, in registers of the thread. No row is shared by
/// several threads.
template <int R, int K>
class RegisterEntries
{
  static_assert(K % 2 == 0);

public:
  static constexpr bool in_shared_memory = false;
  static constexpr int registers = 3 * R * K;

  template <class Fabric>
  __device__ void load(const CsrView<double> &A, const Fabric &fabric, const ThreadRows &thread,
                       char * /* memory */, unsigned int /* bytes */)
  {
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const bool has_row = thread.has_row(k);
      const int i = has_row ? thread.first_row + thread.local(k) : 0;
      const int begin = has_row ? A.row_starts.low[i] : 0,
                end = has_row ? A.row_starts.low[i + 1] : 0;
#pragma unroll
      for (int e = 0; e < K; ++e) {
        const bool is_valid = begin + e < end;
        values[k][e] = is_valid ? A.values[begin + e] : 0.;
        addresses[k][e] = fabric.address(is_valid ? A.columns[begin + e] : i);
      }
    }
  }

  template <class Fabric>
  __device__ double product(const CsrView<double> & /* A */, const Fabric & /* fabric */,
                            const ThreadRows & /* thread */, const int k, const double *v) const
  {
    double even = 0., odd = 0.; // two independent chains of additions
#pragma unroll
    for (int e = 0; e < K; e += 2) {
      even += values[k][e] * Fabric::fetch(addresses[k][e], v);
      odd += values[k][e + 1] * Fabric::fetch(addresses[k][e + 1], v);
    }
    return even + odd;
  }

private:
  double values[R][K];
  unsigned int addresses[R][K];
};

/// Stores the column of an entry as the address that the fabric (fabric.cuh) assigns to it, which
/// always fits.
struct AddressCode
{
  using Type = unsigned int;
  static __device__ bool fits(const int /* column */, const int /* i */)
  {
    return true;
  }
  template <class Fabric>
  static __device__ Type encode(const Fabric &fabric, const int column, const int /* i */)
  {
    return fabric.address(column);
  }
  static __device__ unsigned int decode(const Type code, const int /* i */)
  {
    return code;
  }
};

/// Stores the column of an entry as its distance from the row. Requires a fabric (fabric.cuh) whose
/// addresses are the columns themselves.
struct DistanceCode
{
  using Type = short;
  static __device__ bool fits(const int column, const int i)
  {
    return column - i == static_cast<Type>(column - i);
  }
  template <class Fabric>
  static __device__ Type encode(const Fabric & /* fabric */, const int column, const int i)
  {
    return static_cast<Type>(column - i);
  }
  static __device__ unsigned int decode(const Type code, const int i)
  {
    return static_cast<unsigned int>(i + code);
  }
};

/// The matrix entries in shared memory. The rows that a warp has in one slot form a slice, which is
/// as wide as its longest row. Slices that do not fit, or whose columns cannot be encoded, are read
/// from the CSR matrix in every product.
template <int R, class Code>
class SharedEntries
{
public:
  static constexpr bool in_shared_memory = true;
  static constexpr int registers = 2 * R;

  template <class Fabric>
  __device__ void load(const CsrView<double> &A, const Fabric &fabric, const ThreadRows &thread,
                       char *memory, const unsigned int bytes)
  {
    const int capacity = static_cast<int>(bytes / (sizeof(double) + sizeof(typename Code::Type)));
    values = reinterpret_cast<double *>(memory);
    codes = reinterpret_cast<typename Code::Type *>(values + capacity);
    find_slices(A, thread, capacity);
#pragma unroll
    for (int k = 0; k < R; ++k)
      if (offsets[k] >= 0)
        fill(A, fabric, thread, k);
  }

  template <class Fabric>
  __device__ double product(const CsrView<double> &A, const Fabric &fabric,
                            const ThreadRows &thread, const int k, const double *v) const
  {
    double sum = 0.;
    const int i = thread.first_row + thread.local(k);
    if (offsets[k] >= 0) {
      const int begin = offsets[k] + static_cast<int>(threadIdx.x) % warp_size;
      // All loads of a batch are in flight together; excess entries contribute zero.
      for (int first = 0; first < widths[k]; first += batch) {
        double a[batch], v_j[batch];
#pragma unroll
        for (int e = 0; e < batch; ++e) {
          const bool is_valid = first + e < widths[k];
          const int at = begin + (is_valid ? first + e : first) * warp_size;
          a[e] = is_valid ? values[at] : 0.;
          v_j[e] = Fabric::fetch(Code::decode(codes[at], i), v);
        }
#pragma unroll
        for (int e = 0; e < batch; ++e)
          sum += a[e] * v_j[e];
      }
    }
    else if (thread.has_row(k)) {
      const int end = A.row_starts.low[i + 1];
#pragma unroll 4
      for (int e = A.row_starts.low[i] + thread.lane; e < end; e += thread.lanes)
        sum += A.values[e] * Fabric::fetch(fabric.address(A.columns[e]), v);
    }
    return sum;
  }

private:
  static constexpr int batch = 8;

  /// Computes the widths of all slices, then their offsets: each slice follows the preceding
  /// slices.
  __device__ void find_slices(const CsrView<double> &A, const ThreadRows &thread,
                              const int capacity)
  {
    __shared__ int all_widths[R * max_warps_per_block];
    const int warp = threadIdx.x / warp_size, n_warps = blockDim.x / warp_size;
#pragma unroll
    for (int k = 0; k < R; ++k) {
      int length = 0;
      bool fits = true;
      if (thread.has_row(k)) {
        const int i = thread.first_row + thread.local(k);
        length = A.row_starts.low[i + 1] - A.row_starts.low[i];
        for (int e = A.row_starts.low[i] + thread.lane; e < A.row_starts.low[i + 1];
             e += thread.lanes)
          fits = fits && Code::fits(A.columns[e], i);
      }
      offsets[k] = __all_sync(~0U, fits) ? 0 : -1;
      widths[k] = static_cast<int>(__reduce_max_sync(
          ~0U, static_cast<unsigned int>((length + thread.lanes - 1) / thread.lanes)));
      all_widths[k * n_warps + warp] = offsets[k] < 0 ? 0 : widths[k];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < R; ++k) {
      int before = 0;
      for (int slice = 0; slice < k * n_warps + warp; ++slice)
        before += all_widths[slice];
      const bool has_room = offsets[k] == 0 && (before + widths[k]) * warp_size <= capacity;
      offsets[k] = has_room ? before * warp_size : -1;
    }
  }

  template <class Fabric>
  __device__ void fill(const CsrView<double> &A, const Fabric &fabric, const ThreadRows &thread,
                       const int k)
  {
    const bool has_row = thread.has_row(k);
    const int i = thread.first_row + thread.local(k);
    const int begin = has_row ? A.row_starts.low[i] : 0,
              end = has_row ? A.row_starts.low[i + 1] : 0;
    int at = offsets[k] + static_cast<int>(threadIdx.x) % warp_size;
    for (int e = 0; e < widths[k]; ++e, at += warp_size) {
      const int from = begin + e * thread.lanes + thread.lane;
      values[at] = from < end ? A.values[from] : 0.;
      codes[at] = Code::encode(fabric, from < end ? A.columns[from] : thread.first_row, i);
    }
  }

  double *values;
  typename Code::Type *codes;
  int offsets[R]; // offset of the slice in each slot; -1: not in shared memory
  int widths[R];  // width of the slice in each slot
};

/// A block of the kernel, which runs the steps for its rows. In addition to the members of
/// LoopState, a State has `iteration`, the number of the current iteration, and `history`, which
/// points to history_size numbers.
template <class Fabric, class Entries, int R, int n_vectors, class State, class Sums,
          int max_threads, bool state_per_thread, bool runs_deferred = false>
class Resident : public LoopBlock<Fabric, State, Sums, max_threads, state_per_thread, runs_deferred>
{
  using Base = LoopBlock<Fabric, State, Sums, max_threads, state_per_thread, runs_deferred>;

protected:
  using Base::fabric;
  using Base::state;
  using Base::sums;

public:
  template <class Loop>
  __device__ Resident(const Loop &loop, double *exchange)
      : Resident(Fabric(exchange, loop.grid), loop.layout, loop.vectors, loop.A,
                 loop.has_begun ? *loop.state : loop.start, loop.state, exchange)
  {
    if (!loop.has_begun)
      run_in_memory(loop.begin, loop.factor);
    load_rows(loop.m);
  }

  template <class Formulas, std::enable_if_t<!IsProduct<Formulas>::value, int> = 0>
  __device__ void run(const Formulas &formulas)
  {
    if (!state.running)
      return;
    set_sums(sums, Sums{}, typename Formulas::Contributes{});
#pragma unroll
    for (int k = 0; k < R; ++k) {
      Sums row_sums{};
      row[k].number = thread.row(k);
      formulas(state, row[k], diagonal[k], row_sums);
      if (thread.owns(k))
        add_sums(sums, row_sums, typename Formulas::Contributes{});
    }
    this->complete(formulas);
  }

  template <class Formulas, std::enable_if_t<IsProduct<Formulas>::value, int> = 0>
  __device__ void run(const Formulas &formulas)
  {
    static_assert(HasEpilogue<Formulas>::value,
                  "all blocks must synchronise before the next product");
    if (!state.running)
      return;
    double *const factor = vectors.data[Formulas::factor];
#pragma unroll
    for (int k = 0; k < R; ++k)
      publish(k, row[k][Formulas::factor], factor);
    fabric.update_ghost_values(factor);
    fabric.await_published();
    set_sums(sums, Sums{}, typename Formulas::Contributes{});
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const double Av_i = product(k, factor);
      Sums row_sums{};
      formulas(state, row[k], Av_i, diagonal[k], row_sums);
      if (thread.owns(k))
        add_sums(sums, row_sums, typename Formulas::Contributes{});
    }
    this->complete(formulas);
  }

  /// Stores the vectors in device memory, runs the step `loop.end`, and stores the result.
  template <class Loop>
  __device__ void end(const Loop &loop)
  {
#pragma unroll
    for (int k = 0; k < R; ++k)
#pragma unroll
      for (int vector = 0; vector < n_vectors; ++vector)
        if (thread.owns(k))
          vectors.data[vector][thread.row(k)] = row[k][vector];
    run_in_memory(loop.end, loop.factor);
    this->store_state(loop.state);
    this->store_result(loop.result, loop.max_numbers);
    fabric.finalize();
  }

protected:
  /// Loads the matrix. load_rows() must be called before steps on vectors in registers.
  __device__ Resident(const Fabric &own_fabric, const ResidentLayout &layout,
                      const VectorSet<n_vectors> &vectors, const CsrView<double> &A,
                      const State &start, State *in_memory, double *exchange)
      : Base(own_fabric, start, in_memory), thread(layout, fabric.rank()), vectors(vectors), A(A)
  {
    exchange_column_ranges();
#pragma unroll
    for (int k = 0; k < R; ++k)
      readers[k] =
          thread.has_row(k) ? fabric.readers(thread.row(k), thread.lane, thread.lanes) : 0U;
    const int n_exchanged = Fabric::publishes_in_shared_memory ? layout.n : 0;
    entries.load(A, fabric, thread, reinterpret_cast<char *>(exchange + n_exchanged),
                 layout.shared_bytes);
    fabric.barrier(); // wait until all blocks have read the state and filled their shared memory
  }

  /// Passes the range of columns of this block's rows to the fabric.
  __device__ void exchange_column_ranges()
  {
    int first_column = INT_MAX, last_column = -1;
#pragma unroll
    for (int k = 0; k < R; ++k)
      if (thread.has_row(k)) {
        const int begin = A.row_starts.low[thread.row(k)],
                  end = A.row_starts.low[thread.row(k) + 1];
        first_column = begin < end ? min(first_column, A.columns[begin]) : first_column;
        last_column = begin < end ? max(last_column, A.columns[end - 1]) : last_column;
      }
    fabric.exchange_column_ranges(thread.first_row, thread.first_row + thread.n_rows, first_column,
                                  last_column);
  }

  /// Loads this thread's rows of all vectors; vectors without memory are zero at first.
  __device__ void load_rows(const DiagonalView &m)
  {
    __syncwarp(); // lanes read values that the first lane has written
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const int i = thread.row(k);
#pragma unroll
      for (int vector = 0; vector < n_vectors; ++vector)
        row[k][vector] =
            thread.has_row(k) && vectors.data[vector] != nullptr ? vectors.data[vector][i] : 0.;
      diagonal[k] = thread.has_row(k) ? m(i) : 0.;
    }
  }

  __device__ void publish(const int k, const double value, double *vector)
  {
    if (thread.has_row(k))
      fabric.publish(thread.lane == 0, thread.row(k), readers[k], value, vector);
  }

  /// Returns the product of the row in slot @p k with @p v; called by all lanes of the row.
  __device__ double product(const int k, const double *v) const
  {
    const double Av_i = entries.product(A, fabric, thread, k, v);
    return thread.lanes > 1 ? lane_sum(Av_i, thread.lanes) : Av_i;
  }

  /// Runs @p body, which works on vectors in device memory, with the product A @p factor.
  template <class Body>
  __device__ void run_in_memory(const Body &body, double *factor)
  {
    if (!state.running && !RunsAlways<Body>::value)
      return;
#pragma unroll
    for (int k = 0; k < R; ++k)
      if (thread.has_row(k) && (Fabric::publishes_in_shared_memory || Fabric::has_ghosts))
        publish(k, factor[thread.row(k)], nullptr);
    fabric.update_ghost_values(factor);
    fabric.await_published();
    set_sums(sums, Sums{}, typename Body::Contributes{});
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const double Av_i = product(k, factor);
      if (thread.owns(k))
        body(state, thread.row(k), Av_i, sums);
    }
    this->complete(body);
  }

  ThreadRows thread;
  VectorSet<n_vectors> vectors;
  CsrView<double> A;
  Entries entries;
  Row<n_vectors> row[R];
  double diagonal[R];
  unsigned int readers[R]; // where publish() sends the row in each slot; see Fabric::readers()
};

template <class Fabric, class Entries, int max_threads, int R, class Sums, class Loop,
          class... Steps>
__global__ void __launch_bounds__(max_threads, 1) run_resident(const __grid_constant__ Loop loop)
{
  extern __shared__ double exchange[];
  // The state and other variables of a thread take some 88 registers.
  constexpr int registers = 88 + R * (2 * Loop::size + 4) + Entries::registers;
  constexpr bool state_per_thread =
      Fabric::all_warps_combine && registers * max_threads <= registers_per_multiprocessor;
  Resident<Fabric, Entries, R, Loop::size, typename Loop::State, Sums, max_threads,
           state_per_thread>
      resident(loop, exchange);
  while (resident.is_running()) {
    (resident.run(Steps{}), ...);
    resident.store_for_watch();
  }
  resident.end(loop);
}
} // namespace femgpu::linalg::cuda

#endif
