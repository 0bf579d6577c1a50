#include "physics/mesh/forest_mesh.h"

#include "physics/base/deal_ii_compat.h"

#include <deal.II/distributed/p4est_wrappers.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <sc.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Callback for p4est: returns 1 if @p quadrant is to be refined. The forest's user_pointer points
/// to the target level.
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
  this->load(forest.get());
  this->signals.create(); // DoFHandlers need this signal, which load() does not send
}

namespace
{
/// Returns the index of the first cell of tree number @p tree in the cells with these @p levels.
template <int dim>
std::size_t first_cell_of_tree(const std::vector<std::uint8_t> &levels, const std::size_t tree)
{
  std::vector<unsigned int> complete(256, 0); // siblings of each level that are complete
  std::size_t cell = 0;
  for (std::size_t n_trees = 0; n_trees < tree; ++cell) {
    unsigned int level = levels.at(cell);
    while (level > 0 && ++complete[level] == 1U << dim)
      complete[level--] = 0;
    n_trees += level == 0 ? 1 : 0;
  }
  return cell;
}

/// The next of the levels that the cells of a forest are to have.
using NextLevel = std::vector<std::uint8_t>::const_iterator;

/// Callback for p4est, which visits the quadrants along the space-filling curve: returns 1 if
/// @p quadrant is to be refined. The forest's user_pointer points to a NextLevel.
template <int dim>
int is_above_next_level(typename internal::p4est::types<dim>::forest *const forest,
                        typename internal::p4est::types<dim>::topidx /* tree */,
                        typename internal::p4est::types<dim>::quadrant *const quadrant)
{
  NextLevel &next = *static_cast<NextLevel *>(forest->user_pointer);
  if (quadrant->level < *next)
    return 1;
  ++next;
  return 0;
}
} // namespace

template <int dim>
void ForestMesh<dim>::refine_to(const std::vector<std::uint8_t> &levels)
{
  using Functions = internal::p4est::functions<dim>;
  using Forest = typename internal::p4est::types<dim>::forest;
  const std::unique_ptr<Forest, void (*)(Forest *)> forest(
      Functions::new_forest(compat::communicator(*this), this->get_p4est()->connectivity,
                            /* quadrants at least */ 0, /* level at least */ 0, /* uniform */ 1,
                            /* data */ 0, nullptr, nullptr),
      Functions::destroy);
  if (this->n_global_levels() > 1)
    this->load(forest.get());
  const auto first_tree = static_cast<std::size_t>(std::max(forest->first_local_tree, 0));
  NextLevel next = levels.begin();
  if (forest->local_num_quadrants > 0)
    next += static_cast<std::ptrdiff_t>(first_cell_of_tree<dim>(levels, first_tree));
  forest->user_pointer = &next;
  Functions::refine(forest.get(), /* recursive */ 1, is_above_next_level<dim>, nullptr);
  Functions::partition(forest.get(), /* keeps families together */ 1, nullptr);
  this->load(forest.get());
  this->signals.create(); // DoFHandlers need this signal, which load() does not send
}

namespace
{
/// The finest level, after refinement and coarsening, of the cells around each vertex.
template <int dim>
class FinestLevels
{
public:
  using Cell = typename Triangulation<dim>::cell_iterator;

  explicit FinestLevels(const Triangulation<dim> &mesh) : finest(mesh.n_vertices(), 0)
  {
    for (const auto &cell : mesh.active_cell_iterators())
      add(cell);
  }
  void add(const Cell &cell)
  {
    for (const auto v : cell->vertex_indices())
      finest[cell->vertex_index(v)] = std::max(finest[cell->vertex_index(v)], level_of(cell));
  }
  /// Returns whether a neighbour of @p cell will be finer by two levels or more.
  bool is_too_coarse(const Cell &cell) const
  {
    const auto vertices = cell->vertex_indices();
    return std::any_of(vertices.begin(), vertices.end(), [&](const unsigned int v) {
      return finest[cell->vertex_index(v)] > level_of(cell) + 1;
    });
  }

private:
  static int level_of(const Cell &cell)
  {
    return cell->level() + (cell->refine_flag_set() ? 1 : 0) - (cell->coarsen_flag_set() ? 1 : 0);
  }

  std::vector<int> finest;
};

/// Returns whether @p cell, which is flagged for coarsening, can be merged with its siblings.
template <class Cell>
bool can_be_coarsened(const Cell &cell)
{
  if (cell->level() == 0)
    return false;
  for (unsigned int c = 0; c < cell->parent()->n_children(); ++c) {
    const auto sibling = cell->parent()->child(c);
    if (!sibling->is_active() || !sibling->coarsen_flag_set() || sibling->refine_flag_set())
      return false;
  }
  return true;
}
} // namespace

template <int dim>
void ForestMesh<dim>::execute_coarsening_and_refinement()
{
  precedes_forest_update = true;
  parallel::distributed::Triangulation<dim>::execute_coarsening_and_refinement();
}

template <int dim>
bool ForestMesh<dim>::prepare_coarsening_and_refinement()
{
  if (!this->get_periodic_face_map().empty())
    return parallel::distributed::Triangulation<dim>::prepare_coarsening_and_refinement();
  bool has_changed = false;
  for (const auto &cell : this->active_cell_iterators())
    if (cell->coarsen_flag_set() && !can_be_coarsened(cell)) {
      cell->clear_coarsen_flag();
      has_changed = true;
    }
  if (std::exchange(precedes_forest_update, false))
    return has_changed;
  FinestLevels<dim> finest(*this);
  for (bool changes = true; changes; has_changed = has_changed || changes) {
    changes = false;
    // Visits the finest cells first, so that coarser neighbours are flagged in the same loop.
    for (auto cell = this->last_active(); cell != this->end(); --cell) {
      if (cell->refine_flag_set() || !finest.is_too_coarse(cell))
        continue;
      changes = true;
      if (cell->coarsen_flag_set())
        for (unsigned int c = 0; c < cell->parent()->n_children(); ++c) {
          cell->parent()->child(c)->clear_coarsen_flag();
          finest.add(cell->parent()->child(c));
        }
      if (finest.is_too_coarse(cell)) {
        cell->set_refine_flag();
        finest.add(cell);
      }
    }
  }
  return has_changed;
}

namespace
{
std::string messages_of_p4est;
void (*report_and_abort)(const std::exception_ptr &) = nullptr;

/// Callback for p4est: collects messages, because p4est reports an error in several lines.
void collect_message(FILE * /* stream */, const char * /* file */, int /* line */,
                     int /* package */, int /* category */, int /* priority */,
                     const char *const message)
{
  messages_of_p4est += message;
}

void abort_with_messages()
{
  if (messages_of_p4est.find("alloc") != std::string::npos) // "Returned NULL from malloc"
    report_and_abort(std::make_exception_ptr(std::bad_alloc()));
  report_and_abort(
      std::make_exception_ptr(std::runtime_error("p4est failed: " + messages_of_p4est)));
}
} // namespace

void report_errors_of_p4est(void (*report)(const std::exception_ptr &))
{
  report_and_abort = report;
  sc_set_log_defaults(stderr, collect_message, SC_LP_ERROR);
  sc_set_abort_handler(abort_with_messages);
}

template class ForestMesh<2>;
template class ForestMesh<3>;
} // namespace femgpu
