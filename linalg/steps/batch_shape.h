#ifndef femgpu_linalg_steps_batch_shape_h
#define femgpu_linalg_steps_batch_shape_h

#include "linalg/base/row_starts.h"
#include "linalg/steps/resident_shape.h"

#include <cstddef>
#include <optional>

namespace femgpu::linalg
{
/// The kernels that solve batches. A name says where the kernel keeps the matrix, and the maximum
/// number of rows per thread.
enum class BatchKernel
{
  registers_2,
  shared_1,
  shared_4,
  shared_8
};

/// The properties of the batch kernels, in the order of BatchKernel.
constexpr ChipKernel batch_kernels[] = {{Extent::block, true, 2, 512},
                                        {Extent::block, false, 1, 1024},
                                        {Extent::block, false, 4, 512},
                                        {Extent::block, false, 8, 512}};

constexpr const ChipKernel &properties(const BatchKernel kernel)
{
  return batch_kernels[static_cast<int>(kernel)];
}

/// How a block solves its system. The shape, and thus the order of all sums, depends only on this
/// system, not on the other systems of the batch.
struct BatchShape
{
  BatchKernel kernel;
  int threads;
  int lanes; ///< threads that share a row

  bool operator==(const BatchShape &other) const
  {
    return kernel == other.kernel && threads == other.threads && lanes == other.lanes;
  }
};

/// Returns the maximum number of rows of a system that one block can solve with a method that has
/// @p n_vectors vectors.
int max_rows_in_batch(int n_vectors);

/// Returns the shape for a system; nothing if the system is too large.
std::optional<BatchShape> choose_batch_shape(const ResidentSystem &system);

/// Returns the bytes of shared memory for all entries of a matrix with @p n rows; 0 if the kernel
/// keeps the matrix in registers.
/// @param row_starts n + 1 starts in host memory
std::size_t shared_bytes_of_entries(const BatchShape &shape, int n, const RowStarts &row_starts);
} // namespace femgpu::linalg

#endif
