#include "physics/mesh/gmsh_program.h"

#include "common/atomic_file.h"
#include "common/process.h"
#include "linalg/mpi/nodes.h"
#include "physics/base/collective.h"
#include "physics/base/fields.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <vector>

namespace femgpu
{
using namespace dealii;
namespace fs = std::filesystem;

namespace
{
std::string extension_of(const std::string &file)
{
  std::string extension = fs::path(file).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](const unsigned char c) { return std::tolower(c); });
  return extension;
}

std::string text_of(const std::string &file, const std::size_t most = std::string::npos)
{
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  if (most == std::string::npos)
    text.assign(std::istreambuf_iterator<char>(stream), {});
  else {
    text.resize(most);
    stream.read(text.data(), static_cast<std::streamsize>(most));
    text.resize(static_cast<std::size_t>(stream.gcount()));
  }
  return text;
}

/// Returns the path of @p file in quotation marks, as gmsh's scripts need it.
std::string quoted_path(const std::string &file)
{
  const std::string path = fs::absolute(file).string();
  if (path.find_first_of("\"\\\n") != std::string::npos)
    throw InputError("The path of the mesh file '" + path +
                     "' has a quotation mark, a backslash or a line break, which a script of gmsh "
                     "cannot contain. Rename the file or its directory.");
  return '"' + path + '"';
}

/// Runs gmsh with files of one stem in a directory.
class Gmsh
{
public:
  Gmsh(const MeshParameters &parameters, const std::string &stem)
      : parameters(parameters), stem((fs::path(parameters.made_in) / stem).string())
  {
    if (const char *const name = std::getenv("FEMGPU_GMSH"); name != nullptr && *name != '\0')
      program = name;
  }

  std::string path(const std::string &extension) const
  {
    return stem + extension;
  }

  /// Returns gmsh's version. @throws InputError if there is no gmsh
  std::string version() const
  {
    run({"--version"}, "tell its version");
    std::istringstream text(text_of(path(".log")));
    std::string version;
    for (std::string line; std::getline(text, line);)
      if (!line.empty() && std::isdigit(static_cast<unsigned char>(line.front())) != 0)
        version = line;
    return version;
  }

