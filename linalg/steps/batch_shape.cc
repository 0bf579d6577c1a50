#include "linalg/steps/batch_shape.h"

#include <algorithm>

namespace femgpu::linalg
{
namespace
{
/// Rounds @p threads up to one of a few block sizes, so that many systems have the same shape.
int block_size_for(const int threads)
{
  constexpr int step = 128;
  int block = warp_size;
  while (block < threads)
    block += block < step ? block : step;
  return block;
}

BatchShape shape_for(const BatchKernel kernel, const int n, const int lanes)
{
  const int rows = rows_per_thread(kernel);
  return {kernel, block_size_for((n + rows - 1) / rows * lanes), lanes};
}

/// Returns how many threads share a row of @p mean_length entries in a block with at least one
/// thread per row.
int lanes_for(const double mean_length, const int n)
{
  int lanes = 1;
  while (2 * lanes * n <= max_threads(BatchKernel::shared_1) && lanes < 16 &&
         mean_length / lanes > 8.)
    lanes *= 2;
  return lanes;
}

constexpr int max_rows(const BatchKernel kernel)
{
  return max_threads(kernel) * rows_per_thread(kernel);
}
} // namespace

int max_rows_in_batch(const int n_vectors)
{
  return max_rows(n_vectors <= max_vectors_for_8_rows ? BatchKernel::shared_8
                                                      : BatchKernel::shared_4);
}

std::optional<BatchShape> choose_batch_shape(const ResidentSystem &system)
{
  using Kernel = BatchKernel;
  const int n = system.n;
  // Two rows per thread even for small systems: more blocks per multiprocessor hide each other's
  // latencies. On an H100, 225 rows took 0.8 of the time that they take with one row per thread.
  if (system.longest_row <= entries_in_registers && n <= max_rows(Kernel::registers_2))
    return shape_for(Kernel::registers_2, n, 1);
  if (n <= max_rows(Kernel::shared_1)) {
    const double mean_length = static_cast<double>(system.n_nonzeros) / std::max(n, 1);
    return shape_for(Kernel::shared_1, n, lanes_for(mean_length, n));
  }
  if (n > max_rows_in_batch(system.n_vectors))
    return {};
  return shape_for(n <= max_rows(Kernel::shared_4) ? Kernel::shared_4 : Kernel::shared_8, n, 1);
}

std::size_t shared_bytes_of_entries(const BatchShape &shape, const int n,
                                    const RowStarts &row_starts)
{
  if (shape.kernel == BatchKernel::registers_2)
    return 0;
  // A warp's rows are padded to the length of the longest of them: see SharedEntries.
  const int rows_of_warp = warp_size / shape.lanes;
  std::size_t total_width = 0;
  for (int first = 0; first < n; first += rows_of_warp) {
    int width = 0;
    for (int i = first; i < std::min(first + rows_of_warp, n); ++i)
      width = std::max(width, (row_starts.length(i) + shape.lanes - 1) / shape.lanes);
    total_width += static_cast<std::size_t>(width);
  }
  return (sizeof(double) + sizeof(unsigned int)) * warp_size * total_width;
}
} // namespace femgpu::linalg
