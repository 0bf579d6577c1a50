#ifndef femgpu_physics_mesh_readers_h
#define femgpu_physics_mesh_readers_h

#include "physics/mesh/mesh_table.h"

#include <string>
#include <string_view>

/**
 * @file
 * Readers of mesh files, one for each format. They do not use deal.II's triangulations.
 */
namespace femgpu
{
/**
 * Reads the mesh in an input file of Abaqus, .inp, as written by Abaqus, CalculiX, Cubit and gmsh:
 * *NODE, *ELEMENT, *NSET, *ELSET, *SURFACE, and the element sets of *SOLID SECTION and *SHELL
 * SECTION. Other keywords are ignored, except those that create or move nodes and elements, which
 * are rejected. Format: "Abaqus Keywords Reference Manual"; CalculiX CrunchiX user's manual.
 *
 * Sets define ids and names. If sets have a common cell or side, precedence is: first, sets whose
 * names are numbers, `EB1` (of cells) or `SS1` (of sides); then element sets of sections for cells,
 * and surfaces for sides; then sets of *ELSET; then sets of *ELEMENT; last, node sets, which
 * contain the boundary sides whose nodes they contain. Of equal ones, the smallest takes
 * precedence. A set that keeps only some of its members has an unusable name, see UnusableName.
 * @param name for messages
 * @param text the whole file
 * @throws InputError "FILE:LINE: …" if the file is truncated, contains unknown element types, or
 * violates the format
 */
MeshTable read_abaqus_file(const std::string &name, std::string_view text, int dim);

/**
 * Reads a file of gmsh, .msh in ASCII of version 2 or 4.1. Every token is checked, so that messages
 * contain a line and a remedy. Format: https://gmsh.info/doc/texinfo/gmsh.html, section "MSH file
 * format".
 * @param name for messages
 * @param text the whole file
 * @param dim of the mesh: entities of dimension less than dim - 1 may be in several groups
 * @throws InputError "FILE:LINE: …" if the file is binary or truncated, has another version,
 * contains elements of order 3 or more or of unknown type, violates the format, or if the name of a
 * group is empty, a number or used twice in one dimension
 */
MeshTable read_gmsh_file(const std::string &name, std::string_view text, int dim);

/**
 * Reads the cells of an unstructured grid of VTK, .vtu. Data may be text, base64 or appended, and
 * compressed by zlib. The cell array `material_id`, `MaterialID`, `gmsh:physical` or
 * `avsucd:material` contains the ids. For lines (2D), or triangles and quadrilaterals (3D), these
 * are boundary ids. Format: "VTK XML file formats", https://docs.vtk.org. deal.II itself reads only
 * VTU files that contain its own serialised data.
 * @param text the whole file
 * @throws InputError with the file, and the array or the cell
 */
MeshTable read_vtu_mesh(const std::string &name, const std::string &text);
} // namespace femgpu

#endif