  /// Runs gmsh with @p arguments. @param purpose completes "gmsh could not ..."
  void run(const std::vector<std::string> &arguments, const std::string &purpose) const
  {
    std::vector<std::string> words = {program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const std::string log = path(".log");
    const ProcessEnd end = run_process(words, log, parameters.meshing_time_limit);
    std::string command;
    for (const std::string &word : words)
      command += (command.empty() ? "" : " ") + word;
    const std::string output = text_of(log);
    write_file(log, command + '\n' + output);
    if (end.kind == ProcessEnd::Kind::not_started)
      throw InputError(
          "Mesh/File needs the program gmsh, but '" + program + "' " + end.description() +
          ". Install gmsh (Debian: apt install gmsh; otherwise: pip install gmsh), or set the "
          "environment variable FEMGPU_GMSH to its path.");
    if (end.kind == ProcessEnd::Kind::timed_out)
      throw InputError("gmsh was stopped because it ran longer than Mesh/Meshing time limit, " +
                       std::to_string(static_cast<long long>(parameters.meshing_time_limit)) +
                       " s. Raise the limit, or raise Mesh/Size. Its output is in '" + log + "'.");
    const std::string errors = errors_in(output);
    if (!end.succeeded() || !errors.empty())
      throw InputError("gmsh could not " + purpose + ": it " +
                       (end.succeeded() ? "reported errors" : end.description()) +
                       (errors.empty() ? "" : ": " + errors) + ". Its whole output is in '" + log +
                       "', which begins with the command.");
  }

private:
  /// Returns the first messages that gmsh marks as errors, separated by "; ".
  static std::string errors_in(const std::string &output)
  {
    constexpr int most = 3;
    std::istringstream text(output);
    std::string errors;
    int n = 0;
    for (std::string line; std::getline(text, line) && n < most;)
      if (const std::size_t at = line.find("Error   : "); at != std::string::npos) {
        errors += (n++ > 0 ? "; " : "") + line.substr(at + 10);
        while (!errors.empty() && (errors.back() == '\r' || errors.back() == '.'))
          errors.pop_back();
      }
    return errors;
  }

  const MeshParameters &parameters;
  std::string stem, program = "gmsh";
};

/// Returns the commands of a script that load the geometry @p file.
std::string load_commands(const std::string &file)
{
  const bool is_script = extension_of(file) == ".geo";
  return std::string(is_script ? "" : "SetFactory(\"OpenCASCADE\");\n") + "Merge " +
         quoted_path(file) + ";\n" +
         (is_script ? ""
                    : "v() = Volume \"*\";\ns() = Surface \"*\";\n"
                      "If (#v() > 1 || (#v() == 0 && #s() > 1))\n"
                      "  Coherence; // bodies that touch share faces and nodes\nEndIf\n");
}

/// Returns the commands that make each entity of a dimension a group with the entity's number.
std::string group_commands(const std::string &entity)
{
  return "n() = " + entity + " \"*\";\nFor i In {0:#n()-1}\n  Physical " + entity +
         "(n(i)) = {n(i)};\nEndFor\n";
}

/// Returns the corners of the box that contains the geometry @p file: minima, then maxima.
std::array<double, 6> bounding_box(const Gmsh &gmsh, const std::string &file)
{
  const std::string result = gmsh.path(".box");
  write_file(gmsh.path(".geo"),
             load_commands(file) +
                 "Printf(\"%.17g %.17g %.17g %.17g %.17g %.17g\", General.MinX, General.MinY, "
                 "General.MinZ, General.MaxX, General.MaxY, General.MaxZ) > " +
                 quoted_path(result) + ";\n");
  gmsh.run({gmsh.path(".geo"), "-parse_and_exit"}, "read '" + file + "'");
  std::array<double, 6> box = {};
  std::ifstream stream(result);
  for (double &x : box)
    stream >> x;
  if (!stream)
    throw InputError("gmsh found no geometry in '" + file + "'. Check the file.");
  fs::remove(result);
  return box;
}

/// Writes the values of @p size in a box around the geometry for gmsh's field "Structured".
/// @return the name of the file
template <int dim>
std::string write_sizes(const Gmsh &gmsh, const std::string &file, const Field<dim> &size)
{
  constexpr int most_points = 101; // along the longest edge of the box
  std::array<double, 6> box = bounding_box(gmsh, file);
  std::array<double, 3> step = {};
  std::array<int, 3> n = {{2, 2, 2}};
  double longest = 0.;
  for (std::size_t d = 0; d < 3; ++d)
    longest = std::max(longest, box[d + 3] - box[d]);
  for (std::size_t d = 0; d < 3; ++d) {
    const double width = box[d + 3] - box[d];
    if (d < dim)
      n[d] = std::clamp(static_cast<int>(std::ceil(width / longest * most_points)), 2, most_points);
    const double margin = d < dim ? 1e-6 * longest : longest;
    box[d] -= margin;
    step[d] = (width + 2. * margin) / (n[d] - 1);
  }
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  for (const std::array<double, 3> &row : {std::array<double, 3>{box[0], box[1], box[2]}, step})
    text << row[0] << ' ' << row[1] << ' ' << row[2] << '\n';
  text << n[0] << ' ' << n[1] << ' ' << n[2] << '\n';
  for (int i = 0; i < n[0]; ++i)
    for (int j = 0; j < n[1]; ++j) {
      for (int k = 0; k < n[2]; ++k) {
        const std::array<int, 3> index = {{i, j, k}};
        Point<dim> p;
        for (unsigned int d = 0; d < dim; ++d)
          p[d] = box[d] + index[d] * step[d];
        const double h = size.value(p);
        if (!(h > 0.)) {
          std::ostringstream message;
          message << "Mesh/Size is " << h << " at the point (" << p
                  << "), but the size of cells must be positive.";
          throw ParameterError(message.str(), "Mesh/Size");
        }
        text << h << ' ';
      }
      text << '\n';
    }
  const std::string name = gmsh.path(".size");
  write_file(name, text.str());
  return name;
}

/// Returns the commands that set the size of cells.
template <int dim>
std::string size_commands(const MeshParameters &parameters, const Gmsh &gmsh,
                          const std::string &file, const linalg::ExpressionDefinitions &definitions,
                          const unsigned int halvings)
{
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  text << "Mesh.MeshSizeFactor = "
       << std::ldexp(parameters.cells == "hypercube" ? 2. : 1., -static_cast<int>(halvings))
       << "; // subdivision into quadrilaterals or hexahedra halves the size\n";
  if (parameters.size.find_first_not_of(" \t") == std::string::npos)
    return text.str();
  const Field<dim> size("Mesh/Size", {parameters.size}, Variables::position, definitions);
  if (!size.is_constant())
    text << "Field[1] = Structured;\nField[1].TextFormat = 1;\nField[1].FileName = "
         << quoted_path(write_sizes(gmsh, file, size))
         << ";\nBackground Field = 1;\nMesh.MeshSizeExtendFromBoundary = 0;\n"
            "Mesh.MeshSizeFromPoints = 0;\nMesh.MeshSizeFromCurvature = 0;\n";
  else {
    const double h = size.value(Point<dim>());
    if (!(h > 0.))
      throw ParameterError("Mesh/Size is " + parameters.size +
                               ", but the size of cells must be positive.",
                           "Mesh/Size");
    text << "Mesh.MeshSizeMin = " << h << ";\nMesh.MeshSizeMax = " << h << ";\n";
  }
  return text.str();
}

/// Returns the commands that make each face and body (in 2D: curve and face) a group.
std::string group_commands(const int dim)
{
  return dim == 2 ? group_commands("Curve") + group_commands("Surface")
                  : group_commands("Surface") + group_commands("Volume");
}

/// Returns the script that makes gmsh mesh the geometry @p file.
/// @param must_optimize whether to improve curved cells
template <int dim>
std::string meshing_script(const MeshParameters &parameters, const Gmsh &gmsh,
                           const std::string &file,
                           const linalg::ExpressionDefinitions &definitions,
                           const unsigned int halvings, const bool must_optimize)
{
  const bool is_script = extension_of(file) == ".geo";
  const std::string sizes = size_commands<dim>(parameters, gmsh, file, definitions, halvings);
  std::string script = load_commands(file);
  if (!is_script || text_of(file).find("Physical") == std::string::npos)
    script += group_commands(dim);
  script += sizes;
  if (parameters.order > 1)
    script += "Mesh.ElementOrder = 2;\nMesh.HighOrderOptimize = " +
              std::to_string(must_optimize ? 1 : 0) + ";\n";
  if (parameters.cells == "hypercube") // in 3D, quadrilaterals on faces would require pyramids
    script += dim == 2 ? "Mesh.RecombineAll = 1;\nMesh.SubdivisionAlgorithm = 1;\n"
                       : "Mesh.SubdivisionAlgorithm = 2;\n";
  return script;
}

/// Returns the extensions of the files that gmsh converts.
const std::set<std::string> &convertible_extensions()
{
  static const std::set<std::string> extensions = {".unv",  ".bdf", ".nas",
                                                   ".mesh", ".med", ".cgns"};
  return extensions;
}

/// Returns whether the nodes have parametric coordinates in the section $Nodes of version 4.1 that
/// begins before @p at. Nodes on points never have them.
bool has_parametric_nodes(const std::string &text, const std::size_t at)
{
  std::istringstream section(text.substr(at));
  std::string word;
  for (int k = 0; k < 4; ++k)
    section >> word; // numbers of blocks and nodes, smallest and largest number
  int dimension = 0, is_parametric = 0;
  std::size_t n = 0;
  while (section >> dimension >> word >> is_parametric >> n) {
    if (dimension > 0 && n > 0)
      return is_parametric != 0;
    for (std::size_t k = 0; k < 4 * n; ++k)
      section >> word; // a number and three coordinates of each node
  }
  return false;
}

/// Returns whether femgpu itself reads this file of gmsh.
bool is_readable_by_femgpu(const std::string &file)
{
  std::istringstream begin(text_of(file, 200));
  std::string section, version;
  int type = 0;
  begin >> section >> version >> type;
  if (section != "$MeshFormat")
    return section != "$NOD"; // version 1 begins with $NOD; the reader reports other beginnings
  if (type != 0 || version == "4" || version == "4.0")
    return false;
  const std::string text = text_of(file);
  if (text.find("$PartitionedEntities") != std::string::npos)
    return false;
  const std::size_t nodes = text.find("$Nodes");
  return version != "4.1" || nodes == std::string::npos || !has_parametric_nodes(text, nodes + 6);
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

/// Meshes the geometry @p file. If gmsh cannot improve curved cells, they stay as they are.
template <int dim>
void make_mesh_of_geometry(const MeshParameters &parameters, const Gmsh &gmsh,
                           const std::string &file,
                           const linalg::ExpressionDefinitions &definitions,
                           const unsigned int halvings)
{
  const std::string script = gmsh.path(".geo");
  const auto run = [&](const bool must_optimize) {
    write_file(script,
               meshing_script<dim>(parameters, gmsh, file, definitions, halvings, must_optimize));
    gmsh.run({script, '-' + std::to_string(dim), "-format", "msh41", "-o", gmsh.path(".msh")},
             "mesh '" + file + "'");
  };
  try {
    run(/* must_optimize */ true);
  }
  catch (const InputError &) {
    if (parameters.order == 1 || text_of(gmsh.path(".log")).find("ptimiz") == std::string::npos)
      throw;
    run(/* must_optimize */ false);
  }
}

/// Converts the mesh @p file to version 2.2 of gmsh's format, which has no partitions.
template <int dim>
void convert(const Gmsh &gmsh, const std::string &file)
{
  static const std::set<std::string> formats_with_entities = {".bdf", ".nas", ".mesh"};
  std::string input = file;
  if (formats_with_entities.count(extension_of(file)) > 0) { // numbers of properties are entities
    input = gmsh.path(".geo");
    write_file(input, "Merge " + quoted_path(file) + ";\n" + group_commands(dim));
  }
  gmsh.run({input, "-save", "-format", "msh22", "-o", gmsh.path(".msh")}, "convert '" + file + "'");
}

/// Makes the mesh file. Called on one rank.
/// @return the version of gmsh
template <int dim>
std::string make_file(const MeshParameters &parameters, const Gmsh &gmsh, const std::string &file,
                      const linalg::ExpressionDefinitions &definitions, const unsigned int halvings)
{
  std::error_code error;
  fs::create_directories(parameters.made_in, error);
  if (error)
    throw InputError("The directory '" + parameters.made_in + "' for the mesh cannot be created: " +
                     error.message() + ". Check Output/Directory.");
  for (const std::string extension : {".msh", ".geo", ".log", ".size", ".box"})
    if (fs::equivalent(file, gmsh.path(extension), error))
      throw InputError("Mesh/File is '" + file +
                       "', which femgpu would overwrite with a file of its own. Rename it, or set "
                       "another Output/Directory.");
  const std::string version = gmsh.version(), mesh = gmsh.path(".msh");
  fs::remove(mesh, error);
  const bool is_geometry = is_geometry_file(file);
  if (is_geometry)
    make_mesh_of_geometry<dim>(parameters, gmsh, file, definitions, halvings);
  else
    convert<dim>(gmsh, file);
  if (!fs::exists(mesh))
    throw InputError("gmsh wrote no mesh of '" + file + "'. Its output is in '" +
                     gmsh.path(".log") + "'.");
  const std::string text = text_of(mesh), section = "$Elements\n";
  if (const std::size_t at = text.find(section);
      at == std::string::npos || text[at + section.size()] == '0')
    throw InputError("gmsh found no " +
                     std::string(!is_geometry ? "cells"
                                 : dim == 2   ? "faces to mesh"
                                              : "bodies to mesh") +
                     " in '" + file + "'. Check the file, and Dimension.");
  return version;
}
} // namespace

bool is_geometry_file(const std::string &file)
{
  static const std::set<std::string> extensions = {".step", ".stp",  ".iges",
                                                   ".igs",  ".brep", ".geo"};
  return extensions.count(extension_of(file)) > 0;
}

bool needs_conversion(const std::string &file)
{
  const std::string extension = extension_of(file);
  if (convertible_extensions().count(extension) > 0)
    return true;
  return extension == ".msh" && !is_readable_by_femgpu(file);
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
GmshMesh run_gmsh(const MeshParameters &parameters, const std::string &file,
                  const linalg::ExpressionDefinitions &definitions, const unsigned int halvings,
                  const MPI_Comm communicator)
{
  const Gmsh gmsh(parameters, halvings == 0 ? "mesh" : "mesh-" + std::to_string(halvings));
  std::string version;
  std::exception_ptr error;
  if (Utilities::MPI::this_mpi_process(communicator) == 0)
    try {
      version = make_file<dim>(parameters, gmsh, file, definitions, halvings);
    }
    catch (const Error &) {
      error = std::current_exception();
    }
  const std::chrono::hours no_limit(1 << 20);
  linalg::sleeping_barrier(communicator, no_limit); // the other ranks leave the cores to gmsh
  rethrow_one<ParameterError>(communicator, error);
  rethrow_one<OutputError>(communicator, error);
  rethrow_one<InputError>(communicator, error);
  version = Utilities::MPI::broadcast(communicator, version);
  return {gmsh.path(".msh"), (is_geometry_file(file) ? "meshed" : "converted") +
                                 (" by gmsh " + version) + " from " + file};
}

template GmshMesh run_gmsh<2>(const MeshParameters &, const std::string &,
                              const linalg::ExpressionDefinitions &, unsigned int, MPI_Comm);
template GmshMesh run_gmsh<3>(const MeshParameters &, const std::string &,
                              const linalg::ExpressionDefinitions &, unsigned int, MPI_Comm);
} // namespace femgpu
