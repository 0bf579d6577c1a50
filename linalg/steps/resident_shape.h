#ifndef femgpu_linalg_steps_resident_shape_h
#define femgpu_linalg_steps_resident_shape_h

#include "linalg/memory/executor.h"

#include <cstddef>
#include <optional>
#include <string>

namespace femgpu::linalg
{
constexpr int warp_size = 32;

/// The size of a system, and the number of vectors of the method that solves it.
struct ResidentSystem
{
  int n = 0;
  std::size_t n_nonzeros = 0;
  int longest_row = 0;
  int n_vectors = 0;
};

/// The number of blocks of a kernel that keeps a matrix on the chip.
enum class Extent
{
  block,   ///< one block
  cluster, ///< one cluster of blocks
  grid     ///< as many blocks as the device holds at once
};

/// The properties of a kernel that keeps a matrix on the chip.
struct ChipKernel
{
  Extent extent;
  bool is_matrix_in_registers; ///< false: it is in shared memory
  int rows;                    ///< maximum number of rows per thread
  int max_threads;             ///< maximum number of threads per block
};

/// The resident kernels, which run a whole loop on the chip. A name says how many blocks the kernel
/// has (Extent), where it keeps the matrix, and the maximum number of rows per thread.
enum class ResidentKernel
{
  block_registers_1,
  block_registers_4,
  cluster_registers_2,
  cluster_registers_4,
  cluster_shared_1,
  grid_registers_1,
  grid_shared_1,
  grid_shared_4,
  grid_shared_8
};

/// The properties of the resident kernels, in the order of ResidentKernel.
constexpr ChipKernel resident_kernels[] = {
    {Extent::block, true, 1, 256},    {Extent::block, true, 4, 256},
    {Extent::cluster, true, 2, 256},  {Extent::cluster, true, 4, 256},
    {Extent::cluster, false, 1, 640}, {Extent::grid, true, 1, 512},
    {Extent::grid, false, 1, 1024},   {Extent::grid, false, 4, 512},
    {Extent::grid, false, 8, 512}};

constexpr const ChipKernel &properties(const ResidentKernel kernel)
{
  return resident_kernels[static_cast<int>(kernel)];
}

/// Returns the maximum number of threads per block of @p kernel.
template <class Kernel>
constexpr int max_threads(const Kernel kernel)
{
  return properties(kernel).max_threads;
}

/// Returns the maximum number of rows per thread of @p kernel.
template <class Kernel>
constexpr int rows_per_thread(const Kernel kernel)
{
  return properties(kernel).rows;
}

/// The maximum number of entries of a row that threads keep in registers.
constexpr int entries_in_registers = 8;

/// A thread has registers for eight rows if the method has at most this many vectors.
constexpr int max_vectors_for_8_rows = 4;

/// How to run a resident loop, that is, a loop that is one kernel (execution.h).
struct ResidentShape
{
  ResidentKernel kernel;
  int blocks;
  int threads; ///< number per block
  int lanes;   ///< threads that share a row

  /// Returns for example "16 blocks in a cluster, 128 threads per block, matrix in registers".
  std::string description() const;
};

/// Returns whether a system of @p n rows may fit on the chip; if false, no shape fits.
bool may_be_resident(int n, const ResidentLimits &limits);

/// Returns the fastest shape as measured on an H100; nothing if the loop is faster as a CUDA graph,
/// or if the system does not fit on the chip.
std::optional<ResidentShape> choose_resident_shape(const ResidentSystem &system,
                                                   const ResidentLimits &limits);

/// Returns whether the longest row gives a thread so many entries that the loop should run as a
/// graph. (A circuit of 200,000 unknowns with a supply rail, a very long row, took 7 ms per
/// iteration in a resident loop on an H200.)
bool has_too_long_rows(const ResidentSystem &system, const ResidentShape &shape);

/// The number of threads per block of a kernel that keeps a Krylov basis on the chip
/// (cuda/on_chip/basis.cuh).
constexpr int basis_threads = 512;

/// How to run a loop that keeps a Krylov basis on the chip.
struct BasisShape
{
  int blocks;
  int slice; ///< rows per block
  int lanes; ///< threads that share a row
  bool is_matrix_in_registers;

  /// Returns for example "132 blocks, 512 threads per block, basis in shared memory, matrix in
  /// registers".
  std::string description() const;
};

/// Returns the shape for a basis of system.n_vectors vectors; nothing if the basis does not fit,
/// or if the loop is faster as a graph because the matrix is large or has long rows.
/// @param numbers number of doubles that each block needs in shared memory besides the basis
std::optional<BasisShape> choose_basis_shape(const ResidentSystem &system, int numbers,
                                             const ResidentLimits &limits);
} // namespace femgpu::linalg

#endif
