#ifndef femgpu_physics_named_places_h
#define femgpu_physics_named_places_h

#include "physics/base/regions.h"
#include "physics/mesh/mesh_table.h"

#include <deal.II/grid/tria.h>

#include <string>

namespace femgpu
{
/**
 * Names parts of the boundary by place, as Mesh/Boundaries describes them. An entry of @p text is
 * "name: condition", with an expression that is not zero at all vertices of the faces it names,
 * or "name: ids", with ids and names of @p regions. The faces that a condition names get a new
 * boundary id. Of several conditions that hold on a face, the last one applies.
 * @param coarse coarse mesh, whose boundary ids change
 * @param regions receives the names and ids
 * @throws ParameterError if an entry is wrong, if its name is in use, or if its condition holds on
 * no face
 */
template <int dim>
void name_boundaries(const std::string &text, dealii::Triangulation<dim> &coarse,
                     MeshRegions &regions);

/**
 * Names vertices of the coarse mesh, as Mesh/Named points describes them: "name: x, y, z". Adds
 * them to the groups of @p table.
 * @throws ParameterError if an entry is wrong, if its name is in use, or if the mesh has no vertex
 * there
 */
template <int dim>
void name_points(const std::string &text, const dealii::Triangulation<dim> &coarse,
                 const MeshRegions &regions, MeshTable &table);

/**
 * Names curves on the boundary, as Mesh/Named curves describes them: "name: condition", with an
 * expression that is not zero at both ends of the edges it names. Adds them to the groups of @p
 * table.
 * @throws ParameterError if an entry is wrong, if its name is in use, if its condition holds on no
 * edge, or if @p text is not empty in 2D
 */
template <int dim>
void name_curves(const std::string &text, const dealii::Triangulation<dim> &coarse,
                 const MeshRegions &regions, MeshTable &table);
} // namespace femgpu

#endif
