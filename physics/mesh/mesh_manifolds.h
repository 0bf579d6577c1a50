#ifndef femgpu_physics_mesh_manifolds_h
#define femgpu_physics_mesh_manifolds_h

#include "physics/base/regions.h"
#include "physics/mesh/mesh_table.h"

#include <deal.II/grid/tria.h>

#include <string>

namespace femgpu
{
/**
 * Assigns manifolds to the coarse mesh @p coarse. @p text lists the sides that lie on surfaces, as
 * "ids: sphere CX, CY, CZ; ids: cylinder PX, PY, PZ, DX, DY, DZ; ids: flat" and so on, with
 * boundary ids or names of @p regions. Other edges and faces follow the nodes of second order in
 * @p table. Refinement puts new nodes on the manifolds. Quadrilaterals and hexahedra follow their
 * curved edges (mesh_mapping.h); triangles and tetrahedra have straight edges in the interior.
 * @return whether any manifold is curved
 * @throws ParameterError on a syntax error, if nodes of a side do not lie on its surface, or if the
 * generator has already defined curved manifolds
 * @throws InputError if adjacent cells have different nodes of second order on the same edge or
 * face
 */
template <int dim>
bool assign_manifolds(const std::string &text, const MeshRegions &regions, const MeshTable &table,
                      dealii::Triangulation<dim> &coarse);
} // namespace femgpu

#endif
