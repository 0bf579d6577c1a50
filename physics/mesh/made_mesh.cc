#include "physics/mesh/made_mesh.h"

#include "common/atomic_file.h"
#include "linalg/mpi/nodes.h"
#include "physics/base/collective.h"
#include "physics/mesh/gmsh_program.h"
#include "physics/mesh/mesh_text.h"

#include <chrono>
#include <exception>
#include <filesystem>
#include <set>
#include <sstream>

namespace femgpu
{
using namespace dealii;
namespace fs = std::filesystem;

namespace
{
constexpr const char *conversion_script =
#include "convert_mesh_script.h"
    ;

bool has_extension(const std::string &file, const std::set<std::string> &extensions)
{
  return extensions.count(extension_of(file)) > 0;
}

/// Returns whether femgpu itself reads this file of gmsh.
bool is_readable_by_femgpu(const std::string &file)
{
  const std::string text = contents_of_file(file).value_or("");
  std::istringstream begin(text.substr(0, 200));
  std::string section, version;
  int type = 0;
  begin >> section >> version >> type;
  if (section != "$MeshFormat")
    return section != "$NOD"; // version 1 begins with $NOD; the reader reports other beginnings
  return type == 0 && version != "4" && version != "4.0" &&
         text.find("$PartitionedEntities") == std::string::npos;
}

/// Converts the mesh @p file by VTK or meshio. Returns the name and version of the package.
std::string convert_by_python(const MeshParameters &parameters, const std::string &file,
                              const std::string &stem)
{
  const MeshProgram python(parameters, stem, "Python", "FEMGPU_PYTHON", "python3",
                           "Install Python (Debian: apt install python3-vtk9 python3-meshio)");
  write_file(python.path(".py"), conversion_script);
  std::istringstream output(
      python.run({python.path(".py"), file, python.path(".msh")}, "convert '" + file + "'"));
  std::string package;
  for (std::string line; std::getline(output, line);)
    package = line;
  return package;
}

/// Rejects a file with an unknown extension, or one of a format that has no groups.
[[noreturn]] void reject_extension(const std::string &file)
{
  throw InputError("The mesh file '" + file +
                   "' has an unknown extension, or a format without groups of cells and faces. "
                   "Rename the file, or save the mesh in a format that Mesh/File lists, for "
                   "example .msh, .inp, .med or .vtu.");
}

/// Makes the mesh file @p stem. Called on one rank. Returns the name and version of the program.
template <int dim>
std::string make_file(const MeshParameters &parameters, const std::string &file,
                      const fs::path &stem, const linalg::ExpressionDefinitions &definitions,
                      const unsigned int halvings)
{
  static const std::set<std::string> formats_of_gmsh = {".unv",  ".bdf",  ".nas",
                                                        ".mesh", ".cgns", ".msh"};
  static const std::set<std::string> formats_of_python = {
      ".vtu",  ".vtk", ".e",   ".exo", ".ex2", ".g",   ".gen",  ".med",
      ".xdmf", ".xmf", ".avs", ".ucd", ".su2", ".vol", ".meshb"};
  const bool is_geometry = is_geometry_file(file),
             is_of_gmsh = has_extension(file, formats_of_gmsh);
  if (!is_geometry && !is_of_gmsh && !has_extension(file, formats_of_python))
    reject_extension(file);
  std::error_code error;
  fs::create_directories(parameters.made_in, error);
  if (error)
    throw InputError("The directory '" + parameters.made_in + "' for the mesh cannot be created: " +
                     error.message() + ". Check Output/Directory.");
  const std::string path = (fs::path(parameters.made_in) / stem).string();
  for (const std::string extension : {".msh", ".geo", ".log", ".size", ".box", ".py"})
    if (fs::equivalent(file, path + extension, error))
      throw InputError("Mesh/File is '" + file +
                       "', which femgpu would overwrite with a file of its own. Rename it, or set "
                       "another Output/Directory.");
  fs::remove(path + ".msh", error);
  std::string program = is_geometry
                            ? mesh_by_gmsh<dim>(parameters, file, stem, definitions, halvings)
                        : is_of_gmsh ? convert_by_gmsh(parameters, file, stem, dim)
                                     : convert_by_python(parameters, file, stem);
  const std::string text = contents_of_file(path + ".msh").value_or(""), section = "$Elements\n";
  if (const std::size_t at = text.find(section);
      at == std::string::npos || text[at + section.size()] == '0')
    throw InputError(program + " found no " +
                     (!is_geometry ? "cells"
                      : dim == 2   ? "faces to mesh"
                                   : "bodies to mesh") +
                     " in '" + file + "'. Check the file, and Dimension.");
  return program;
}

/// Collective. Throws @p error on all ranks if it is an ErrorType on one of them.
template <class ErrorType>
void rethrow_one(const MPI_Comm communicator, const std::exception_ptr &error)
{
  rethrow_on_all_ranks<ErrorType>(communicator, [&] {
    try {
      if (error)
        std::rethrow_exception(error);
    }
    catch (const ErrorType &) {
      throw;
    }
    catch (const Error &) { // another call throws it
    }
  });
}
} // namespace

bool is_geometry_file(const std::string &file)
{
  return has_extension(file, {".step", ".stp", ".iges", ".igs", ".brep", ".geo"});
}

bool needs_conversion(const std::string &file)
{
  return !is_geometry_file(file) &&
         (!has_extension(file, {".msh", ".inp"}) ||
          (has_extension(file, {".msh"}) && !is_readable_by_femgpu(file)));
}

void check_meshing_parameters(const MeshParameters &parameters, const std::string &file)
{
  if (is_geometry_file(file))
    return;
  const std::string reason = " applies to geometry files only, such as .step and .geo";
  if (parameters.size.find_first_not_of(" \t") != std::string::npos)
    throw ParameterError("Mesh/Size" + reason +
                             ". Remove it; Mesh/Initial refinements refines other meshes.",
                         "Mesh/Size");
  if (parameters.order > 1)
    throw ParameterError("Mesh/Order" + reason +
                             ". Remove it; other files determine the order of their cells.",
                         "Mesh/Order");
}

template <int dim>
MadeMesh make_mesh_file(const MeshParameters &parameters, const std::string &file,
                        const linalg::ExpressionDefinitions &definitions,
                        const unsigned int halvings, const MPI_Comm communicator)
{
  const std::string stem = halvings == 0 ? "mesh" : "mesh-" + std::to_string(halvings);
  std::string program;
  std::exception_ptr error;
  if (Utilities::MPI::this_mpi_process(communicator) == 0)
    try {
      program = make_file<dim>(parameters, file, stem, definitions, halvings);
    }
    catch (const Error &) {
      error = std::current_exception();
    }
  const std::chrono::hours no_limit(1 << 20);
  linalg::sleeping_barrier(communicator, no_limit); // the other ranks leave the cores to gmsh
  rethrow_one<ParameterError>(communicator, error);
  rethrow_one<OutputError>(communicator, error);
  rethrow_one<InputError>(communicator, error);
  program = Utilities::MPI::broadcast(communicator, program);
  return {(fs::path(parameters.made_in) / (stem + ".msh")).string(),
          (is_geometry_file(file) ? "meshed by " : "converted by ") + program + " from " + file};
}

template MadeMesh make_mesh_file<2>(const MeshParameters &, const std::string &,
                                    const linalg::ExpressionDefinitions &, unsigned int, MPI_Comm);
template MadeMesh make_mesh_file<3>(const MeshParameters &, const std::string &,
                                    const linalg::ExpressionDefinitions &, unsigned int, MPI_Comm);
} // namespace femgpu
