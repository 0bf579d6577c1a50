#ifndef femgpu_physics_forest_refinement_h
#define femgpu_physics_forest_refinement_h

#include <deal.II/distributed/tria.h>

namespace femgpu
{
/**
 * Collective. Refines all cells of a mesh that was not refined before, @p times. p4est's forest is
 * refined and distributed as a whole, so that each rank makes its own cells once, where
 * Triangulation::refine_global() refines, balances and distributes every level.
 */
template <int dim>
void refine_coarse_mesh(dealii::parallel::distributed::Triangulation<dim> &triangulation,
                        unsigned int times);
} // namespace femgpu

#endif
