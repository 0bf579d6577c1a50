#ifndef femgpu_physics_vtk_mesh_h
#define femgpu_physics_vtk_mesh_h

#include "physics/mesh/mesh_table.h"

#include <string>

namespace femgpu
{
/**
 * Reads the cells of an unstructured grid in a legacy file of VTK in ASCII, .vtk, of the versions
 * to 4.2 (nodes of each cell after their number) and 5.1 (offsets and connectivity). The cell array
 * `material_id`, `MaterialID` or `gmsh:physical`, as scalars or in a field, has the ids, as in
 * read_vtu_mesh(). Format: "VTK legacy file formats", https://docs.vtk.org. deal.II reads numbers
 * that are cut off as whatever was in memory.
 * @param text all of the file
 * @throws InputError that names the file, and the line or the cell
 */
MeshTable read_vtk_mesh(const std::string &name, const std::string &text);
} // namespace femgpu

#endif
