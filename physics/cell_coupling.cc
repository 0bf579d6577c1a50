#include "physics/cell_coupling.h"

#include <algorithm>

namespace femgpu
{
using namespace dealii;

template <int dim>
CellCoupling<dim>::CellCoupling(const Discretization<dim> &discretization)
    : first_owned(
          discretization.owned().n_elements() > 0 ? discretization.owned().nth_index_in_set(0) : 0),
      n_owned(static_cast<LocalIndex>(discretization.owned().n_elements()))
{
  for (const Index dof : discretization.relevant())
    if (dof < first_owned || dof >= first_owned + n_owned)
      ghosts.push_back(dof);
  seen_by.assign(n_owned + ghosts.size(), 0);
  find_fixed_dofs(discretization);
  add_cells(discretization);
  sort_cells_by_dof();
}

template <int dim>
void CellCoupling<dim>::find_fixed_dofs(const Discretization<dim> &discretization)
{
  // Asked of the owners: a ghost may be on a boundary that this rank does not see.
  FeVector fixed = discretization.make_vector();
  for (LocalIndex i = 0; i < n_owned; ++i)
    fixed.local_element(i) = discretization.constraints().is_constrained(first_owned + i) ? 1. : 0.;
  fixed.update_ghost_values();
  is_fixed.resize(n_owned + ghosts.size());
  for (LocalIndex i = 0; i < is_fixed.size(); ++i)
    is_fixed[i] = fixed(i < n_owned ? first_owned + i : ghosts[i - n_owned]) != 0.;
}

template <int dim>
auto CellCoupling<dim>::local_index(const Index dof) const -> LocalIndex
{
  if (dof >= first_owned && dof < first_owned + n_owned)
    return dof - first_owned;
  const auto ghost = std::lower_bound(ghosts.begin(), ghosts.end(), dof);
  return n_owned + static_cast<LocalIndex>(ghost - ghosts.begin());
}

template <int dim>
void CellCoupling<dim>::add_cells(const Discretization<dim> &discretization)
{
  std::vector<Index> dofs(discretization.element().n_dofs_per_cell());
  for (const auto &cell : discretization.cells()) {
    cell->get_dof_indices(dofs);
    for (const Index dof : dofs) {
      const LocalIndex i = local_index(dof);
      if (!is_fixed[i])
        cell_dofs.push_back(i);
    }
    cell_begins.push_back(cell_dofs.size());
  }
}

template <int dim>
void CellCoupling<dim>::sort_cells_by_dof()
{
  dof_begins.assign(n_owned + 1, 0);
  for (const LocalIndex i : cell_dofs)
    if (i < n_owned)
      ++dof_begins[i + 1];
  for (LocalIndex i = 0; i < n_owned; ++i)
    dof_begins[i + 1] += dof_begins[i];
  dof_cells.resize(dof_begins[n_owned]);
  std::vector<std::size_t> next(dof_begins.begin(), dof_begins.end() - 1);
  for (LocalIndex cell = 0; cell + 1 < cell_begins.size(); ++cell)
    for (std::size_t k = cell_begins[cell]; k < cell_begins[cell + 1]; ++k)
      if (cell_dofs[k] < n_owned)
        dof_cells[next[cell_dofs[k]]++] = cell;
}

template <int dim>
void CellCoupling<dim>::find_columns(const LocalIndex row)
{
  columns.clear();
  if (is_fixed[row]) {
    columns.push_back(row);
    return;
  }
  ++n_rows_looked_at;
  for (std::size_t k = dof_begins[row]; k < dof_begins[row + 1]; ++k)
    for (std::size_t l = cell_begins[dof_cells[k]]; l < cell_begins[dof_cells[k] + 1]; ++l)
      if (seen_by[cell_dofs[l]] != n_rows_looked_at) {
        seen_by[cell_dofs[l]] = n_rows_looked_at;
        columns.push_back(cell_dofs[l]);
      }
}

template <int dim>
std::vector<unsigned int> CellCoupling<dim>::row_lengths()
{
  std::vector<unsigned int> lengths(n_owned);
  for (LocalIndex row = 0; row < n_owned; ++row) {
    find_columns(row);
    lengths[row] = static_cast<unsigned int>(columns.size());
  }
  return lengths;
}

template <int dim>
void CellCoupling<dim>::fill_row(const std::size_t row, Index *row_columns)
{
  find_columns(static_cast<LocalIndex>(row));
  Index *end = row_columns;
  for (const LocalIndex i : columns)
    *end++ = i < n_owned ? first_owned + i : ghosts[i - n_owned];
  std::sort(row_columns, end);
}

template class CellCoupling<2>;
template class CellCoupling<3>;
} // namespace femgpu
