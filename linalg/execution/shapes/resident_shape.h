#ifndef femgpu_linalg_execution_shapes_resident_shape_h
#define femgpu_linalg_execution_shapes_resident_shape_h

#include "linalg/execution/memory/executor.h"

#include <cstddef>
#include <optional>
#include <string>

namespace femgpu::linalg
{
/// The size of a system.
struct ResidentSystem
{
  int n = 0;
  std::size_t n_nonzeros = 0;
  int longest_row = 0;
  int n_vectors = 0;
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

/// Most threads of a block of each kernel.
constexpr int most_threads(const ResidentKernel kernel)
{
  switch (kernel) {
  case ResidentKernel::block_registers_1:
  case ResidentKernel::block_registers_4:
  case ResidentKernel::cluster_registers_2:
  case ResidentKernel::cluster_registers_4:
    return 256;
  case ResidentKernel::cluster_shared_1:
    return 640;
  case ResidentKernel::grid_shared_1:
    return 1024;
  default:
    return 512;
  }
}

/// Rows that a thread of each kernel can have.
constexpr int rows_per_thread(const ResidentKernel kernel)
{
  switch (kernel) {
  case ResidentKernel::cluster_registers_2:
    return 2;
  case ResidentKernel::block_registers_4:
  case ResidentKernel::cluster_registers_4:
  case ResidentKernel::grid_shared_4:
    return 4;
  case ResidentKernel::grid_shared_8:
    return 8;
  default:
    return 1;
  }
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
