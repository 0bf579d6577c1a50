#ifndef femgpu_physics_mesh_mapping_h
#define femgpu_physics_mesh_mapping_h

#include "physics/mesh/mesh.h"

#include <deal.II/fe/mapping.h>
#include <deal.II/grid/tria.h>

#include <memory>

namespace femgpu
{
/// The mapping of the cells of @p mesh, with manifolds that @p is_curved or flat ones: of @p degree
/// if they are curved, of triangles and tetrahedra of degree 2 at most. To be used by one thread.
template <int dim>
std::unique_ptr<dealii::Mapping<dim>> make_mapping(const dealii::Triangulation<dim> &mesh,
                                                   bool is_curved, unsigned int degree);

template <int dim>
std::unique_ptr<dealii::Mapping<dim>> make_mapping(const Mesh<dim> &mesh, unsigned int degree);

/// Puts the vertices of all quadrilaterals or hexahedra, whose coarse cells have sides of
/// Mesh/Manifolds or nodes of second order, to their places after each refinement.
template <int dim>
void keep_curved_cells(dealii::Triangulation<dim> &triangulation);
} // namespace femgpu

#endif
