#ifndef femgpu_physics_refinement_forecast_h
#define femgpu_physics_refinement_forecast_h

#include "physics/discretization.h"

#include <cstddef>
#include <string>

namespace femgpu
{
/**
 * Collective. How many cells refine_initially() would make of the coarse @p mesh, counted without
 * making them: without those that keep neighbours within one level, and with straight sides.
 * Counting ends at about @p most on each rank.
 */
template <int dim>
double forecast_cells(const Mesh<dim> &mesh, unsigned int times, const std::string &expression,
                      double most);

/// Collective. How many cells of quadrilaterals or hexahedra the refinement that is flagged will
/// leave, without those that keep neighbours within one level.
template <int dim>
double cells_after_flags(const Mesh<dim> &mesh);

/**
 * Collective. At least so many dofs the refinement that is flagged will leave, whatever else it
 * refines, or does not coarsen, to keep neighbours within one level. Exact if all quadrilaterals
 * are flagged; of triangles and tetrahedra the dofs that there are.
 */
template <int dim>
std::size_t least_dofs_after_flags(const Discretization<dim> &discretization);
} // namespace femgpu

#endif
