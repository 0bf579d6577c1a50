#ifndef femgpu_physics_mesh_file_h
#define femgpu_physics_mesh_file_h

#include "physics/mesh/mesh_table.h"
#include "physics/mesh/regions.h"

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

/// What of a mesh file is not in the triangulation.
struct MeshFileInfo
{
  std::map<std::string, MeshRegions::BoundaryId> boundary_names;
  std::map<std::string, MeshRegions::MaterialId> material_names;
  /// Names that stand for no id, with the reason and the cure.
  std::map<std::string, std::string> unusable_boundary_names, unusable_material_names;
  /// Curves in 3D, and points, by name, in the order of the file.
  struct Lower
  {
    PhysicalName group;
    std::vector<MeshElement> elements; ///< with indices of points
  };
  std::vector<Lower> lower_parts;
  std::vector<std::array<double, 3>> points; ///< of lower_parts
  /// "FILE:LINE: " of each cell, or what comes nearest to it.
  std::vector<std::string> cell_places;
  std::vector<MiddleNode> middle_nodes; ///< that curve the cells
  std::vector<std::string> warnings;
};

/**
 * Reads a mesh file, whose kind its name's ending tells, into @p coarse. It is
 * checked before deal.II gets its cells.
 * @throws InputError that names file, line or cell where it is known, and the cure
 */
template <int dim>
MeshFileInfo read_mesh_file(const std::string &name, dealii::Triangulation<dim> &coarse);
} // namespace femgpu

#endif
