#ifndef femgpu_physics_abaqus_file_h
#define femgpu_physics_abaqus_file_h

#include "physics/mesh/mesh_table.h"

#include <string>
#include <string_view>

namespace femgpu
{
/**
 * Reads the mesh of an input file of Abaqus, .inp, as Abaqus, CalculiX, Cubit and gmsh write it:
 * *NODE, *ELEMENT, *NSET, *ELSET, *SURFACE, and the element sets of *SOLID SECTION and *SHELL
 * SECTION. Other keywords are passed over, but for those that make or move nodes and elements.
 * Knows no deal.II. Format: "Abaqus Keywords Reference Manual"; CalculiX CrunchiX user's manual.
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
} // namespace femgpu

#endif
