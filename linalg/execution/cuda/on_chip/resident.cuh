#ifndef femgpu_linalg_execution_cuda_on_chip_resident_cuh
#define femgpu_linalg_execution_cuda_on_chip_resident_cuh

#include "linalg/execution/cuda/on_chip/loop_block.cuh"
#include "linalg/steps/diagonal_view.h"
#include "linalg/steps/vector_steps.h"
#include "linalg/steps/views.h"

/**
 * @file
 * A whole loop in one kernel. Until the loop ends, every thread keeps the vectors of its rows in
 * registers and, as far as it fits, the matrix in registers or in shared memory. The steps
 * otherwise run as one kernel each; see vector_steps.h.
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
  unsigned int shared_bytes; ///< for entries of the matrix, after the exchange vector
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
  // Products of A with this vector come before and after the loop.
  double *factor;
  Begin begin;
  End end;
  bool has_begun; ///< begin has been run already, and the state is in memory
  State start;    ///< the initial state otherwise
  State *state;
  LoopResult<State> *result;
  int most_numbers; ///< capacity of result
};

/// The position of a thread among the rows of its block.
struct Place
{
  int first_row, n_rows; ///< of the block
  int rows_per_slot;     ///< of the block
  int row_in_slot;
  int lane, lanes;

  __device__ Place(const ResidentLayout &layout, const int rank)
      : first_row(rank * layout.slice), n_rows(min(layout.slice, layout.n - first_row)),
        rows_per_slot(blockDim.x / layout.lanes), row_in_slot(threadIdx.x / layout.lanes),
        lane(threadIdx.x % layout.lanes), lanes(layout.lanes)
  {}
  /// Returns the row of slot k, relative to the block's first row.
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
  /// Returns whether this thread stores the results of the row of slot k.
  __device__ bool owns(const int k) const
  {
    return lane == 0 && has_row(k);
  }
};

/// Up to K entries of each of a thread's R rows, in its registers. One lane per row.
template <int R, int K>
class RegisterEntries
{
  static_assert(K % 2 == 0);

public:
  static constexpr bool in_shared_memory = false;
  static constexpr int registers = 3 * R * K;

  template <class Fabric>
  __device__ void load(const CsrView<double> &A, const Fabric &fabric, const Place &place,
                       char * /* memory */, unsigned int /* bytes */)
  {
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const bool has_row = place.has_row(k);
      const int i = has_row ? place.first_row + place.local(k) : 0;
      const int begin = has_row ? A.row_starts.low[i] : 0,
                end = has_row ? A.row_starts.low[i + 1] : 0;
#pragma unroll
      for (int e = 0; e < K; ++e) {
        const bool is_there = begin + e < end;
        values[k][e] = is_there ? A.values[begin + e] : 0.;
        addresses[k][e] = fabric.address(is_there ? A.columns[begin + e] : i);
      }
    }
  }

  template <class Fabric>
  __device__ double product(const CsrView<double> & /* A */, const Fabric & /* fabric */,
                            const Place & /* place */, const int k, const double *v) const
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

/// Stores the column of an entry as the fabric's address; always fits.
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

/// Stores the column of an entry as its distance from the row, if addresses are columns.
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

/// The entries in shared memory, in slices of the rows that a warp has in a slot. Each slice is as
/// wide as its longest row. Slices that do not fit, or whose columns cannot be encoded, are read
/// from the CSR matrix in every product.
template <int R, class Code>
class SharedEntries
{
public:
  static constexpr bool in_shared_memory = true;
  static constexpr int registers = 2 * R;

  template <class Fabric>
  __device__ void load(const CsrView<double> &A, const Fabric &fabric, const Place &place,
                       char *memory, const unsigned int bytes)
  {
    const int capacity = static_cast<int>(bytes / (sizeof(double) + sizeof(typename Code::Type)));
    values = reinterpret_cast<double *>(memory);
    codes = reinterpret_cast<typename Code::Type *>(values + capacity);
    find_places(A, place, capacity);
#pragma unroll
    for (int k = 0; k < R; ++k)
      if (begins[k] >= 0)
        fill(A, fabric, place, k);
  }

