#ifndef femgpu_physics_mesh_mapping_h
#define femgpu_physics_mesh_mapping_h

#include "physics/mesh/mesh.h"

#include <deal.II/fe/mapping.h>
#include <deal.II/grid/tria.h>

#include <memory>

namespace femgpu
{
/// Returns the mapping of the cells of @p mesh. If @p is_curved, some manifolds are not flat, and
/// the mapping has @p degree, but at most 2 for triangles and tetrahedra. Not thread-safe.
template <int dim>
std::unique_ptr<dealii::Mapping<dim>> make_mapping(const dealii::Triangulation<dim> &mesh,
                                                   bool is_curved, unsigned int degree);

template <int dim>
std::unique_ptr<dealii::Mapping<dim>> make_mapping(const Mesh<dim> &mesh, unsigned int degree);

/// Makes each refinement move the vertices of quadrilaterals or hexahedra to their exact positions,
/// if the coarse cells have sides of Mesh/Manifolds or nodes of second order.
template <int dim>
void preserve_curved_cells(dealii::Triangulation<dim> &triangulation);
} // namespace femgpu

#endif
