#ifndef femgpu_physics_gmsh_program_h
#define femgpu_physics_gmsh_program_h

#include "expressions/expression_parser.h"
#include "physics/mesh/mesh_program.h"

#include <string>

namespace femgpu
{
/**
 * Meshes the geometry @p file by gmsh, on one rank. The mesh, the script that gmsh runs and its log
 * are stored in parameters.made_in as STEM.msh, STEM.geo and STEM.log. A geometry without groups
 * gets a boundary id for each face and a material id for each volume (in 2D: curve and face), which
 * are gmsh's numbers. The environment variable FEMGPU_GMSH replaces the program's name.
 * @param halvings the cell size is Mesh/Size divided by 2 this number of times
 * @return the version: "gmsh 4.8.4"
 * @throws InputError with gmsh's messages if gmsh is missing, fails or exceeds its time limit
 * @throws ParameterError if Mesh/Size is no expression, or not positive
 */
template <int dim>
std::string mesh_by_gmsh(const MeshParameters &parameters, const std::string &file,
                         const std::string &stem, const linalg::ExpressionDefinitions &definitions,
                         unsigned int halvings);

/// Converts the mesh @p file by gmsh to version 2.2 of its format, which has no partitions.
/// @return the version, and @throws InputError, like mesh_by_gmsh()
std::string convert_by_gmsh(const MeshParameters &parameters, const std::string &file,
                            const std::string &stem, int dim);
} // namespace femgpu

#endif
