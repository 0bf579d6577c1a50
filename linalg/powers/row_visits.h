#ifndef femgpu_linalg_powers_row_visits_h
#define femgpu_linalg_powers_row_visits_h

#include "linalg/powers/row_blocks.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace femgpu::linalg
{
constexpr int log_slice_of_gpu = 5; // the rows of a warp

/// The rows of a block that come from host memory: own rows, and later ones that their steps need.
struct RowVisit : RowBlock
{
  std::vector<std::uint8_t> from; ///< of each row: its first step in this visit
  std::vector<std::uint8_t> to;   ///< and its last one; steps count from 1
};

/// A RowVisit in the executor's memory.
struct VisitView : RowBlockView<int>
{
  const std::uint8_t *from, *to;
};

struct VisitLayout : RowBlockLayout<int>
{
  std::size_t from, to;

  VisitLayout(const RowVisit &visit, const int log_slice)
      : RowBlockLayout(visit, log_slice), from(take<std::uint8_t>(visit.from.size())),
        to(take<std::uint8_t>(visit.to.size()))
  {}
  VisitView view(const char *chunk) const
  {
    return {RowBlockLayout::view(chunk), part<std::uint8_t>(chunk, from),
            part<std::uint8_t>(chunk, to)};
  }
};

/**
 * Visits to consecutive blocks of rows that together take all own rows of A through `depth` steps.
 * A visit takes its own rows to the last step, and later rows and ghosts as far as these need,
 * without repeating steps of earlier visits. Hence no product is computed twice, but rows that take
 * part in two visits are transferred twice.
 */
struct RowVisits
{
  int depth = 1, log_slice = 0;
  std::vector<RowVisit> visits;

  std::size_t total_bytes() const;
  std::size_t largest_bytes() const;
};

/**
 * Plans visits to blocks of nearly equal numbers of entries, each of at most @p most_bytes.
 * @throws DeviceError with the required size if a block of a few rows needs more
 */
RowVisits plan_visits_within(const ScaledMatrix &A, int depth, std::size_t most_bytes,
                             int log_slice);

/// Writes a visit and A's entries to its chunk.
void fill_visit(const ScaledMatrix &A, const RowVisit &visit, const VisitLayout &layout,
                char *chunk);
} // namespace femgpu::linalg

#endif
