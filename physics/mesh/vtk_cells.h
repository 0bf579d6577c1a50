#ifndef femgpu_physics_vtk_cells_h
#define femgpu_physics_vtk_cells_h

#include "physics/mesh/mesh_table.h"

#include <string>
#include <vector>

namespace femgpu
{
/// The cells of an unstructured grid of VTK, as all of its formats have them.
struct VtkCells
{
  std::vector<double> types;  ///< VTK's numbers of kinds
  std::vector<double> ends;   ///< one past the last node of each cell in nodes
  std::vector<double> nodes;  ///< indices of points
  std::vector<long long> ids; ///< as numbers of materials or of parts of the boundary
};

/// The arrays of cells that have ids, the first one that is there counts.
const std::vector<std::string> &vtk_id_arrays();

/// The values of the array @p name of the mesh file @p file as ids. @throws InputError
std::vector<long long> vtk_ids(const std::string &file, const std::string &name,
                               const std::vector<double> &values);

/// Adds @p cells to @p table, which has its file and points. @throws InputError that names the cell
void add_vtk_cells(const VtkCells &cells, MeshTable &table);
} // namespace femgpu

#endif
