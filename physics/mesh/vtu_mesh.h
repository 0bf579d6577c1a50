#ifndef femgpu_physics_vtu_mesh_h
#define femgpu_physics_vtu_mesh_h

#include "physics/mesh/mesh_table.h"

#include <string>

namespace femgpu
{
/**
 * Reads the cells of an unstructured grid of VTK, .vtu: data as text, in base64 or appended, also
 * compressed by zlib. The cell array `material_id`, `MaterialID`, `gmsh:physical` or
 * `avsucd:material` has the ids, those of lines (2D) or of triangles and quadrilaterals (3D) beside
 * the cells being boundary ids.
 * Format: "VTK XML file formats", https://docs.vtk.org. deal.II reads only VTU files that it wrote
 * with its own data in them.
 * @param text all of the file
 * @throws InputError that names the file, and the array or the cell
 */
MeshTable read_vtu_mesh(const std::string &name, const std::string &text);
} // namespace femgpu

#endif