  template <class Fabric>
  __device__ double product(const CsrView<double> &A, const Fabric &fabric, const Place &place,
                            const int k, const double *v) const
  {
    double sum = 0.;
    const int i = place.first_row + place.local(k);
    if (begins[k] >= 0) {
      const int begin = begins[k] + static_cast<int>(threadIdx.x) % warp_size;
      // All loads of a batch are in flight together; excess entries contribute zero.
      for (int first = 0; first < widths[k]; first += batch) {
        double a[batch], v_j[batch];
#pragma unroll
        for (int e = 0; e < batch; ++e) {
          const bool is_there = first + e < widths[k];
          const int at = begin + (is_there ? first + e : first) * warp_size;
          a[e] = is_there ? values[at] : 0.;
          v_j[e] = Fabric::fetch(Code::decode(codes[at], i), v);
        }
#pragma unroll
        for (int e = 0; e < batch; ++e)
          sum += a[e] * v_j[e];
      }
    }
    else if (place.has_row(k)) {
      const int end = A.row_starts.low[i + 1];
#pragma unroll 4
      for (int e = A.row_starts.low[i] + place.lane; e < end; e += place.lanes)
        sum += A.values[e] * Fabric::fetch(fabric.address(A.columns[e]), v);
    }
    return sum;
  }

private:
  static constexpr int batch = 8;

  /// Finds the widths of all slices, then where each begins: after those before it.
  __device__ void find_places(const CsrView<double> &A, const Place &place, const int capacity)
  {
    __shared__ int all_widths[R * most_warps_of_block];
    const int warp = threadIdx.x / warp_size, n_warps = blockDim.x / warp_size;
#pragma unroll
    for (int k = 0; k < R; ++k) {
      int length = 0;
      bool fits = true;
      if (place.has_row(k)) {
        const int i = place.first_row + place.local(k);
        length = A.row_starts.low[i + 1] - A.row_starts.low[i];
        for (int e = A.row_starts.low[i] + place.lane; e < A.row_starts.low[i + 1];
             e += place.lanes)
          fits = fits && Code::fits(A.columns[e], i);
      }
      begins[k] = __all_sync(~0U, fits) ? 0 : -1;
      widths[k] = static_cast<int>(__reduce_max_sync(
          ~0U, static_cast<unsigned int>((length + place.lanes - 1) / place.lanes)));
      all_widths[k * n_warps + warp] = begins[k] < 0 ? 0 : widths[k];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < R; ++k) {
      int before = 0;
      for (int slice = 0; slice < k * n_warps + warp; ++slice)
        before += all_widths[slice];
      const bool has_place = begins[k] == 0 && (before + widths[k]) * warp_size <= capacity;
      begins[k] = has_place ? before * warp_size : -1;
    }
  }

  template <class Fabric>
  __device__ void fill(const CsrView<double> &A, const Fabric &fabric, const Place &place,
                       const int k)
  {
    const bool has_row = place.has_row(k);
    const int i = place.first_row + place.local(k);
    const int begin = has_row ? A.row_starts.low[i] : 0,
              end = has_row ? A.row_starts.low[i + 1] : 0;
    int at = begins[k] + static_cast<int>(threadIdx.x) % warp_size;
    for (int e = 0; e < widths[k]; ++e, at += warp_size) {
      const int from = begin + e * place.lanes + place.lane;
      values[at] = from < end ? A.values[from] : 0.;
      codes[at] = Code::encode(fabric, from < end ? A.columns[from] : place.first_row, i);
    }
  }

  double *values;
  typename Code::Type *codes;
  int begins[R]; // of slices; -1: not in shared memory
  int widths[R];
};

/// Runs the steps inside the kernel. In addition to the members of LoopState, a State has the
/// number of the `iteration` and a `history` of history_size numbers.
template <class Fabric, class Entries, int R, int n_vectors, class State, class Sums,
          int most_threads, bool each_has_state, bool looks = false>
class Resident : public LoopBlock<Fabric, State, Sums, most_threads, each_has_state, looks>
{
  using Base = LoopBlock<Fabric, State, Sums, most_threads, each_has_state, looks>;

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
      Sums of_row{};
      row[k].number = place.row(k);
      formulas(state, row[k], diagonal[k], of_row);
      if (place.owns(k))
        add_sums(sums, of_row, typename Formulas::Contributes{});
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
    fabric.bring_ghosts(factor);
    fabric.await_published();
    set_sums(sums, Sums{}, typename Formulas::Contributes{});
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const double Av_i = product(k, factor);
      Sums of_row{};
      formulas(state, row[k], Av_i, diagonal[k], of_row);
      if (place.owns(k))
        add_sums(sums, of_row, typename Formulas::Contributes{});
    }
    this->complete(formulas);
  }

  /// Stores the vectors in device memory and runs the last step.
  template <class Loop>
  __device__ void end(const Loop &loop)
  {
#pragma unroll
    for (int k = 0; k < R; ++k)
#pragma unroll
      for (int vector = 0; vector < n_vectors; ++vector)
        if (place.owns(k))
          vectors.data[vector][place.row(k)] = row[k][vector];
    run_in_memory(loop.end, loop.factor);
    this->leave_state(loop.state);
    this->leave_result(loop.result, loop.most_numbers);
    fabric.leave();
  }

