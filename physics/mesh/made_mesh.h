#ifndef femgpu_physics_made_mesh_h
#define femgpu_physics_made_mesh_h

#include "linalg/base/error.h"
#include "physics/mesh/mesh.h"

#include <mpi.h>

#include <string>

/**
 * @file
 * Mesh files that other programs make for femgpu: gmsh meshes geometry files, and gmsh or a script
 * of Python (convert_mesh.py), which uses VTK and meshio, converts mesh files that femgpu does not
 * read. The environment variables FEMGPU_GMSH and FEMGPU_PYTHON replace the programs' names.
 */
namespace femgpu
{
/// Returns whether @p file is a geometry: .step, .stp, .iges, .igs, .brep or .geo.
bool is_geometry_file(const std::string &file);

/// Returns whether @p file is a mesh file that must be converted: a file with another extension
/// than .msh and .inp, or of gmsh's own format if it is binary, of version 1 or 4.0 or partitioned.
bool needs_conversion(const std::string &file);

/// Checks that parameters that apply to geometry files only are not set for another @p file, or
/// for a generator, whose file is empty. @throws ParameterError
void check_meshing_parameters(const MeshParameters &parameters, const std::string &file);

/// A mesh file that another program has written.
struct MadeMesh
{
  std::string file;
  std::string origin; ///< for reports: "meshed by gmsh 4.8.4 from part.step"
};

/**
 * Collective. Meshes or converts @p file on the first rank. The mesh, the log and the script are
 * stored in parameters.made_in as mesh.msh, mesh.log and mesh.geo or mesh.py, or as mesh-N.* after
 * N halvings; the log begins with the command.
 * @param halvings the cell size is Mesh/Size divided by 2 this number of times
 * @throws InputError with the program's messages if it is missing, fails, exceeds its time limit or
 * finds no cells, or if the format is unknown or @p file would be overwritten
 * @throws ParameterError if Mesh/Size is no expression, or not positive
 */
template <int dim>
MadeMesh make_mesh_file(const MeshParameters &parameters, const std::string &file,
                        const linalg::ExpressionDefinitions &definitions, unsigned int halvings,
                        MPI_Comm communicator);
} // namespace femgpu

#endif
