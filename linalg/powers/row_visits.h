#ifndef femgpu_linalg_powers_row_visits_h
#define femgpu_linalg_powers_row_visits_h

#include "linalg/powers/scaled_matrix.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace femgpu::linalg
{
/// What of a block of rows comes from host memory: own rows, and later ones that its steps need.
struct RowVisit
{
  int begin = 0, end = 0;         ///< own rows
  std::vector<int> others;        ///< later rows
  std::vector<std::uint8_t> from; ///< of each row: the first step that it takes in this visit,
  std::vector<std::uint8_t> to;   ///< and the last; they count from 1
  std::vector<unsigned int> slice_starts = {0};

  int n_rows() const
  {
    return end - begin + static_cast<int>(others.size());
  }
  int row(const int k) const
  {
    return k < end - begin ? begin + k : others[k - (end - begin)];
  }
};

/// Where the parts of a visit are in its chunk of bytes, in this order.
struct VisitOffsets
{
  explicit VisitOffsets(const RowVisit &visit);
  std::size_t values = 0, columns, slice_starts, others, from, to, end;
};

/**
 * Visits to blocks of rows, one after the other, that together take all rows of A through `depth`
 * steps. A visit takes its own rows to the last step, and later rows as far as that needs; what
 * earlier visits have done is not done again. So no product is computed twice, and rows that two
 * visits work on come twice.
 */
struct RowVisits
{
  int n = 0, depth = 1, log_slice = 0;
  std::vector<RowVisit> visits;

  std::size_t total_bytes() const;
  std::size_t largest_bytes() const;
};

/**
 * Visits to blocks of nearly equal numbers of entries, each of at most @p most_bytes.
 * @throws DeviceError naming what is needed if a block of a few rows needs more
 */
RowVisits plan_visits_within(const HostCsr &A, int depth, std::size_t most_bytes, int log_slice);

/// Writes a visit's parts with A's entries to a chunk of VisitOffsets::end bytes.
void fill_visit(const ScaledMatrix &A, const RowVisit &visit, int log_slice, char *chunk);
} // namespace femgpu::linalg

#endif
