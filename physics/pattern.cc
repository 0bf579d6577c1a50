#include "physics/pattern.h"

#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/sparsity_tools.h>

#include <algorithm>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
/**
 * Finds the couplings of dofs in the rows that this rank owns, from the cells around each dof. All
 * of these cells are owned or ghosts, so little is exchanged. This is several times faster than a
 * DynamicSparsityPattern, but requires that each dof is free or has a prescribed value: dofs that
 * depend on others, such as hanging nodes, couple dofs beyond their cells. Columns are
 * computed twice, to count and to store them, so that they are stored only in the system.
 * Consecutive dofs in the same cells, such as the components of a node, share this computation.
 */
template <int dim>
class CellCoupling
{
public:
  using Index = types::global_dof_index;

  /// Collective. Finds the cells of each relevant dof.
  explicit CellCoupling(const Discretization<dim> &discretization)
      : dofs(discretization.relevant().begin(), discretization.relevant().end()),
        n_owned(static_cast<LocalIndex>(discretization.owned().n_elements()))
  {
    if (n_owned > 0)
      first_owned = static_cast<LocalIndex>(
          std::lower_bound(dofs.begin(), dofs.end(), discretization.owned().nth_index_in_set(0)) -
          dofs.begin());
    add_cells(discretization);
    sort_cells_by_dof();
    find_nodes();
    marks.assign(node_starts.size() - 1, 0);
  }

  /// Returns the number of entries in each row that this rank owns.
  std::vector<unsigned int> row_lengths()
  {
    std::vector<unsigned int> lengths(n_owned);
    for (LocalIndex row = 0; row < n_owned; ++row) {
      const LocalIndex node = node_of_dof[first_owned + row];
      if (row > 0 && node == node_of_dof[first_owned + row - 1]) {
        lengths[row] = lengths[row - 1];
        continue;
      }
      find_columns(node);
      lengths[row] = n_columns();
    }
    return lengths;
  }

  /// Returns the columns, ascending, of row @p row among the rows that this rank owns. The
  /// reference is valid until the next call.
  const std::vector<Index> &row_columns(const std::size_t row)
  {
    const LocalIndex node = node_of_dof[first_owned + row];
    if (node == columns_of)
      return columns;
    columns_of = node;
    find_columns(node);
    std::sort(nodes.begin(), nodes.end());
    columns.resize(n_columns());
    auto next = columns.begin();
    for (const LocalIndex other : nodes)
      for (LocalIndex i = node_starts[other]; i < node_starts[other + 1]; ++i)
        *next++ = dofs[i];
    return columns;
  }

private:
  using LocalIndex = unsigned int; ///< index of a relevant dof or a node, in order of global dofs

  LocalIndex local_index(const Index dof) const
  {
    const auto owned = dofs.begin() + first_owned;
    if (n_owned > 0 && dof >= *owned && dof < *owned + n_owned)
      return first_owned + (dof - *owned);
    return static_cast<LocalIndex>(std::lower_bound(dofs.begin(), dofs.end(), dof) - dofs.begin());
  }

  std::vector<bool> fixed_dofs(const Discretization<dim> &discretization) const
  {
    // The owners decide: a ghost may be on a boundary that this rank does not have.
    FeVector fixed = discretization.make_vector();
    for (LocalIndex i = 0; i < n_owned; ++i)
      fixed.local_element(i) =
          discretization.constraints().is_constrained(dofs[first_owned + i]) ? 1. : 0.;
    fixed.update_ghost_values();
    std::vector<bool> is_fixed(dofs.size());
    for (LocalIndex i = 0; i < is_fixed.size(); ++i)
      is_fixed[i] = fixed(dofs[i]) != 0.;
    return is_fixed;
  }

  void add_cells(const Discretization<dim> &discretization)
  {
    const std::vector<bool> is_fixed = fixed_dofs(discretization);
    std::vector<Index> of_cell(discretization.element().n_dofs_per_cell());
    for (const auto &cell : discretization.cells()) {
      cell->get_dof_indices(of_cell);
      for (const Index dof : of_cell) {
        const LocalIndex i = local_index(dof);
        if (!is_fixed[i])
          cell_nodes.push_back(i);
      }
      cell_starts.push_back(cell_nodes.size());
    }
  }

  void sort_cells_by_dof()
  {
    dof_starts.assign(dofs.size() + 1, 0);
    for (const LocalIndex i : cell_nodes)
      ++dof_starts[i + 1];
    for (LocalIndex i = 0; i < dofs.size(); ++i)
      dof_starts[i + 1] += dof_starts[i];
    dof_cells.resize(cell_nodes.size());
    std::vector<std::size_t> next(dof_starts.begin(), dof_starts.end() - 1);
    for (LocalIndex cell = 0; cell + 1 < cell_starts.size(); ++cell)
      for (std::size_t k = cell_starts[cell]; k < cell_starts[cell + 1]; ++k)
        dof_cells[next[cell_nodes[k]]++] = cell;
  }

