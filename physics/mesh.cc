#include "physics/mesh.h"

#include "linalg/base/error.h"
#include "physics/simplex_refinement.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/distributed/shared_tria.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_in.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/manifold.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace femgpu
{
using namespace dealii;

MeshParameters::MeshParameters() : ParameterAcceptor("/Mesh")
{
  add_parameter(
      "Generator", generator,
      "Function of deal.II's GridGenerator that makes the coarse mesh; ignored if File is "
      "given. `femgpu --list` shows the names.");
  add_parameter("Arguments", arguments,
                "All arguments of the generator after the triangulation, separated by ':'; the "
                "coordinates of a point by ','. Example for hyper_cube: '0 : 1 : true' (from 0 to "
                "1 in each direction, with a boundary id for each side).");
  add_parameter("File", file,
                "Mesh file of gmsh (.msh, ASCII, versions 2 and 4); the physical ids of curves or "
                "surfaces are the boundary ids. A relative name is looked for from the directory "
                "the program is started in.");
  add_parameter("Cells", cells,
                "auto takes the cells as they are; hypercube insists on quadrilaterals or "
                "hexahedra; simplex makes triangles or tetrahedra of a generator's mesh (8 for a "
                "quadrilateral, 24 for a hexahedron) and insists on them in a file.",
                prm, Patterns::Selection("auto|hypercube|simplex"));
  add_parameter("Initial refinements", initial_refinements,
                "Global refinements of the coarse mesh before the first cycle.", prm,
                Patterns::Integer(0, 12));
}

const std::vector<std::string> &generator_names()
{
  static const std::vector<std::string> names = {"channel_with_cylinder",
                                                 "cheese",
                                                 "concentric_hyper_shells",
                                                 "cylinder",
                                                 "eccentric_hyper_shell",
                                                 "enclosed_hyper_cube",
                                                 "general_cell",
                                                 "half_hyper_ball",
                                                 "half_hyper_shell",
                                                 "hyper_L",
                                                 "hyper_ball",
                                                 "hyper_ball_balanced",
                                                 "hyper_cross",
                                                 "hyper_cube",
                                                 "hyper_cube_slit",
                                                 "hyper_cube_with_cylindrical_hole",
                                                 "hyper_rectangle",
                                                 "hyper_shell",
                                                 "moebius",
                                                 "plate_with_a_hole",
                                                 "quarter_hyper_ball",
                                                 "quarter_hyper_shell",
                                                 "simplex",
                                                 "subdivided_hyper_L",
                                                 "subdivided_hyper_cube",
                                                 "subdivided_hyper_rectangle",
                                                 "torus",
                                                 "truncated_cone"};
  return names;
}

namespace
{
/// The words of a deal.II exception in one line.
std::string words_of(const ExceptionBase &error)
{
  std::ostringstream all;
  error.print_info(all);
  std::istringstream words(all.str());
  std::string word, text;
  while (words >> word)
    text += (text.empty() ? "" : " ") + word;
  return text.size() > 400 ? text.substr(0, 400) + " ..." : text;
}

template <int dim>
void generate(const MeshParameters &parameters, Triangulation<dim> &coarse)
{
  const auto &names = generator_names();
  if (std::find(names.begin(), names.end(), parameters.generator) == names.end())
    throw ParameterError("There is no mesh generator '" + parameters.generator +
                             "'; `femgpu --list` shows the names.",
                         "Mesh/Generator");
  try {
    GridGenerator::generate_from_name_and_arguments(coarse, parameters.generator,
                                                    parameters.arguments);
  }
  catch (const ExceptionBase &error) {
    throw ParameterError("The mesh generator '" + parameters.generator + "' cannot be called in " +
                             std::to_string(dim) + "D with the arguments '" + parameters.arguments +
                             "': " + words_of(error) +
                             " Give all its arguments after the triangulation, separated by ':'.",
                         "Mesh/Arguments");
  }
}

template <int dim>
void read_file(const std::string &name, Triangulation<dim> &coarse)
{
  std::ifstream file(name);
  if (!file)
    throw InputError("The mesh file '" + name +
                     "' cannot be opened. Check Mesh/File; a relative name is looked for from the "
                     "directory the program is started in.");
  GridIn<dim> reader(coarse);
  try {
    reader.read_msh(file);
  }
  catch (const ExceptionBase &error) {
    throw InputError("The mesh file '" + name + "' cannot be read as a " + std::to_string(dim) +
                     "D mesh of gmsh: " + words_of(error) +
                     " Save it as ASCII, version 2 or 4, with cells of first order.");
  }
  if (coarse.n_active_cells() == 0)
    throw InputError("The mesh file '" + name + "' has no cells of dimension " +
                     std::to_string(dim) + ". Set Dimension to that of the mesh.");
}

template <int dim>
bool has_curved_manifolds(const Triangulation<dim> &coarse)
{
  for (const auto id : coarse.get_manifold_ids())
    if (id != numbers::flat_manifold_id &&
        dynamic_cast<const FlatManifold<dim> *>(&coarse.get_manifold(id)) == nullptr)
      return true;
  return false;
}

/// Makes @p coarse a mesh of triangles or tetrahedra, or refuses what it is.
template <int dim>
void choose_cells(const MeshParameters &parameters, Triangulation<dim> &coarse)
{
  const std::string name = parameters.file.empty() ? "The mesh generator '" + parameters.generator
                                                   : "The mesh file '" + parameters.file;
  const bool hypercubes = coarse.all_reference_cells_are_hyper_cube();
  const bool simplices = coarse.all_reference_cells_are_simplex();
  if (!hypercubes && !simplices)
    throw InputError(name + "' has cells of several or unsupported kinds. Use quadrilaterals or "
                            "hexahedra alone, or triangles or tetrahedra alone.");
  if (parameters.cells == "hypercube" && !hypercubes)
    throw InputError(name + "' has triangles or tetrahedra, but Mesh/Cells asks for hypercube. Set "
                            "it to auto, or use another mesh.");
  if (parameters.cells != "simplex" || simplices)
    return;
  if (!parameters.file.empty())
    throw InputError(name + "' has quadrilaterals or hexahedra, but Mesh/Cells asks for simplex. "
                            "Set it to auto, or use another mesh.");
  if (has_curved_manifolds(coarse))
    throw ParameterError(name +
                             "' has curved sides, which its triangles or tetrahedra would not "
                             "follow when they are refined. Use its quadrilaterals or hexahedra, "
                             "or a mesh file.",
                         "Mesh/Cells");
  Triangulation<dim> converted;
  GridGenerator::convert_hypercube_to_simplex_mesh(coarse, converted);
  coarse.clear();
  coarse.copy_triangulation(converted);
}

template <int dim>
void refuse_bad_cells(const MeshParameters &parameters, const Triangulation<dim> &coarse)
{
  for (const auto &cell : coarse.active_cell_iterators())
    if (!(cell->measure() > 0.)) {
      std::ostringstream text;
      text << "Cell " << cell->active_cell_index() << " of the mesh, at " << cell->center()
           << ", is inverted or degenerate (its measure is " << cell->measure() << "). Mend "
           << (parameters.file.empty() ? "the arguments of the generator."
                                       : "the file '" + parameters.file + "'.");
      throw InputError(text.str());
    }
}

template <int dim>
std::unique_ptr<typename Mesh<dim>::Triangulation>
distribute(const Triangulation<dim> &coarse, const bool is_simplex, const MPI_Comm communicator)
{
  std::unique_ptr<typename Mesh<dim>::Triangulation> result;
  if (is_simplex)
    result = std::make_unique<parallel::shared::Triangulation<dim>>(
        communicator, Triangulation<dim>::none, /* artificial cells */ true,
        parallel::shared::Triangulation<dim>::partition_metis);
  else
    result = std::make_unique<parallel::distributed::Triangulation<dim>>(communicator,
                                                                         Triangulation<dim>::none);
  result->copy_triangulation(coarse);
  return result;
}
} // namespace

template <int dim>
Mesh<dim>::Mesh() = default;
template <int dim>
Mesh<dim>::~Mesh() = default;
template <int dim>
Mesh<dim>::Mesh(Mesh &&) noexcept = default;
template <int dim>
Mesh<dim> &Mesh<dim>::operator=(Mesh &&) noexcept = default;

template <int dim>
Mesh<dim> make_mesh(const MeshParameters &parameters, const MPI_Comm communicator)
{
  Triangulation<dim> coarse;
  if (parameters.file.empty())
    generate(parameters, coarse);
  else
    read_file(parameters.file, coarse);
  choose_cells(parameters, coarse);
  if (coarse.n_levels() > 1) {
    Triangulation<dim> flat;
    GridGenerator::flatten_triangulation(coarse, flat);
    for (const auto id : coarse.get_manifold_ids()) // which deal.II leaves behind
      if (id != numbers::flat_manifold_id)
        flat.set_manifold(id, coarse.get_manifold(id));
    coarse.clear();
    coarse.copy_triangulation(flat);
  }
  refuse_bad_cells(parameters, coarse);

  Mesh<dim> mesh;
  mesh.is_simplex = coarse.all_reference_cells_are_simplex();
  mesh.is_curved = has_curved_manifolds(coarse);
  for (const auto id : coarse.get_boundary_ids())
    mesh.regions.boundary_ids.insert(id);
  for (const auto &cell : coarse.active_cell_iterators())
    mesh.regions.material_ids.insert(cell->material_id());
  mesh.triangulation = distribute(coarse, mesh.is_simplex, communicator);
  if (mesh.is_simplex) {
    mesh.replica = std::make_unique<Triangulation<dim>>();
    mesh.replica->copy_triangulation(coarse);
  }
  return mesh;
}

template <int dim>
std::vector<unsigned int> refine_globally(Mesh<dim> &mesh, const unsigned int times)
{
  std::vector<unsigned int> parents;
  if (!mesh.is_simplex) {
    mesh.triangulation->refine_global(static_cast<int>(times));
    return parents;
  }
  for (unsigned int time = 0; time < times; ++time) {
    auto refined = std::make_unique<Triangulation<dim>>();
    parents = refine_simplices(*mesh.replica, *refined);
    mesh.replica = std::move(refined);
  }
  if (times > 0) {
    mesh.triangulation->clear();
    mesh.triangulation->copy_triangulation(*mesh.replica);
  }
  return parents;
}

template struct Mesh<2>;
template struct Mesh<3>;
template std::vector<unsigned int> refine_globally(Mesh<2> &, unsigned int);
template std::vector<unsigned int> refine_globally(Mesh<3> &, unsigned int);
template Mesh<2> make_mesh<2>(const MeshParameters &, MPI_Comm);
template Mesh<3> make_mesh<3>(const MeshParameters &, MPI_Comm);
} // namespace femgpu
