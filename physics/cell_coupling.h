#ifndef femgpu_physics_cell_coupling_h
#define femgpu_physics_cell_coupling_h

#include "physics/discretization.h"

#include <vector>

namespace femgpu
{
/**
 * Which dofs couple in the rows that this rank owns, found from the cells around a dof. All those
 * cells are the rank's own or ghosts, so little is exchanged. Several times quicker than a
 * DynamicSparsityPattern, but for dofs that are free or have a given value only: not for dofs that
 * depend on others, as hanging nodes, whose cells couple dofs that are not their own. The columns
 * are found twice, for their number and for themselves, so that they need no memory before the
 * system has its own; but once only for dofs that follow each other in the same cells, as the
 * components of a node.
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

  /// The columns of the @p row-th row that this rank owns, ascending; valid until the next call.
  const std::vector<Index> &row_columns(std::size_t row);

private:
  using LocalIndex = unsigned int; ///< of relevant dofs or nodes, ascending as the global numbers

  LocalIndex local_index(Index dof) const;
  std::vector<bool> fixed_dofs(const Discretization<dim> &discretization) const;
  void add_cells(const Discretization<dim> &discretization);
  void sort_cells_by_dof();
  void find_nodes();
  void find_columns(LocalIndex node);
  unsigned int n_columns() const;

  std::vector<Index> dofs; ///< global numbers
  LocalIndex first_owned = 0, n_owned;

  // cell c has the nodes, at first the free dofs, cell_nodes[k], cell_begins[c] <= k <
  // cell_begins[c + 1]; dof i has the cells dof_cells[k], dof_begins[i] <= k < dof_begins[i + 1],
  // and if its value is given it has none
  std::vector<std::size_t> cell_begins = {0}, dof_begins;
  std::vector<LocalIndex> cell_nodes, dof_cells;

  // node n has the dofs node_begins[n] <= i < node_begins[n + 1]
  std::vector<LocalIndex> node_begins, node_of_dof;

  std::vector<LocalIndex> nodes;     ///< that couple with the one looked at last, in no order
  std::vector<unsigned int> seen_by; ///< the last node looked at, counted from 1, that couples
  unsigned int n_looked_at = 0;
  std::vector<Index> columns; ///< of the node columns_of
  LocalIndex columns_of = dealii::numbers::invalid_unsigned_int;
};
} // namespace femgpu

#endif
