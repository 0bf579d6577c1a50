#ifndef femgpu_linalg_powers_row_block_passes_h
#define femgpu_linalg_powers_row_block_passes_h

#include "linalg/powers/row_blocks.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace femgpu::linalg
{
constexpr int log_slice_of_gpu = 5; // a slice has 2^5 rows, one for each thread of a warp

/// The rows that a pass reads from host memory: the own rows of a block, and later rows that the
/// steps of the own rows need.
struct RowBlockPass : RowBlock
{
  std::vector<std::uint8_t> from; ///< first step of each row in this pass; steps count from 1
  std::vector<std::uint8_t> to;   ///< last step of each row in this pass
};

/// A RowBlockPass in the executor's memory.
struct RowBlockPassView : RowBlockView<int>
{
  const std::uint8_t *from, *to;
};

struct RowBlockPassLayout : RowBlockLayout<int>
{
  std::size_t from, to;

  RowBlockPassLayout(const RowBlockPass &pass, const int log_slice)
      : RowBlockLayout(pass, log_slice), from(reserve<std::uint8_t>(pass.from.size())),
        to(reserve<std::uint8_t>(pass.to.size()))
  {}
  RowBlockPassView view(const char *chunk) const
  {
    return {RowBlockLayout::view(chunk), array_at<std::uint8_t>(chunk, from),
            array_at<std::uint8_t>(chunk, to)};
  }
};

/**
 * A sequence of passes over consecutive blocks of rows, which together compute `depth` steps for
 * all own rows of A. A pass computes the remaining steps of its own rows, and the steps of later
 * rows and ghosts that its own rows need, without repeating steps of earlier passes. Hence no
 * product is computed twice, but rows that take part in two passes are transferred twice.
 */
struct RowBlockPasses
{
  int depth = 1, log_slice = 0;
  std::vector<RowBlockPass> passes;

  std::size_t total_bytes() const;
  std::size_t largest_bytes() const;
};

/**
 * Plans passes over blocks of nearly equal numbers of entries, each of at most @p max_bytes.
 * @throws DeviceError with the required size if a block of a few rows needs more
 */
RowBlockPasses plan_passes_within(const ScaledMatrix &A, int depth, std::size_t max_bytes,
                                  int log_slice);

/// Writes @p pass, and the entries of its rows in A, to @p chunk.
void fill_pass(const ScaledMatrix &A, const RowBlockPass &pass, const RowBlockPassLayout &layout,
               char *chunk);
} // namespace femgpu::linalg

#endif
