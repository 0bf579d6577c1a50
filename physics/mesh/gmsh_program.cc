#include "physics/mesh/gmsh_program.h"

#include "common/atomic_file.h"
#include "linalg/base/error.h"
#include "physics/base/fields.h"
#include "physics/mesh/mesh.h"
#include "physics/mesh/mesh_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

namespace femgpu
{
using namespace dealii;
namespace fs = std::filesystem;

namespace
{
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

/// Returns the commands that, unless there are groups, make each face and body (in 2D: curve and
/// face) a group with its number.
std::string group_commands(const int dim)
{
  std::string text = "p() = {Physical Point \"*\", Physical Curve \"*\", Physical Surface \"*\", "
                     "Physical Volume \"*\"};\nIf (#p() == 0)\n";
  for (const std::string entity : {dim == 2 ? "Curve" : "Volume", "Surface"})
    text += "  n() = " + entity + " \"*\";\n  For i In {0:#n()-1}\n    Physical " + entity +
            "(n(i)) = {n(i)};\n  EndFor\n";
  return text + "EndIf\n";
}

/// Returns the corners of the box that contains the geometry @p file: minima, then maxima.
std::array<double, 6> bounding_box(const MeshProgram &gmsh, const std::string &file)
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
std::string write_sizes(const MeshProgram &gmsh, const std::string &file, const Field<dim> &size)
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
  std::string name = gmsh.path(".size");
  write_file(name, text.str());
  return name;
}

/// Returns the commands that set the size of cells.
template <int dim>
std::string size_commands(const MeshParameters &parameters, const MeshProgram &gmsh,
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

/// Returns the script that makes gmsh mesh the geometry @p file.
/// @param must_optimize whether to improve curved cells
template <int dim>
std::string meshing_script(const MeshParameters &parameters, const MeshProgram &gmsh,
                           const std::string &file,
                           const linalg::ExpressionDefinitions &definitions,
                           const unsigned int halvings, const bool must_optimize)
{
  std::string script = load_commands(file) + group_commands(dim) +
                       size_commands<dim>(parameters, gmsh, file, definitions, halvings);
  if (parameters.order > 1)
    script += "Mesh.ElementOrder = 2;\nMesh.HighOrderOptimize = " +
              std::to_string(must_optimize ? 1 : 0) + ";\n";
  if (parameters.cells == "hypercube") // in 3D, quadrilaterals on faces would require pyramids
    script += dim == 2 ? "Mesh.RecombineAll = 1;\nMesh.SubdivisionAlgorithm = 1;\n"
                       : "Mesh.SubdivisionAlgorithm = 2;\n";
  return script;
}

/// Returns gmsh's version.
std::string version_of(const MeshProgram &gmsh)
{
  std::istringstream text(gmsh.run({"--version"}, "tell its version"));
  std::string version;
  for (std::string line; std::getline(text, line);)
    if (!line.empty() && std::isdigit(static_cast<unsigned char>(line.front())) != 0)
      version = line;
  return "gmsh " + version;
}

MeshProgram gmsh_for(const MeshParameters &parameters, const std::string &stem)
{
  return {parameters, stem,
          "gmsh",     "FEMGPU_GMSH",
          "gmsh",     "Install gmsh (Debian: apt install gmsh; otherwise: pip install gmsh)"};
}
} // namespace

template <int dim>
std::string mesh_by_gmsh(const MeshParameters &parameters, const std::string &file,
                         const std::string &stem, const linalg::ExpressionDefinitions &definitions,
                         const unsigned int halvings)
{
  const MeshProgram gmsh = gmsh_for(parameters, stem);
  const std::string script = gmsh.path(".geo");
  std::string version = version_of(gmsh);
  const auto run = [&](const bool must_optimize) {
    write_file(script,
               meshing_script<dim>(parameters, gmsh, file, definitions, halvings, must_optimize));
    gmsh.run({script, '-' + std::to_string(dim), "-format", "msh41", "-o", gmsh.path(".msh")},
             "mesh '" + file + "'");
  };
  try {
    run(/* must_optimize */ true);
  }
  catch (const InputError &) { // if gmsh cannot improve curved cells, they stay as they are
    if (parameters.order == 1 ||
        contents_of_file(gmsh.path(".log"))->find("ptimiz") == std::string::npos)
      throw;
    run(/* must_optimize */ false);
  }
  return version;
}

std::string convert_by_gmsh(const MeshParameters &parameters, const std::string &file,
                            const std::string &stem, const int dim)
{
  static const std::set<std::string> formats_with_entities = {".bdf", ".nas", ".mesh"};
  const MeshProgram gmsh = gmsh_for(parameters, stem);
  std::string version = version_of(gmsh), input = file;
  if (formats_with_entities.count(extension_of(file)) > 0) { // numbers of properties are entities
    input = gmsh.path(".geo");
    write_file(input, "Merge " + quoted_path(file) + ";\n" + group_commands(dim));
  }
  gmsh.run({input, "-save", "-format", "msh22", "-o", gmsh.path(".msh")}, "convert '" + file + "'");
  return version;
}

template std::string mesh_by_gmsh<2>(const MeshParameters &, const std::string &,
                                     const std::string &, const linalg::ExpressionDefinitions &,
                                     unsigned int);
template std::string mesh_by_gmsh<3>(const MeshParameters &, const std::string &,
                                     const std::string &, const linalg::ExpressionDefinitions &,
                                     unsigned int);
} // namespace femgpu
