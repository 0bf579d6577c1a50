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

/// What a mesh file says.
struct MeshFile
{
  MeshTable table; ///< of groups, those that have elements
  /// "FILE:LINE: " of each cell, or what comes nearest to it.
  std::vector<std::string> cell_places;
};

/**
 * Reads a mesh file, whose kind its name's ending tells, into @p coarse. It is
 * checked before deal.II gets its cells.
 * @throws InputError that names file, line or cell where it is known, and the cure
 */
template <int dim>
MeshFile read_mesh_file(const std::string &name, dealii::Triangulation<dim> &coarse);

/// The faces in @p boundary, lines or quadrilaterals and triangles.
template <int dim>
std::vector<dealii::CellData<dim - 1>> &faces_of(dealii::SubCellData &boundary)
{
  if constexpr (dim == 2)
    return boundary.boundary_lines;
  else
    return boundary.boundary_quads;
}

/// Makes @p coarse of cells of one kind, in their order, without the points that none has.
template <int dim>
void create_coarse_mesh(std::vector<dealii::Point<dim>> points,
                        std::vector<dealii::CellData<dim>> cells, dealii::SubCellData boundary,
                        dealii::Triangulation<dim> &coarse);
} // namespace femgpu

#endif