protected:
  /// Loads the matrix, before the first step; load_rows() follows.
  __device__ Resident(const Fabric &own_fabric, const ResidentLayout &layout,
                      const VectorSet<n_vectors> &vectors, const CsrView<double> &A,
                      const State &start, State *in_memory, double *exchange)
      : Base(own_fabric, start, in_memory), place(layout, fabric.rank()), vectors(vectors), A(A)
  {
    introduce();
#pragma unroll
    for (int k = 0; k < R; ++k)
      readers[k] = place.has_row(k) ? fabric.readers(place.row(k), place.lane, place.lanes) : 0U;
    const int n_exchanged = Fabric::publishes_in_shared_memory ? layout.n : 0;
    entries.load(A, fabric, place, reinterpret_cast<char *>(exchange + n_exchanged),
                 layout.shared_bytes);
    fabric.meet(); // wait until all have read the state and filled their shared memory
  }

  /// Informs the other blocks which columns the rows of this block have.
  __device__ void introduce()
  {
    int first_column = INT_MAX, last_column = -1;
#pragma unroll
    for (int k = 0; k < R; ++k)
      if (place.has_row(k)) {
        const int begin = A.row_starts.low[place.row(k)], end = A.row_starts.low[place.row(k) + 1];
        first_column = begin < end ? min(first_column, A.columns[begin]) : first_column;
        last_column = begin < end ? max(last_column, A.columns[end - 1]) : last_column;
      }
    fabric.introduce(place.first_row, place.first_row + place.n_rows, first_column, last_column);
  }

  /// Loads the rows of all vectors; vectors without memory are zero at first.
  __device__ void load_rows(const DiagonalView &m)
  {
    __syncwarp(); // lanes read what the first lane has written
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const int i = place.row(k);
#pragma unroll
      for (int vector = 0; vector < n_vectors; ++vector)
        row[k][vector] =
            place.has_row(k) && vectors.data[vector] != nullptr ? vectors.data[vector][i] : 0.;
      diagonal[k] = place.has_row(k) ? m(i) : 0.;
    }
  }

  __device__ void publish(const int k, const double value, double *vector)
  {
    if (place.has_row(k))
      fabric.publish(place.lane == 0, place.row(k), readers[k], value, vector);
  }

  /// Returns the product of slot k's row; called by all its lanes.
  __device__ double product(const int k, const double *v) const
  {
    const double Av_i = entries.product(A, fabric, place, k, v);
    return place.lanes > 1 ? lane_sum(Av_i, place.lanes) : Av_i;
  }

  /// Runs a product with @p factor whose body works on vectors in device memory.
  template <class Body>
  __device__ void run_in_memory(const Body &body, double *factor)
  {
    if (!state.running && !RunsAlways<Body>::value)
      return;
#pragma unroll
    for (int k = 0; k < R; ++k)
      if (place.has_row(k) && (Fabric::publishes_in_shared_memory || Fabric::has_ghosts))
        publish(k, factor[place.row(k)], nullptr);
    fabric.bring_ghosts(factor);
    fabric.await_published();
    set_sums(sums, Sums{}, typename Body::Contributes{});
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const double Av_i = product(k, factor);
      if (place.owns(k))
        body(state, place.row(k), Av_i, sums);
    }
    this->complete(body);
  }

  Place place;
  VectorSet<n_vectors> vectors;
  CsrView<double> A;
  Entries entries;
  Row<n_vectors> row[R];
  double diagonal[R];
  unsigned int readers[R]; // of the row: see Fabric::readers()
};

template <class Fabric, class Entries, int most_threads, int R, class Sums, class Loop,
          class... Steps>
__global__ void __launch_bounds__(most_threads, 1) run_resident(const __grid_constant__ Loop loop)
{
  extern __shared__ double exchange[];
  // The state and other variables of a thread take some 88 registers.
  constexpr int registers = 88 + R * (2 * Loop::size + 4) + Entries::registers;
  constexpr bool each_has_state =
      Fabric::all_warps_combine && registers * most_threads <= registers_per_multiprocessor;
  Resident<Fabric, Entries, R, Loop::size, typename Loop::State, Sums, most_threads, each_has_state>
      resident(loop, exchange);
  while (resident.is_running()) {
    (resident.run(Steps{}), ...);
    resident.show();
  }
  resident.end(loop);
}
} // namespace femgpu::linalg::cuda

#endif
