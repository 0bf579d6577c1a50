#include "physics/mesh/forest_refinement.h"

#include <deal.II/distributed/p4est_wrappers.h>

#include <memory>

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
void refine_coarse_mesh(parallel::distributed::Triangulation<dim> &triangulation,
                        const unsigned int times)
{
  using Functions = internal::p4est::functions<dim>;
  using Forest = typename internal::p4est::types<dim>::forest;
  int level = static_cast<int>(times);
  const std::unique_ptr<Forest, void (*)(Forest *)> forest(
      Functions::copy_forest(const_cast<Forest *>(triangulation.get_p4est()), /* data */ 0),
      Functions::destroy);
  forest->user_pointer = &level;
  Functions::refine(forest.get(), /* recursive */ 1, is_below_level<dim>, nullptr);
  Functions::partition(forest.get(), /* keeps families together */ 1, nullptr);
  triangulation.load(forest.get());
  triangulation.signals
      .create(); // which DoFHandlers of the coarse mesh wait for, and load() forgets
}

template void refine_coarse_mesh(parallel::distributed::Triangulation<2> &, unsigned int);
template void refine_coarse_mesh(parallel::distributed::Triangulation<3> &, unsigned int);
} // namespace femgpu
