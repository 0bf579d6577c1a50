#ifndef femgpu_physics_gmsh_file_h
#define femgpu_physics_gmsh_file_h

#include "physics/mesh/mesh_table.h"

#include <string>
#include <string_view>

namespace femgpu
{
/**
 * Reads a file of gmsh, .msh in ASCII of version 2 or 4.1, and checks it word by word, so that
 * errors have a line and a cure. Knows no deal.II. Format: https://gmsh.info/doc/texinfo/gmsh.html,
 * section "MSH file format".
 * @param name for messages
 * @param text all of the file
 * @param dim of the mesh: parts of smaller dimension than dim - 1 need no single group
 * @throws InputError "FILE:LINE: …" for a binary or truncated file, another version, elements of
 *         order 3 or more or of unknown kind, names that are empty, numbers or those of two groups
 * of a dimension, and whatever else is no such file
 */
MeshTable read_gmsh_file(const std::string &name, std::string_view text, int dim);
} // namespace femgpu

#endif
