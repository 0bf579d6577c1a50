#ifndef femgpu_physics_file_regions_h
#define femgpu_physics_file_regions_h

#include "physics/mesh/mesh.h"
#include "physics/mesh/mesh_table.h"

#include <deal.II/grid/tria.h>

namespace femgpu
{
/**
 * Stores the boundary and material ids of @p coarse in @p mesh, with the names of the mesh file,
 * and the sides inside the body. The sides of a group that also has boundary faces get an id of
 * their own, which the names and the number of the group denote, too.
 */
template <int dim>
void store_sides_and_materials(const MeshTable &table, const dealii::Triangulation<dim> &coarse,
                               Mesh<dim> &mesh);

/// Stores the named curves and points of a file. If a name denotes both a surface and a curve or
/// point set, the surface takes precedence, then the curve.
/// @param coarse coarse mesh, with its manifolds; edges of curves get the ids of the curves
template <int dim>
void store_curves_and_point_sets(const MeshTable &table, dealii::Triangulation<dim> &coarse,
                                 MeshRegions &regions);
} // namespace femgpu

#endif
