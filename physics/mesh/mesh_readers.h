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
 * SECTION, the instances of parts, and the faces of *DLOAD, *DFLUX, *FILM and *RADIATE, which
 * become surfaces such as dload_1. Follows *INCLUDE. Other keywords are ignored, except those that
 * create or move nodes and elements, which are rejected. Format: "Abaqus Keywords Reference
 * Manual"; CalculiX CrunchiX user's manual.
 *
 * Sets define ids and names, and may overlap (group_classes.h). A number in a set's name, alone or
 * after EB (cells) or SS (sides), is the id that the set requests. The other sets get their ids in
 * this order: element sets of sections (for cells) and surfaces (for sides); sets of *ELSET; sets
 * of *ELEMENT; node sets, each of which denotes the boundary sides whose nodes it contains; faces
 * of loads. Among sets of the same kind, the smallest comes first.
 * @param name name of the file, for messages
 * @param text contents of the file
 * @throws InputError "FILE:LINE: …" if the file is truncated, contains unknown element types, or
 * violates the format
 */
MeshTable read_abaqus_file(const std::string &name, std::string_view text, int dim);

/**
 * Reads a file of gmsh, .msh in ASCII of version 2 or 4.1. Every token is checked, so that messages
 * contain a line and a remedy. Format: https://gmsh.info/doc/texinfo/gmsh.html, section "MSH file
 * format".
 * @param name name of the file, for messages
 * @param text contents of the file
 * @param dim dimension of the mesh
 * @throws InputError "FILE:LINE: …" if the file is binary or truncated, has another version,
 * violates the format, or contains elements of order 3 or more or of unknown type
 * @throws InputError if the name of a group is empty, a number, or used twice in one dimension
 */
MeshTable read_gmsh_file(const std::string &name, std::string_view text, int dim);
} // namespace femgpu

#endif
