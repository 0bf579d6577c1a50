#ifndef femgpu_physics_gmsh_program_h
#define femgpu_physics_gmsh_program_h

#include "linalg/base/error.h"
#include "physics/mesh/mesh.h"

#include <mpi.h>

#include <string>

/**
 * @file
 * Runs the program gmsh, to mesh geometry files and to convert mesh files that femgpu does not
 * read. The environment variable FEMGPU_GMSH replaces the program's name.
 */
namespace femgpu
{
/// Returns whether @p file is a geometry: .step, .stp, .iges, .igs, .brep or .geo.
bool is_geometry_file(const std::string &file);

/// Returns whether gmsh must convert @p file to a mesh file that femgpu reads: .unv, .bdf, .nas,
/// .mesh, .med and .cgns, and gmsh's own format if it is binary, of version 1 or 4.0, partitioned,
/// or has parametric nodes.
bool needs_conversion(const std::string &file);

/// Checks that parameters that apply to geometry files only are not set for another @p file, or
/// for a generator, whose file is empty. @throws ParameterError
void check_meshing_parameters(const MeshParameters &parameters, const std::string &file);

/// A mesh file that gmsh has written.
struct GmshMesh
{
  std::string file;
  std::string origin; ///< for reports: "meshed by gmsh 4.8.4 from part.step"
};

/**
 * Collective. Meshes or converts @p file by gmsh on the first rank. The mesh, the log and, for
 * geometries, the script that gmsh runs are stored in parameters.made_in as mesh.msh, mesh.log and
 * mesh.geo, or as mesh-N.* after N halvings; the log begins with the command. A geometry without
 * groups gets a boundary id for each face and a material id for each volume (in 2D: curve and
 * face), which are gmsh's numbers.
 * @param halvings the cell size is Mesh/Size divided by 2 this number of times
 * @throws InputError with gmsh's messages if gmsh is missing, fails, exceeds its time limit or
 * finds no cells, or if @p file would be overwritten
 * @throws ParameterError if Mesh/Size is no expression, or not positive
 */
template <int dim>
GmshMesh run_gmsh(const MeshParameters &parameters, const std::string &file,
                  const linalg::ExpressionDefinitions &definitions, unsigned int halvings,
                  MPI_Comm communicator);
} // namespace femgpu

#endif
