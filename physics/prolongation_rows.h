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

/// Appends a row with these terms to @p P. Columns may be repeated and unordered.
void end_row(std::vector<ProlongationTerm> &terms, linalg::HostProlongation &P);

/// A range of indices that one task processes.
struct Chunk
{
  std::size_t begin, end, number;
};

/// Calls f in parallel for ranges of 0 <= i < n of about equal size. @throws any exception of @p f
void for_chunks(std::size_t n, const std::function<void(const Chunk &)> &f);

/// Returns the number of ranges, which depends only on n.
std::size_t number_of_chunks(std::size_t n);

/// Concatenates, in order, the lists that @p append makes for the ranges of 0 <= i < n.
linalg::RawVector<int>
list_by_chunks(std::size_t n, const std::function<void(const Chunk &, std::vector<int> &)> &append);

/// Concatenates, in order, the rows that @p append makes for the ranges of 0 <= i < n.
/// @param n number of items, such as nodes
linalg::HostProlongation
rows_by_chunks(std::size_t n, int n_columns,
               const std::function<void(const Chunk &, linalg::HostProlongation &)> &append);

/// Converts global column numbers to those of a rank that owns @p n columns from @p first on: owned
/// columns start at 0, ghosts follow.
void number_columns(linalg::HostProlongation &P, long long first, int n);
} // namespace femgpu

#endif
