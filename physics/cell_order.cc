#include "physics/cell_order.h"

#include "physics/base/collective.h"
#include "physics/base/deal_ii_compat.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Returns the cells of level 0 by their coarse cell ids. These are the numbers of triangles and
/// tetrahedra, and of p4est's trees, which follow the space-filling curve.
template <class Container>
std::vector<typename Container::cell_iterator> ordered_roots(const Container &container)
{
  std::vector<typename Container::cell_iterator> roots;
  for (const auto &cell : container.cell_iterators_on_level(0))
    roots.push_back(cell);
  std::sort(roots.begin(), roots.end(), [](const auto &a, const auto &b) {
    return a->id().get_coarse_cell_id() < b->id().get_coarse_cell_id();
  });
  return roots;
}

/// Calls @p use for the active descendants of @p cell that are not artificial, in order.
template <class Cell, class Use>
void for_each_active(const Cell &cell, const Use &use)
{
  if (cell->has_children())
    for (unsigned int c = 0; c < cell->n_children(); ++c)
      for_each_active(cell->child(c), use);
  else if (!cell->is_artificial())
    use(cell);
}
} // namespace

template <int dim>
std::vector<std::uint8_t> levels_of_cells(const Mesh<dim> &mesh)
{
  std::vector<std::uint8_t> levels;
  for (const auto &root : ordered_roots(*mesh.triangulation))
    for_each_active(root, [&](const auto &cell) {
      if (cell->is_locally_owned())
        levels.push_back(static_cast<std::uint8_t>(cell->level()));
    });
  const MPI_Comm communicator = compat::communicator(*mesh.triangulation);
  return Utilities::MPI::broadcast(communicator, gather(std::move(levels), communicator), 0);
}

template <int dim>
CellOrder<dim>::CellOrder(const Discretization<dim> &discretization)
{
  const IndexSet &relevant = discretization.relevant();
  const DoFHandler<dim> &handler = discretization.dofs();
  std::vector<bool> is_taken(relevant.n_elements(), false);
  std::vector<types::global_dof_index> of_cell(handler.get_fe().n_dofs_per_cell());
  const auto add = [&](const auto &cell) {
    if (cell->is_locally_owned())
      cells.push_back({cell->id().get_coarse_cell_id(), cell->active_cell_index(), dofs.size()});
    const typename DoFHandler<dim>::active_cell_iterator active(cell);
    active->get_dof_indices(of_cell);
    for (const auto dof : of_cell) {
      if (!relevant.is_element(dof)) // of a ghost block, but of none of this rank's cells
        continue;
      std::vector<bool>::reference taken = is_taken[relevant.index_within_set(dof)];
      if (!taken && cell->is_locally_owned())
        dofs.push_back(dof);
      taken = true;
    }
  };
  for (const auto &root : ordered_roots(handler))
    for_each_active(root, add);
  if (discretization.mesh().is_simplex)
    return;
  const MPI_Comm communicator = discretization.communicator();
  const auto sizes = Utilities::MPI::all_gather(communicator, std::uint64_t(cells.size()));
  std::uint64_t position =
      std::accumulate(sizes.begin(), sizes.begin() + Utilities::MPI::this_mpi_process(communicator),
                      std::uint64_t(0));
  for (Cell &cell : cells)
    cell.position = position++;
}

template <int dim>
CellValues CellOrder<dim>::values(const std::vector<const FeVector *> &functions,
                                  const Vector<float> &at_cells) const
{
  CellValues result;
  result.values.reserve(dofs.size() * functions.size() + cells.size());
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const std::size_t end = k + 1 < cells.size() ? cells[k + 1].first_dof : dofs.size();
    result.positions.push_back(cells[k].position);
    result.n_dofs.push_back(static_cast<std::uint32_t>(end - cells[k].first_dof));
    for (const FeVector *const function : functions)
      for (std::size_t i = cells[k].first_dof; i < end; ++i)
        result.values.push_back((*function)(dofs[i]));
    result.values.push_back(at_cells.size() > 0 ? at_cells(cells[k].index) : 0.);
  }
  return result;
}

template <int dim>
std::size_t CellOrder<dim>::copy(const CellValues &values, const std::vector<FeVector *> &functions,
                                 Vector<float> &at_cells) const
{
  std::size_t n_copied = 0;
  const double *value = values.values.data();
  auto cell = cells.begin();
  for (std::size_t k = 0; k < values.positions.size(); ++k) {
    const std::size_t n = values.n_dofs[k];
    while (cell != cells.end() && cell->position < values.positions[k])
      ++cell;
    if (cell != cells.end() && cell->position == values.positions[k]) {
      const std::size_t end = cell + 1 == cells.end() ? dofs.size() : (cell + 1)->first_dof;
      if (end - cell->first_dof != n)
        throw std::length_error("another number of dofs");
      const double *of_function = value;
      for (FeVector *const function : functions)
        for (std::size_t i = cell->first_dof; i < end; ++i)
          (*function)(dofs[i]) = *of_function++;
      if (at_cells.size() > 0)
        at_cells(cell->index) = static_cast<float>(*of_function);
      ++n_copied;
    }
    value += n * functions.size() + 1;
  }
  return n_copied;
}

template <int dim>
void CellOrder<dim>::finish(const std::vector<FeVector *> &functions)
{
  // Only the rank that has copied a value holds it; all others hold zero.
  for (FeVector *const function : functions) {
    function->compress(VectorOperation::add);
    function->update_ghost_values();
  }
}

template std::vector<std::uint8_t> levels_of_cells(const Mesh<2> &);
template std::vector<std::uint8_t> levels_of_cells(const Mesh<3> &);
template class CellOrder<2>;
template class CellOrder<3>;
} // namespace femgpu
