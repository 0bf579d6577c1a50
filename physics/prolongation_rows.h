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

/// One of the parts that all cores work on.
struct Part
{
  std::size_t begin, end, number;
};

/// Calls f for parts of 0 <= i < n of about equal size. @throws what @p f throws for one of them
void for_parts(std::size_t n, const std::function<void(const Part &)> &f);

/// How many these are; they depend on n alone.
std::size_t number_of_parts(std::size_t n);

/// What @p append appends to an empty list for each part of 0 <= i < n, one part after the other.
linalg::RawVector<int>
list_by_parts(std::size_t n, const std::function<void(const Part &, std::vector<int> &)> &append);

/// The same for rows. @param n of what the parts are made of, such as nodes
linalg::HostProlongation
rows_by_parts(std::size_t n, int n_columns,
              const std::function<void(const Part &, linalg::HostProlongation &)> &append);

/// Numbers the columns, global ones, as a part does that has @p n of them from @p first on: its own
/// from 0 on, and then those of others, its ghosts.
void number_columns(linalg::HostProlongation &P, long long first, int n);
} // namespace femgpu

#endif
