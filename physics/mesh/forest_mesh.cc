#include "physics/mesh/forest_mesh.h"

#include <deal.II/distributed/p4est_wrappers.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Is told by p4est of each quadrant: is it to be refined? The forest points to the level wanted.
template <int dim>
int is_below_level(typename internal::p4est::types<dim>::forest *const forest,
                   typename internal::p4est::types<dim>::topidx /* tree */,
                   typename internal::p4est::types<dim>::quadrant *const quadrant)
{
  return quadrant->level < *static_cast<int *>(forest->user_pointer) ? 1 : 0;
}
} // namespace

template <int dim>
ForestMesh<dim>::ForestMesh(MPI_Comm communicator)
    : parallel::distributed::Triangulation<dim>(communicator, Triangulation<dim>::none)
{}

template <int dim>
void ForestMesh<dim>::refine_all(const unsigned int times)
{
  if (times < 2 || this->n_global_levels() > 1) {
    this->refine_global(times);
    return;
  }
  using Functions = internal::p4est::functions<dim>;
  using Forest = typename internal::p4est::types<dim>::forest;
  int level = static_cast<int>(times);
  const std::unique_ptr<Forest, void (*)(Forest *)> forest(
      Functions::copy_forest(const_cast<Forest *>(this->get_p4est()), /* data */ 0),
      Functions::destroy);
  forest->user_pointer = &level;
  Functions::refine(forest.get(), /* recursive */ 1, is_below_level<dim>, nullptr);
  Functions::partition(forest.get(), /* keeps families together */ 1, nullptr);
  is_loading = this->get_periodic_face_map().empty();
  this->load(forest.get());
  is_loading = false;
  this->signals.create(); // which DoFHandlers of the coarse mesh wait for, and load() forgets
}

template <int dim>
bool ForestMesh<dim>::prepare_coarsening_and_refinement()
{
  if (!is_loading)
    return parallel::distributed::Triangulation<dim>::prepare_coarsening_and_refinement();
  std::vector<int> finest(this->n_vertices(), 0); // level of the cells around, once refined
  bool any_flags = false;
  const auto add = [&](const auto &cell) {
    for (const auto v : cell->vertex_indices())
      finest[cell->vertex_index(v)] = std::max(finest[cell->vertex_index(v)], cell->level() + 1);
    any_flags = true;
  };
  for (const auto &cell : this->active_cell_iterators()) {
    cell->clear_coarsen_flag(); // cells that are there for their neighbours alone
    if (cell->refine_flag_set())
      add(cell);
  }
  bool has_changed = false;
  for (bool changes = any_flags; changes;) {
    changes = false;
    for (const auto &cell : this->active_cell_iterators()) {
      const auto is_too_fine = [&](const unsigned int v) {
        return finest[cell->vertex_index(v)] > cell->level() + 1;
      };
      const auto vertices = cell->vertex_indices();
      if (!cell->refine_flag_set() && std::any_of(vertices.begin(), vertices.end(), is_too_fine)) {
        cell->set_refine_flag();
        add(cell);
        changes = has_changed = true;
      }
    }
  }
  return has_changed;
}

template class ForestMesh<2>;
template class ForestMesh<3>;
} // namespace femgpu
