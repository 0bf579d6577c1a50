#ifndef femgpu_physics_cell_coupling_h
#define femgpu_physics_cell_coupling_h

#include "physics/discretization.h"

#include <vector>

namespace femgpu
{
/**
 * Which dofs couple in the rows that this rank owns, found row by row from the cells around a dof.
 * All those cells are the rank's own or ghosts, so little is exchanged. Several times quicker than
 * a DynamicSparsityPattern, but for dofs that are free or have a given value only: not for dofs
 * that depend on others, as hanging nodes, whose cells couple dofs that are not their own. The
 * columns are found twice, for their number and for themselves, so that they need no memory before
 * the system has its own.
 */
template <int dim>
class CellCoupling
{
public:
  using Index = dealii::types::global_dof_index;

  /// Collective.
  explicit CellCoupling(const Discretization<dim> &discretization);

  /// Entries in each row that this rank owns, in their order.
  std::vector<unsigned int> row_lengths();

  /// Writes the columns of the @p row-th row that this rank owns, ascending.
  void fill_row(std::size_t row, Index *columns);

private:
  using LocalIndex = unsigned int; ///< owned dofs from 0, then ghosts

  LocalIndex local_index(Index dof) const;
  void find_fixed_dofs(const Discretization<dim> &discretization);
  void add_cells(const Discretization<dim> &discretization);
  void sort_cells_by_dof();
  void find_columns(LocalIndex row);

  Index first_owned;
  LocalIndex n_owned;
  std::vector<Index> ghosts;  ///< ascending
  std::vector<bool> is_fixed; ///< by local index

  // cell c has the free dofs cell_dofs[k], cell_begins[c] <= k < cell_begins[c + 1];
  // the owned dof i has the cells dof_cells[k], dof_begins[i] <= k < dof_begins[i + 1]
  std::vector<std::size_t> cell_begins = {0}, dof_begins;
  std::vector<LocalIndex> cell_dofs, dof_cells;

  std::vector<LocalIndex> columns;   ///< of the row that was looked at last, in no order
  std::vector<unsigned int> seen_by; ///< the last row, counted from 1, that has this column
  unsigned int n_rows_looked_at = 0;
};
} // namespace femgpu

#endif
