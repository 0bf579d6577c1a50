#ifndef femgpu_physics_prolongation_rows_h
#define femgpu_physics_prolongation_rows_h

#include "linalg/base/unknowns.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace femgpu
{
/// An unknown has @p value times another one.
struct ProlongationTerm
{
  int column;
  double value;
};

/// Ends a row of @p P with these terms, whose columns may repeat and come in any order.
void end_row(std::vector<ProlongationTerm> &terms, linalg::HostProlongation &P);

/**
 * Rows that are made by all cores, in parts of about equal size, and stand one after the other.
 * @param n of what the parts are made of, such as nodes
 * @param add_rows (begin, end, P) appends the rows of some of them to an empty P
 */
linalg::HostProlongation rows_by_parts(
    std::size_t n, int n_columns,
    const std::function<void(std::size_t, std::size_t, linalg::HostProlongation &)> &add_rows);

/// Numbers the columns, global ones, as a part does that has @p n of them from @p first on: its own
/// from 0 on, and then those of others, its ghosts.
void number_columns(linalg::HostProlongation &P, long long first, int n);
} // namespace femgpu

#endif
