#ifndef femgpu_physics_mesh_names_h
#define femgpu_physics_mesh_names_h

#include "physics/mesh/mesh_text.h"

#include <string>
#include <vector>

namespace femgpu
{
/// A physical group of gmsh: its dimension (0 points to 3 volumes), its number and its name.
struct PhysicalName
{
  int dimension;
  long long id;
  std::string name;
};

/**
 * Reads the table of names of a gmsh file: @p text stands at the line "$PhysicalNames", and then at
 * "$EndPhysicalNames". Knows no deal.II.
 * @return one entry a line, in their order
 * @throws InputError "FILE:LINE: …" for lines that are not `DIMENSION NUMBER "NAME"`, another
 * number of them than is said, names that are empty, that are numbers, or that two groups of a
 *         dimension have, and for groups with two names
 */
std::vector<PhysicalName> read_physical_names(MeshText &text);
} // namespace femgpu

#endif
