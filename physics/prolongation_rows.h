#ifndef femgpu_physics_prolongation_rows_h
#define femgpu_physics_prolongation_rows_h

#include "linalg/base/unknowns.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace femgpu
{
/// A term of a prolongation's row: @p value times unknown @p column.
struct ProlongationTerm
{
  int column;
  double value;
};

/// Sorts @p terms and appends them to @p P as a row. Terms of the same column are added up.
void end_row(std::vector<ProlongationTerm> &terms, linalg::HostProlongation &P);

/// A range begin <= i < end of indices that one task processes, and its number among all ranges.
struct Chunk
{
  std::size_t begin, end, number;
};

/// Calls f in parallel for consecutive ranges of equal size (the last may be smaller) that cover
/// 0 <= i < n.
/// @throws any exception of @p f
void for_chunks(std::size_t n, const std::function<void(const Chunk &)> &f);

/// Returns the number of ranges of for_chunks(n), which depends only on n.
std::size_t number_of_chunks(std::size_t n);

/// Calls @p append for the ranges of for_chunks(n) and concatenates the lists in range order.
linalg::RawVector<int>
list_by_chunks(std::size_t n, const std::function<void(const Chunk &, std::vector<int> &)> &append);

/// Calls @p append for the ranges of for_chunks(n) and concatenates the rows in range order.
/// @param n number of indices to process, for example of nodes with several rows each
linalg::HostProlongation
rows_by_chunks(std::size_t n, int n_columns,
               const std::function<void(const Chunk &, linalg::HostProlongation &)> &append);

/// Converts the global column numbers of @p P to the local numbers of a rank that owns columns
/// @p first to @p first + @p n - 1: owned columns are numbered from 0, and ghosts follow.
void number_columns(linalg::HostProlongation &P, long long first, int n);
} // namespace femgpu

#endif
