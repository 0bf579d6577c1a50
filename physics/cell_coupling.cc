#include "physics/cell_coupling.h"

#include <algorithm>

namespace femgpu
{
using namespace dealii;

template <int dim>
CellCoupling<dim>::CellCoupling(const Discretization<dim> &discretization)
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
  seen_by.assign(node_begins.size() - 1, 0);
}

template <int dim>
std::vector<bool> CellCoupling<dim>::fixed_dofs(const Discretization<dim> &discretization) const
{
  // Asked of the owners: a ghost may be on a boundary that this rank does not see.
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

template <int dim>
auto CellCoupling<dim>::local_index(const Index dof) const -> LocalIndex
{
  const auto owned = dofs.begin() + first_owned;
  if (n_owned > 0 && dof >= *owned && dof < *owned + n_owned)
    return first_owned + (dof - *owned);
  return static_cast<LocalIndex>(std::lower_bound(dofs.begin(), dofs.end(), dof) - dofs.begin());
}

template <int dim>
void CellCoupling<dim>::add_cells(const Discretization<dim> &discretization)
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
    cell_begins.push_back(cell_nodes.size());
  }
}

template <int dim>
void CellCoupling<dim>::sort_cells_by_dof()
{
  dof_begins.assign(dofs.size() + 1, 0);
  for (const LocalIndex i : cell_nodes)
    ++dof_begins[i + 1];
  for (LocalIndex i = 0; i < dofs.size(); ++i)
    dof_begins[i + 1] += dof_begins[i];
  dof_cells.resize(cell_nodes.size());
  std::vector<std::size_t> next(dof_begins.begin(), dof_begins.end() - 1);
  for (LocalIndex cell = 0; cell + 1 < cell_begins.size(); ++cell)
    for (std::size_t k = cell_begins[cell]; k < cell_begins[cell + 1]; ++k)
      dof_cells[next[cell_nodes[k]]++] = cell;
}

/// Dofs that follow each other in the same cells make a node; a dof without cells is one by itself.
template <int dim>
void CellCoupling<dim>::find_nodes()
{
  const auto cells = dof_cells.begin();
  node_of_dof.resize(dofs.size());
  for (LocalIndex i = 0; i < dofs.size(); ++i) {
    const auto begin = cells + dof_begins[i], end = cells + dof_begins[i + 1];
    if (i == 0 || begin == end ||
        !std::equal(begin, end, cells + dof_begins[node_begins.back()],
                    cells + dof_begins[node_begins.back() + 1]))
      node_begins.push_back(i);
    node_of_dof[i] = static_cast<LocalIndex>(node_begins.size()) - 1;
  }
  node_begins.push_back(static_cast<LocalIndex>(dofs.size()));
  std::size_t n = 0, k = 0;
  for (auto cell_end = cell_begins.begin() + 1; cell_end != cell_begins.end(); ++cell_end) {
    for (; k < *cell_end; ++k)
      if (const LocalIndex i = cell_nodes[k]; i == node_begins[node_of_dof[i]])
        cell_nodes[n++] = node_of_dof[i];
    *cell_end = n;
  }
}

template <int dim>
void CellCoupling<dim>::find_columns(const LocalIndex node)
{
  nodes.clear();
  const LocalIndex dof = node_begins[node];
  if (dof_begins[dof] == dof_begins[dof + 1]) {
    nodes.push_back(node);
    return;
  }
  ++n_looked_at;
  for (std::size_t k = dof_begins[dof]; k < dof_begins[dof + 1]; ++k)
    for (std::size_t l = cell_begins[dof_cells[k]]; l < cell_begins[dof_cells[k] + 1]; ++l)
      if (seen_by[cell_nodes[l]] != n_looked_at) {
        seen_by[cell_nodes[l]] = n_looked_at;
        nodes.push_back(cell_nodes[l]);
      }
}

template <int dim>
unsigned int CellCoupling<dim>::n_columns() const
{
  unsigned int n = 0;
  for (const LocalIndex node : nodes)
    n += node_begins[node + 1] - node_begins[node];
  return n;
}

template <int dim>
std::vector<unsigned int> CellCoupling<dim>::row_lengths()
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

template <int dim>
auto CellCoupling<dim>::row_columns(const std::size_t row) -> const std::vector<Index> &
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
    for (LocalIndex i = node_begins[other]; i < node_begins[other + 1]; ++i)
      *next++ = dofs[i];
  return columns;
}

template class CellCoupling<2>;
template class CellCoupling<3>;
} // namespace femgpu