  /// Combines consecutive dofs with the same cells into nodes; a dof without cells is a node by
  /// itself.
  void find_nodes()
  {
    const auto cells = dof_cells.begin();
    node_of_dof.resize(dofs.size());
    for (LocalIndex i = 0; i < dofs.size(); ++i) {
      const auto begin = cells + dof_starts[i], end = cells + dof_starts[i + 1];
      if (i == 0 || begin == end ||
          !std::equal(begin, end, cells + dof_starts[node_starts.back()],
                      cells + dof_starts[node_starts.back() + 1]))
        node_starts.push_back(i);
      node_of_dof[i] = static_cast<LocalIndex>(node_starts.size()) - 1;
    }
    node_starts.push_back(static_cast<LocalIndex>(dofs.size()));
    std::size_t n = 0, k = 0;
    for (auto cell_end = cell_starts.begin() + 1; cell_end != cell_starts.end(); ++cell_end) {
      for (; k < *cell_end; ++k)
        if (const LocalIndex i = cell_nodes[k]; i == node_starts[node_of_dof[i]])
          cell_nodes[n++] = node_of_dof[i];
      *cell_end = n;
    }
  }

  void find_columns(const LocalIndex node)
  {
    nodes.clear();
    const LocalIndex dof = node_starts[node];
    if (dof_starts[dof] == dof_starts[dof + 1]) {
      nodes.push_back(node);
      return;
    }
    ++mark;
    for (std::size_t k = dof_starts[dof]; k < dof_starts[dof + 1]; ++k)
      for (std::size_t l = cell_starts[dof_cells[k]]; l < cell_starts[dof_cells[k] + 1]; ++l)
        if (marks[cell_nodes[l]] != mark) {
          marks[cell_nodes[l]] = mark;
          nodes.push_back(cell_nodes[l]);
        }
  }

  unsigned int n_columns() const
  {
    unsigned int n = 0;
    for (const LocalIndex node : nodes)
      n += node_starts[node + 1] - node_starts[node];
    return n;
  }

  std::vector<Index> dofs; ///< global numbers of the relevant dofs
  LocalIndex first_owned = 0, n_owned;

  // Cell c has the nodes (until find_nodes(): the free dofs) cell_nodes[k], cell_starts[c] <= k <
  // cell_starts[c + 1]. Dof i has the cells dof_cells[k], dof_starts[i] <= k < dof_starts[i + 1],
  // or none if its value is prescribed.
  std::vector<std::size_t> cell_starts = {0}, dof_starts;
  std::vector<LocalIndex> cell_nodes, dof_cells;

  // Node n has the dofs node_starts[n] <= i < node_starts[n + 1].
  std::vector<LocalIndex> node_starts, node_of_dof;

  std::vector<LocalIndex> nodes; ///< the nodes coupled to the current node, unordered
  /// For each node, the value of `mark` when find_columns() last found it; 0 if it never did.
  std::vector<unsigned int> marks;
  unsigned int mark = 0;
  std::vector<Index> columns; ///< columns in the rows of node columns_of
  LocalIndex columns_of = numbers::invalid_unsigned_int;
};

template <int dim>
void make_pattern_with_dependent_dofs(const Discretization<dim> &discretization,
                                      linalg::GroupSystem &system)
{
  const IndexSet rows = dofs_written_by_cells(discretization, discretization.constraints());
  const IndexSet &owned = discretization.owned();
  DynamicSparsityPattern pattern(rows);
  std::vector<types::global_dof_index> dofs(discretization.element().n_dofs_per_cell());
  for (const auto &cell : discretization.owned_cells()) {
    cell->get_dof_indices(dofs);
    discretization.constraints().add_entries_local_to_global(dofs, pattern,
                                                             /* keep constrained dofs */ false);
  }
  SparsityTools::distribute_sparsity_pattern(pattern, owned, discretization.communicator(), rows);
  std::vector<unsigned int> lengths;
  for (const auto row : owned)
    lengths.push_back(pattern.row_length(row));
  const auto first = owned.n_elements() > 0 ? owned.nth_index_in_set(0) : 0;
  std::vector<types::global_dof_index> columns;
  system.reinit(
      lengths, [&](const std::size_t row) -> const auto & {
        columns.clear();
        // end(row) searches for the next row with entries, which is too slow for a loop condition
        auto entry = pattern.begin(first + row);
        for (unsigned int k = 0; k < lengths[row]; ++k, ++entry)
          columns.push_back(entry->column());
        return columns;
      });
}
} // namespace

template <int dim>
void make_pattern(const Discretization<dim> &discretization, linalg::GroupSystem &system)
{
  if (discretization.has_linear_constraints()) {
    make_pattern_with_dependent_dofs(discretization, system);
    return;
  }
  CellCoupling<dim> coupling(discretization);
  system.reinit(
      coupling.row_lengths(), [&](const std::size_t row) -> const auto & {
        return coupling.row_columns(row);
      });
}

template void make_pattern(const Discretization<2> &, linalg::GroupSystem &);
template void make_pattern(const Discretization<3> &, linalg::GroupSystem &);
} // namespace femgpu
