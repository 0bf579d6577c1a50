#ifndef femgpu_physics_mesh_mapping_h
#define femgpu_physics_mesh_mapping_h

#include "physics/mesh/mesh.h"

#include <deal.II/fe/mapping.h>
#include <deal.II/grid/tria.h>

#include <memory>

namespace femgpu
{
/**
 * Returns a mapping of the cells of @p mesh. The mapping is not thread-safe.
 * @param is_curved whether some manifolds are not flat; if not, the mapping has degree 1
 * @param degree degree of the mapping if @p is_curved; reduced to 2 for triangles and tetrahedra
 */
template <int dim>
std::unique_ptr<dealii::Mapping<dim>> make_mapping(const dealii::Triangulation<dim> &mesh,
                                                   bool is_curved, unsigned int degree);

/// Returns a mapping of the cells of @p mesh. It has degree 1 if the mesh has no curved sides, else
/// @p degree, reduced to 2 for triangles and tetrahedra. The mapping is not thread-safe.
template <int dim>
std::unique_ptr<dealii::Mapping<dim>> make_mapping(const Mesh<dim> &mesh, unsigned int degree);

/// Connects to the refinement signal of @p triangulation, a mesh of quadrilaterals or hexahedra.
/// Each refinement then moves the new vertices in curved coarse cells (curved by Mesh/Manifolds or
/// by nodes of second order) to their exact positions.
template <int dim>
void preserve_curved_cells(dealii::Triangulation<dim> &triangulation);
} // namespace femgpu

#endif
