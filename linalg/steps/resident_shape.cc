#include "linalg/steps/resident_shape.h"

#include <algorithm>

namespace femgpu::linalg
{
namespace
{
int ceil_div(const int a, const int b)
{
  return (a + b - 1) / b;
}

/// Returns the number of threads, at least two warps, for a block with @p rows rows.
int threads_for(const int rows, const int rows_per_thread, const int lanes = 1)
{
  return std::max(ceil_div(ceil_div(rows, rows_per_thread) * lanes, warp_size), 2) * warp_size;
}

std::optional<ResidentShape> choose_register_shape(const ResidentSystem &system,
                                                   const ResidentLimits &limits)
{
  using Kernel = ResidentKernel;
  const int n = system.n;
  if (n <= 256)
    return ResidentShape{Kernel::block_registers_1, 1, threads_for(n, 1), 1};
  if (n <= 1024)
    return ResidentShape{Kernel::block_registers_4, 1, threads_for(n, 4), 1};
  const int cluster = limits.cluster_blocks;
  if (cluster > 0) {
    const int rows = ceil_div(n, cluster);
    if (rows <= 2 * 128)
      return ResidentShape{Kernel::cluster_registers_2, cluster, threads_for(rows, 2), 1};
    if (rows <= 4 * 256)
      return ResidentShape{Kernel::cluster_registers_4, cluster, threads_for(rows, 4), 1};
  }
  const int rows = ceil_div(n, limits.multiprocessors);
  if (rows <= max_threads(Kernel::grid_registers_1))
    return ResidentShape{Kernel::grid_registers_1, limits.multiprocessors, threads_for(rows, 1), 1};
  return {};
}

/// An upper bound for the static shared memory, in bytes, of a block that keeps a part of a basis.
constexpr int reserved_bytes = 6 << 10;
/// The minimum number of rows per block. With fewer rows per block, the barriers of the additional
/// blocks cost more time than these blocks save.
constexpr int min_rows_per_block = 64;
/// The maximum number of entries of a row per thread. All threads wait for the longest row, so with
/// longer rows a CUDA graph is faster, which can use a matrix format for such rows.
constexpr int longest_resident_row = 256;
/// The maximum number of matrix entries of a loop with a basis on the chip: larger matrices need
/// more threads than its blocks have.
constexpr std::size_t max_nonzeros_with_basis = 5000000;

/// Returns how many threads, a power of two, share a row of @p mean_length entries.
int lanes_for(const double mean_length, const int rows, const int threads)
{
  int lanes = 1;
  while (2 * lanes * rows <= threads && lanes < 16 && mean_length / lanes > 10.)
    lanes *= 2;
  return lanes;
}

std::optional<ResidentShape> choose_shared_memory_shape(const ResidentSystem &system,
                                                        const ResidentLimits &limits)
{
  using Kernel = ResidentKernel;
  const double mean_length = static_cast<double>(system.n_nonzeros) / std::max(system.n, 1);
  // The number of stored entries, a value and a column each; padding adds about a tenth.
  const double entries = 1.1 * static_cast<double>(system.n_nonzeros);
  const auto with_lanes = [&](const Kernel kernel, const int blocks) {
    const int rows = ceil_div(system.n, blocks);
    const int lanes = lanes_for(mean_length, rows, max_threads(kernel));
    return ResidentShape{kernel, blocks, threads_for(rows, 1, lanes), lanes};
  };
  const int cluster = limits.cluster_blocks;
  const auto shared_bytes = static_cast<double>(limits.shared_bytes);
  if (cluster > 0 && ceil_div(system.n, cluster) <= max_threads(Kernel::cluster_shared_1) &&
      12. * entries / cluster + 8. * system.n < 0.95 * shared_bytes)
    return with_lanes(Kernel::cluster_shared_1, cluster);
  const int blocks = limits.multiprocessors;
  if (10. * entries > 1.2 * shared_bytes * blocks)
    return {};
  const int rows = ceil_div(system.n, blocks);
  if (rows <= max_threads(Kernel::grid_shared_1))
    return with_lanes(Kernel::grid_shared_1, blocks);
  const int thread_limit = max_threads(Kernel::grid_shared_4);
  if (rows <= 4 * thread_limit)
    return ResidentShape{Kernel::grid_shared_4, blocks, threads_for(rows, 4), 1};
  if (rows <= 8 * thread_limit && system.n_vectors <= max_vectors_for_8_rows)
    return ResidentShape{Kernel::grid_shared_8, blocks, threads_for(rows, 8), 1};
  return {};
}
} // namespace

std::string ResidentShape::description() const
{
  const ChipKernel &chip_kernel = properties(kernel);
  std::string text = blocks == 1 ? "one block" : std::to_string(blocks) + " blocks";
  if (chip_kernel.extent == Extent::cluster)
    text += " in a cluster";
  text += ", " + std::to_string(threads) + " threads per block, matrix in ";
  return text + (chip_kernel.is_matrix_in_registers ? "registers" : "shared memory");
}

bool may_be_resident(const int n, const ResidentLimits &limits)
{
  return n <= 8 * max_threads(ResidentKernel::grid_shared_8) * limits.multiprocessors;
}

std::string BasisShape::description() const
{
  return (blocks == 1 ? "one block" : std::to_string(blocks) + " blocks") + ", " +
         std::to_string(basis_threads) + " threads per block, basis in shared memory, matrix in " +
         (is_matrix_in_registers ? "registers" : "shared memory, as far as it fits");
}

std::optional<BasisShape> choose_basis_shape(const ResidentSystem &system, const int numbers,
                                             const ResidentLimits &limits)
{
  const auto n = static_cast<std::size_t>(system.n),
             columns = static_cast<std::size_t>(system.n_vectors);
  const std::size_t reserved = sizeof(double) * static_cast<std::size_t>(numbers) + reserved_bytes;
  if (n == 0 || limits.shared_bytes < reserved || system.longest_row > longest_resident_row ||
      system.n_nonzeros > max_nonzeros_with_basis)
    return {};
  const std::size_t available = (limits.shared_bytes - reserved) / sizeof(double); // doubles
  constexpr int max_rows = 2 * basis_threads;
  const auto with_blocks = [&](const int blocks) {
    const int slice = ceil_div(system.n, blocks);
    const double mean_length = static_cast<double>(system.n_nonzeros) / system.n;
    const bool is_short = system.longest_row <= entries_in_registers;
    return BasisShape{ceil_div(system.n, slice), slice,
                      is_short ? 1 : lanes_for(mean_length, slice, max_rows), is_short};
  };
  // One block also holds the vector that A multiplies. With long rows, one block would be too slow.
  if (system.n <= max_rows && n * (columns + 1) <= available &&
      system.longest_row <= entries_in_registers)
    return with_blocks(1);
  const int blocks = std::min(ceil_div(system.n, min_rows_per_block), limits.multiprocessors);
  const int rows = ceil_div(system.n, std::max(blocks, 1));
  if (rows > max_rows || static_cast<std::size_t>(rows) * columns > available)
    return {};
  return with_blocks(blocks);
}

std::optional<ResidentShape> choose_resident_shape(const ResidentSystem &system,
                                                   const ResidentLimits &limits)
{
  if (system.n == 0)
    return {};
  if (system.longest_row <= entries_in_registers)
    if (auto shape = choose_register_shape(system, limits))
      return shape;
  return choose_shared_memory_shape(system, limits);
}

bool has_too_long_rows(const ResidentSystem &system, const ResidentShape &shape)
{
  return system.longest_row > longest_resident_row * shape.lanes;
}
} // namespace femgpu::linalg
