#ifndef femgpu_linalg_sparse_row_groups_h
#define femgpu_linalg_sparse_row_groups_h

#include "linalg/sparse/row_workspace.h"

/**
 * @file
 * Rows with the same columns that follow each other, as those of a node with several unknowns: what
 * is found for the first of a group holds for all.
 */
namespace femgpu::linalg
{
constexpr int most_rows_of_group = 6; ///< whole nodes of 1, 2, 3 or 6 unknowns

/// Some rows that follow each other.
struct RowRange
{
  int begin, end;
};

/// Groups for kernels.
struct RowGroupsView
{
  const int *first_rows; ///< of the groups; nullptr: each row is one
  const int *of_row;     ///< the group of each; nullptr likewise
  int n, n_rows;

  FEMGPU_HD
  RowRange operator[](const int group) const
  {
    if (first_rows == nullptr)
      return {group, group + 1};
    return {first_rows[group], group + 1 < n ? first_rows[group + 1] : n_rows};
  }
  FEMGPU_HD
  int size(const int group) const
  {
    const RowRange range = (*this)[group];
    return range.end - range.begin;
  }
  FEMGPU_HD
  int of(const int row) const
  {
    return of_row == nullptr ? row : of_row[row];
  }
};

/// The same in the memory of an executor.
struct RowGroups
{
  int n_rows;
  RowList first_rows;
  Buffer<int> of_row = {}; ///< empty if each row is a group

  explicit RowGroups(const int n) : n_rows(n), first_rows{n}
  {}

  int n() const
  {
    return first_rows.n;
  }
  RowGroupsView view() const
  {
    return {first_rows.data(), of_row.data(), n(), n_rows};
  }
  bool are_single_rows() const
  {
    return n() == n_rows;
  }
};

/// A group has up to most_rows_of_group rows, and a multiple of this is the first row of one.
template <class Backend>
RowGroups group_rows(const PatternRef &A);
} // namespace femgpu::linalg

#endif
