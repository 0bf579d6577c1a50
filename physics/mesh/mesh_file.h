#ifndef femgpu_physics_mesh_file_h
#define femgpu_physics_mesh_file_h

#include "physics/mesh/mesh_table.h"

#include <deal.II/grid/tria.h>

#include <string>
#include <vector>

namespace femgpu
{
/**
 * Searches for the mesh file @p name in the working directory, then in @p directory, which contains
 * the parameter file. Returns the path of the file.
 * @throws InputError if the file is in neither directory
 */
std::string find_mesh_file(const std::string &name, const std::string &directory);

/**
 * Reads the mesh file @p name into @p coarse. The extension of the name selects the format. The
 * contents are checked before deal.II gets the cells.
 * @param merging value of Mesh/Merge nodes: 'refuse', 'keep' or a distance
 * @param cells value of Mesh/Cells. Cells of mixed meshes, prisms and pyramids are split into
 * simplices, quadrilaterals and hexahedra only if it is 'simplex' (simplex_split.h)
 * @return the contents of the file, without the names of groups that have no elements
 * @throws InputError if the file cannot be read or is invalid; the message contains the file, the
 * line or cell if known, and the remedy
 */
template <int dim>
MeshTable read_mesh_file(const std::string &name, const std::string &merging,
                         const std::string &cells, dealii::Triangulation<dim> &coarse);

/// Returns the faces in @p boundary: lines in 2D, quadrilaterals and triangles in 3D.
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
