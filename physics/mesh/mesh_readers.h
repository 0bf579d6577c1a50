#ifndef femgpu_physics_mesh_readers_h
#define femgpu_physics_mesh_readers_h

#include "physics/mesh/mesh_table.h"

#include <string>
#include <string_view>

/**
 * @file
 * One reader for each kind of mesh file. They make no mesh of deal.II.
 */
namespace femgpu
{
/**
 * Reads the mesh of an input file of Abaqus, .inp, as Abaqus, CalculiX, Cubit and gmsh write it:
 * *NODE, *ELEMENT, *NSET, *ELSET, *SURFACE, and the element sets of *SOLID SECTION and *SHELL
 * SECTION. Other keywords are passed over, but for those that make or move nodes and elements.
 * Format: "Abaqus Keywords Reference Manual"; CalculiX CrunchiX user's manual.
 *
 * Sets give ids and names. Of sets with a common cell or side, those whose names are numbers,
 * `EB1` (of cells) or `SS1` (of sides) come first; then cells have the element sets of sections,
 * sides the surfaces; then those of *ELSET; then those of *ELEMENT, and last node sets, which have
 * the sides on the boundary whose nodes they have; among equals the smallest. What has only a part
 * left is no name that can be used, see UnusableName.
 * @param name for messages
 * @param text all of the file
 * @throws InputError "FILE:LINE: …" for a truncated file, elements of unknown kind, and whatever
 * else is no such file
 */
MeshTable read_abaqus_file(const std::string &name, std::string_view text, int dim);

/**
 * Reads a file of gmsh, .msh in ASCII of version 2 or 4.1, and checks it word by word, so that
 * errors have a line and a cure. Format: https://gmsh.info/doc/texinfo/gmsh.html,
 * section "MSH file format".
 * @param name for messages
 * @param text all of the file
 * @param dim of the mesh: parts of smaller dimension than dim - 1 need no single group
 * @throws InputError "FILE:LINE: …" for a binary or truncated file, another version, elements of
 *         order 3 or more or of unknown kind, names that are empty, numbers or those of two groups
 * of a dimension, and whatever else is no such file
 */
MeshTable read_gmsh_file(const std::string &name, std::string_view text, int dim);

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
