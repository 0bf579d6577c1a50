#ifndef femgpu_linalg_steps_resident_shape_h
#define femgpu_linalg_steps_resident_shape_h

#include "linalg/memory/executor.h"

#include <cstddef>
#include <optional>
#include <string>

namespace femgpu::linalg
{
constexpr int warp_size = 32;

/// The size of a system.
struct ResidentSystem
{
  int n = 0;
  std::size_t n_nonzeros = 0;
  int longest_row = 0;
  int n_vectors = 0;
};

/// Which blocks a kernel that keeps a matrix on the chip has.
enum class Extent
{
  block,
  cluster,
  grid ///< all that the device holds at one time
};

/// A kernel that keeps a matrix on the chip.
struct ChipKernel
{
  Extent extent;
  bool is_matrix_in_registers; ///< else in shared memory
  int rows;                    ///< that a thread can have
  int most_threads;            ///< of a block
};

/// The resident kernels there are; the number is that of rows a thread can have.
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

/// They, in their order.
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

/// Of a block of @p kernel.
template <class Kernel>
constexpr int most_threads(const Kernel kernel)
{
  return properties(kernel).most_threads;
}

/// That a thread of @p kernel can have.
template <class Kernel>
constexpr int rows_per_thread(const Kernel kernel)
{
  return properties(kernel).rows;
}

/// Entries of a row that threads keep in registers.
constexpr int entries_in_registers = 8;

/// Vectors of a method whose rows fit eight times into the registers of a thread.
constexpr int most_vectors_of_8_rows = 4;

/// A way to run a resident loop.
struct ResidentShape
{
  ResidentKernel kernel;
  int blocks;
  int threads; ///< of a block
  int lanes;   ///< threads that share a row

  /// "16 blocks in a cluster, 128 threads a block, matrix in registers"
  std::string description() const;
};

/// Could a system of @p n rows be resident at all?
bool may_be_resident(int n, const ResidentLimits &limits);

/// The fastest way, as measured on an H100; none where the loop is faster as a graph, or
/// impossible.
std::optional<ResidentShape> choose_resident_shape(const ResidentSystem &system,
                                                   const ResidentLimits &limits);

/// Does a thread have so long a row that the loop should be a graph? (A circuit of 200,000 unknowns
/// with a rail took 7 ms an iteration on the chip of an H200.)
bool waits_for_long_rows(const ResidentSystem &system, const ResidentShape &shape);

/// Threads of a block that keeps a basis on the chip; see cuda/on_chip/basis.cuh.
constexpr int basis_threads = 512;

/// A way to run a loop whose vectors make a basis.
struct BasisShape
{
  int blocks;
  int slice; ///< rows of a block
  int lanes; ///< threads that share a row
  bool is_matrix_in_registers;

  /// "132 blocks, 512 threads a block, basis in shared memory, matrix in registers"
  std::string description() const;
};

/// The way for a basis of system.n_vectors vectors; none where it has no place, or where rows are
/// so long or so different that the loop is faster as a graph.
/// @param numbers that each block needs in its shared memory besides
std::optional<BasisShape> choose_basis_shape(const ResidentSystem &system, int numbers,
                                             const ResidentLimits &limits);
} // namespace femgpu::linalg

#endif
