#ifndef femgpu_physics_mesh_manifolds_h
#define femgpu_physics_mesh_manifolds_h

#include "physics/base/regions.h"
#include "physics/mesh/mesh_table.h"

#include <deal.II/grid/tria.h>

#include <string>

namespace femgpu
{
/**
 * Gives @p coarse, of level 0, the manifolds of the sides that lie on surfaces by @p text,
 * "ids: sphere CX, CY, CZ; ids: cylinder PX, PY, PZ, DX, DY, DZ; ids: flat" and so on with boundary
 * ids or names of @p regions, and of what else the nodes of second order of @p table curve: new
 * nodes are put there too. Quadrilaterals and hexahedra follow their curved edges (mesh_mapping.h);
 * triangles and tetrahedra have straight edges inside.
 * @return is anything curved?
 * @throws ParameterError for any other text, if nodes of a side do not lie on its surface, and if
 *         the mesh has other manifolds already; InputError if cells have different nodes at the
 *         same edge
 */
template <int dim>
bool curve_sides(const std::string &text, const MeshRegions &regions, const MeshTable &table,
                 dealii::Triangulation<dim> &coarse);
} // namespace femgpu

#endif
