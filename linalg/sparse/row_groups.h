#ifndef femgpu_linalg_sparse_row_groups_h
#define femgpu_linalg_sparse_row_groups_h

#include "linalg/sparse/row_workspace.h"

/**
 * @file
 * Groups of consecutive rows with the same columns, such as the rows of a node with several
 * unknowns. Positions found in the first row of a group are valid for all its rows.
 */
namespace femgpu::linalg
{
constexpr int max_rows_per_group = 6; ///< so that groups hold whole nodes of 1, 2, 3 or 6 unknowns

/// A range of consecutive rows.
struct RowRange
{
  int begin, end;
};

/// A view of groups of rows for kernels.
struct RowGroupsView
{
  const int *first_rows;   ///< first row of each group; nullptr: each row is a group
  const int *group_of_row; ///< group of each row; nullptr: each row is a group
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
  int group_of(const int row) const
  {
    return group_of_row == nullptr ? row : group_of_row[row];
  }
};

/// Groups of rows in the memory of an executor.
struct RowGroups
{
  int n_rows;
  RowList first_rows;
  Buffer<int> group_of_row = {}; ///< empty if each row is a group

  explicit RowGroups(const int n) : n_rows(n), first_rows{n}
  {}

  int n() const
  {
    return first_rows.n;
  }
  RowGroupsView view() const
  {
    return {first_rows.data(), group_of_row.data(), n(), n_rows};
  }
  bool are_single_rows() const
  {
    return n() == n_rows;
  }
};

/// Finds groups of up to max_rows_per_group rows. Every row whose number is a multiple of
/// max_rows_per_group begins a group.
template <class Backend>
RowGroups group_rows(const PatternRef &A);
} // namespace femgpu::linalg

#endif
