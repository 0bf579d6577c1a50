#ifndef femgpu_physics_mesh_file_h
#define femgpu_physics_mesh_file_h

#include "physics/mesh/mesh_table.h"

#include <deal.II/grid/tria.h>

#include <string>
#include <vector>

namespace femgpu
{
/**
 * Where the mesh file @p name is: as named, seen from the working directory, or else from
 * @p directory, that of the parameter file.
 * @throws InputError that names both places if it is in neither
 */
std::string find_mesh_file(const std::string &name, const std::string &directory);

/**
 * Reads a mesh file, whose kind its name's ending tells, into @p coarse. It is checked before
 * deal.II gets its cells.
 * @param merging Mesh/Merge nodes, see merge_nodes()
 * @return what the file says, but for groups without elements
 * @throws InputError that names file, line or cell where it is known, and the cure
 */
template <int dim>
MeshTable read_mesh_file(const std::string &name, const std::string &merging,
                         dealii::Triangulation<dim> &coarse);

/// The faces in @p boundary, lines or quadrilaterals and triangles.
template <int dim>
std::vector<dealii::CellData<dim - 1>> &faces_of(dealii::SubCellData &boundary)
{
  if constexpr (dim == 2)
    return boundary.boundary_lines;
  else
    return boundary.boundary_quads;
}
} // namespace femgpu

#endif
