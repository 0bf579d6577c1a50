#include "physics/mesh/mesh.h"

#include "linalg/base/error.h"
#include "linalg/base/host_memory.h"
#include "linalg/mpi/nodes.h"
#include "physics/base/deal_ii_compat.h"
#include "physics/mesh/file_regions.h"
#include "physics/mesh/forest_mesh.h"
#include "physics/mesh/made_mesh.h"
#include "physics/mesh/mesh_check.h"
#include "physics/mesh/mesh_file.h"
#include "physics/mesh/mesh_generator.h"
#include "physics/mesh/mesh_manifolds.h"
#include "physics/mesh/mesh_mapping.h"
#include "physics/mesh/named_places.h"
#include "physics/mesh/simplex_mesh.h"
#include "physics/mesh/touching_parts.h"

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/manifold.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

namespace femgpu
{
using namespace dealii;

MeshParameters::MeshParameters() : ParameterAcceptor("/Mesh")
{
  add_parameter("Generator", generator,
                "Function of deal.II's GridGenerator that generates the coarse mesh. `femgpu "
                "--list` shows the names. If File is given, femgpu ignores the generator.");
  add_parameter(
      "Arguments", arguments,
      "Arguments of the generator, separated by ':': all arguments that follow the triangulation "
      "in deal.II. The coordinates of a point are separated by ','. For hyper_cube, '0 : 1 : true' "
      "is the cube from 0 to 1 in each direction, with a boundary id for each side.");
  add_parameter(
      "File", file,
      "Mesh or geometry file. Its extension determines the format. femgpu reads .msh (gmsh) and "
      ".inp (Abaqus and CalculiX). The program gmsh meshes the geometries .step, .stp, .iges, "
      ".igs, .brep and .geo, and converts .unv, .bdf, .nas, .mesh, .cgns, and those .msh files "
      "that femgpu does not read: binary, partitioned, or of version 1 or 4.0. Python's package "
      "VTK converts .vtu, .vtk, .e, .exo, .ex2, .g and .gen (Exodus), and its package meshio "
      "converts .med, .xdmf, .xmf, .avs, .ucd, .su2, .vol and .meshb. femgpu stores the mesh that "
      "these programs make, their script and log in Output/Directory as mesh.msh, mesh.geo or "
      "mesh.py, and mesh.log. A .geo file can run other programs: use only files that you trust. "
      "Elements have order 1 or 2. The groups of a file define the boundary and material ids and "
      "their names. If a geometry has no groups, each face and each volume has gmsh's number as "
      "id. "
      "femgpu searches a relative path in the working directory, then in the directory of the "
      "parameter file.");
  add_parameter("Size", size,
                "Size of the cells with which gmsh meshes a geometry file: a number, or an "
                "expression of x, y, z, in the unit of the mesh. Without it, gmsh chooses the "
                "size, or the .geo file defines it.");
  add_parameter("Order", order,
                "Order of the cells with which gmsh meshes a geometry file. 1: straight edges. 2: "
                "edges that follow curved boundaries.",
                prm, Patterns::Integer(1, 2));
  add_parameter("Meshing time limit", meshing_time_limit,
                "Time in seconds after which femgpu stops gmsh or the converter of a mesh file.",
                prm, Patterns::Double(0.));
  add_parameter("Boundaries", boundaries,
                "Names for parts of the boundary, for example top: z > 0.99; walls: 0, inlet. An "
                "entry is a name, ':' and a condition, or ids and names of the mesh. A condition "
                "is an expression of x, y, z. It names the boundary faces of the coarse mesh at "
                "all of whose vertices it holds; they get a new boundary id. Of several conditions "
                "that hold, the last one applies.");
  add_parameter("Named points", named_points,
                "Names for vertices of the coarse mesh, for example A: 1, 0, 0; B: 0, 0, 1. "
                "Elasticity/Displacement, Rotation and Traction accept them.");
  add_parameter("Named curves", named_curves,
                "Names for curves on the boundary of a 3D mesh, for example rim: z > 0.99 && x > "
                "0.99. An entry is a name, ':' and a condition, which names the edges of the "
                "coarse mesh at both of whose ends it holds. Elasticity/Displacement, Rotation and "
                "Traction accept them.");
  add_parameter(
      "Merge nodes", merge_nodes,
      "What femgpu does if parts of a mesh file touch without common nodes. refuse: it ends with "
      "an error. keep: it leaves the parts separate, like the sides of a crack. A number: it "
      "merges boundary nodes whose distance is at most this number, in the unit of the mesh.");
  add_parameter("Natural boundaries", natural_boundaries,
                "Boundary ids or names of a mesh file, separated by ',', that intentionally have "
                "no condition: no load or flux acts on them. femgpu refuses every other id without "
                "a condition, except id 0. 'all': femgpu refuses no id.");
  add_parameter(
      "Manifolds", manifolds,
      "Curved boundaries of a mesh file: 'ids: shape; ids: shape', with boundary ids or names. "
      "Refinement puts new nodes on the shape. Shapes in 2D: 'polar CX, CY' is a circle with "
      "centre C. 'ellipse CX, CY, AX, AY, B' is an ellipse with centre C; the vector A is one "
      "semi-axis, and B is the length of the other. Shapes in 3D: 'sphere CX, CY, CZ' has the "
      "centre C. 'cylinder PX, PY, PZ, DX, DY, DZ' has an axis through the point P in direction D. "
      "'elliptic cylinder P, D, A, B' has the same kind of axis; the vector A is one semi-axis, "
      "and B is the length of the other. 'cone P, D' has an axis through the point P in direction "
      "D; the nodes determine its angle. In the last two, each of P, D and A stands for three "
      "numbers. In 2D and 3D, 'flat' leaves faces flat as in the file; refinement does not round "
      "the edges between them. A manifold takes precedence over second-order nodes of the file. "
      "Generators define their own curved boundaries.");
  add_parameter(
      "Cells", cells,
      "Kind of cells. auto: the cells of the file or generator; simplex for geometry files. "
      "hypercube: quadrilaterals or hexahedra; femgpu refuses mesh files with other cells. "
      "simplex: triangles or tetrahedra. Geometry files are meshed with these cells. For simplex, "
      "femgpu splits the cells of mesh files and generated meshes: in a file, a quadrilateral into "
      "2 triangles and a hexahedron into 5 or 6 tetrahedra; in a generated mesh, a quadrilateral "
      "into 8 triangles and a hexahedron into 24 tetrahedra. With every value but hypercube, it "
      "splits the cells of mixed mesh files, prisms and pyramids.",
      prm, Patterns::Selection("auto|hypercube|simplex"));
  add_parameter("Inverted cells", inverted_cells,
                "What femgpu does if second-order nodes of a mesh file invert cells. refuse: it "
                "ends with an error. straighten: it moves these nodes to the midpoints of their "
                "edges, also in neighbouring cells, and prints a warning.",
                prm, Patterns::Selection("refuse|straighten"));
  add_parameter("Initial refinements", initial_refinements,
                "Number of global refinements of the coarse mesh before the first cycle.", prm,
                Patterns::Integer(0, 12));
  add_parameter(
      "Initial refinement where", refinement_where,
      "Number of additional refinements of each cell, at most 12: an expression of x, y, z, "
      "evaluated at the centre of the cell. 'x < 0.5 && y < 0.5' refines a corner once; '2*(x < "
      "0.5)' refines one half twice. Only for quadrilaterals and hexahedra.");
}

namespace
{
template <int dim>
bool has_curved_manifolds(const Triangulation<dim> &coarse)
{
  for (const auto id : coarse.get_manifold_ids())
    if (id != numbers::flat_manifold_id &&
        dynamic_cast<const FlatManifold<dim> *>(&coarse.get_manifold(id)) == nullptr)
      return true;
  return false;
}

/// Converts a generated mesh to triangles or tetrahedra if Mesh/Cells requires them. Rejects cells
/// that are unsupported, or other than Mesh/Cells requires.
template <int dim>
void convert_cells_if_required(const MeshParameters &parameters, Triangulation<dim> &coarse)
{
  const std::string name = parameters.file.empty() ? "The mesh generator '" + parameters.generator
                                                   : "The mesh file '" + parameters.file;
  const bool hypercubes = coarse.all_reference_cells_are_hyper_cube();
  const bool simplices = coarse.all_reference_cells_are_simplex();
  if (!hypercubes && !simplices)
    throw InputError(name + "' has cells of several or unsupported kinds. Use only quadrilaterals "
                            "or hexahedra, or only triangles or tetrahedra.");
  if (parameters.cells == "hypercube" && !hypercubes)
    throw InputError(name + "' has triangles or tetrahedra, but Mesh/Cells is hypercube. Set it to "
                            "auto, or use another mesh.");
  if (parameters.cells != "simplex" || simplices)
    return;
  if (has_curved_manifolds(coarse))
    throw ParameterError(name + "' has curved sides, which refined triangles or tetrahedra would "
                                "not follow. Use quadrilaterals or hexahedra, or a mesh file.",
                         "Mesh/Cells");
  Triangulation<dim> converted;
  GridGenerator::convert_hypercube_to_simplex_mesh(coarse, converted);
  coarse.clear();
  coarse.copy_triangulation(converted);
}

/// Checks that cells have a positive measure. deal.II's generators make invalid cells only for
/// inconsistent arguments.
template <int dim>
void check_generated_cells(const Triangulation<dim> &coarse)
{
  for (const auto &cell : coarse.active_cell_iterators())
    if (!(cell->measure() > 0.)) {
      std::ostringstream text;
      text << "Cell " << cell->active_cell_index() << " of the mesh, at " << cell->center()
           << ", is inverted or degenerate (its measure is " << cell->measure()
           << "). Fix Mesh/Arguments.";
      throw ParameterError(text.str(), "Mesh/Arguments");
    }
}

/**
 * Rejects a mesh that would exceed the memory before the generator makes it. Each rank stores the
 * whole coarse mesh, which takes 900 bytes for a quadrilateral and 2300 for a hexahedron
 * (measured). The estimate uses smaller values, so that no mesh is rejected that would fit.
 */
void check_generated_size(const MeshParameters &parameters, const int dim, const MPI_Comm comm)
{
  const double n = generated_cells(parameters.generator, parameters.arguments, dim);
  MPI_Comm node = linalg::split_by_node(comm);
  const unsigned int n_ranks = Utilities::MPI::n_mpi_processes(node);
  MPI_Comm_free(&node);
  const double needed = n * (dim == 2 ? 700. : 1800.) * n_ranks;
  const HostMemory memory = host_memory(n_ranks);
  if (needed <= memory.bytes)
    return;
  std::ostringstream text;
  text
      << "Mesh/Arguments of " << parameters.generator << " give about " << n << " cells. Each of "
      << n_ranks << " ranks of a node stores this coarse mesh, which needs more than "
      << gigabytes(needed) << ", but " << memory.bound
      << ". Use fewer cells, and refine them by Mesh/Initial refinements, which needs less memory.";
  throw DeviceError(text.str());
}

/// Stores @p warning about cells that are inverted at vertices only, unless it is empty.
template <int dim>
void add_warning_of_vertices(const std::string &warning, Mesh<dim> &mesh)
{
  if (warning.empty())
    return;
  mesh.has_inverted_vertices = true;
  mesh.warnings.push_back(warning);
}

/// Collective. Makes the coarse mesh by a generator or from a file. Stores ids, names and warnings
/// in @p mesh. Returns the contents of the file; empty for a generator.
template <int dim>
MeshTable make_coarse_mesh(const MeshParameters &parameters, const MPI_Comm communicator,
                           const unsigned int halvings, Triangulation<dim> &coarse, Mesh<dim> &mesh)
{
  MeshTable table;
  std::string file;
  if (!parameters.file.empty())
    file = find_mesh_file(parameters.file, parameters.directory);
  check_meshing_parameters(parameters, file);
  if (file.empty())
    generate_mesh(parameters, coarse);
  else {
    if (is_geometry_file(file) || needs_conversion(file)) {
      const MadeMesh made =
          make_mesh_file<dim>(parameters, file, mesh.regions.definitions, halvings, communicator);
      file = made.file;
      mesh.origin = made.origin;
      mesh.is_of_geometry = is_geometry_file(parameters.file);
    }
    table = read_mesh_file(file, parameters.merge_nodes, parameters.cells, coarse);
  }
  convert_cells_if_required(parameters, coarse);
  if (coarse.n_levels() > 1) {
    Triangulation<dim> flat;
    GridGenerator::flatten_triangulation(coarse, flat);
    copy_manifolds(coarse, flat); // deal.II does not copy them
    coarse.clear();
    coarse.copy_triangulation(flat);
  }
  if (parameters.file.empty())
    check_generated_cells(coarse);
  else {
    add_warning_of_vertices(
        check_straight_cells(coarse, table.cell_locations, parameters.made_in, communicator), mesh);
    if (parameters.merge_nodes != "keep")
      refuse_touching_parts(coarse, table.cell_locations);
  }
  store_sides_and_materials(table, coarse, mesh);
  name_boundaries(parameters.boundaries, coarse, mesh.regions);
  name_points(parameters.named_points, coarse, mesh.regions, table);
  name_curves(parameters.named_curves, coarse, mesh.regions, table);
  for (const auto &[type, location] : table.cell_types)
    mesh.regions.cell_types[type] = table.line_of(location);
  mesh.warnings.insert(mesh.warnings.end(), table.warnings.begin(), table.warnings.end());
  return table;
}

/// Collective. Assigns the manifolds of Mesh/Manifolds and of the nodes of second order, which are
/// checked, and straightened if Mesh/Inverted cells requests it.
/// @return whether any manifold is curved
template <int dim>
bool make_curved(const MeshParameters &parameters, const MPI_Comm communicator, MeshTable &table,
                 Triangulation<dim> &coarse, Mesh<dim> &mesh)
{
  bool is_curved = assign_manifolds(parameters.manifolds, mesh.regions, table, coarse);
  if (table.second_order_nodes.empty())
    return is_curved;
  InvertedCells inverted = find_inverted_quadratic_cells(coarse);
  std::set<unsigned int> straightened;
  while (parameters.inverted_cells == "straighten" && straighten_cells(inverted, table)) {
    for (const auto *const cells : {&inverted.at_gauss_points, &inverted.only_at_vertices})
      for (const InvertedCell &cell : *cells)
        straightened.insert(cell.number);
    coarse.reset_all_manifolds();
    coarse.set_all_manifold_ids(numbers::flat_manifold_id);
    is_curved = assign_manifolds(parameters.manifolds, mesh.regions, table, coarse);
    inverted = find_inverted_quadratic_cells(coarse);
  }
  if (!straightened.empty())
    mesh.warnings.push_back(table.cell_locations[*straightened.begin()] +
                            "the cell is inverted with its nodes of second order; femgpu has "
                            "straightened the edges of " +
                            std::to_string(straightened.size()) +
                            (straightened.size() == 1 ? " such cell" : " such cells") +
                            ", because Mesh/Inverted cells is straighten. Use a finer mesh there "
                            "to keep the edges curved.");
  add_warning_of_vertices(check_quadratic_cells<dim>(std::move(inverted), table.cell_locations,
                                                     parameters.made_in, communicator),
                          mesh);
  return is_curved;
}
} // namespace

template <int dim>
Mesh<dim> make_mesh(const MeshParameters &parameters, const MPI_Comm communicator,
                    const linalg::ExpressionDefinitions &definitions, const unsigned int halvings)
{
  Mesh<dim> mesh;
  mesh.regions.definitions = definitions;
  mesh.output_directory = parameters.made_in;
  Triangulation<dim> coarse;
  if (parameters.file.empty())
    check_generated_size(parameters, dim, communicator);
  MeshTable table = make_coarse_mesh(parameters, communicator, halvings, coarse, mesh);
  const bool has_curved_sides = make_curved(parameters, communicator, table, coarse, mesh);
  store_curves_and_point_sets(table, coarse, mesh.regions);
  mesh.order = table.order();
  // Frees these vectors, because the data derived from the coarse mesh need the memory.
  std::vector<MeshElement>().swap(table.elements);
  std::vector<std::array<double, 3>>().swap(table.points);
  std::vector<std::array<std::size_t, 2>>().swap(table.edge_ends);
  mesh.is_simplex = coarse.all_reference_cells_are_simplex();
  mesh.is_curved = has_curved_sides || has_curved_manifolds(coarse);
  if (mesh.is_simplex) {
    mesh.serial = std::make_unique<Triangulation<dim>>();
    mesh.serial->copy_triangulation(coarse);
    auto distributed = std::make_unique<SimplexMesh<dim>>(communicator);
    distribute_simplices(*mesh.serial, *distributed);
    mesh.triangulation = std::move(distributed);
  }
  else {
    mesh.triangulation = std::make_unique<ForestMesh<dim>>(communicator);
    mesh.triangulation->copy_triangulation(coarse);
    if (has_curved_sides)
      preserve_curved_cells(*mesh.triangulation);
  }
  return mesh;
}

namespace
{
/// Up to this number of cells per rank, the mesh is repartitioned after each refinement to balance
/// the load.
constexpr unsigned int max_cells_to_repartition = 500;

template <int dim>
void refine_simplices(Mesh<dim> &mesh)
{
  auto &distributed = dynamic_cast<SimplexMesh<dim> &>(*mesh.triangulation);
  const auto n_cells = distributed.n_global_active_cells();
  const unsigned int n_ranks = Utilities::MPI::n_mpi_processes(compat::communicator(distributed));
  if (n_ranks > 1 && n_cells < max_cells_to_repartition * n_ranks &&
      mesh.serial->n_active_cells() == n_cells) {
    mesh.serial = refined_simplices(*mesh.serial, mesh.inner_sides);
    distribute_simplices(*mesh.serial, distributed);
  }
  else
    refine_distributed(*mesh.serial, distributed, mesh.inner_sides);
}
} // namespace

template <int dim>
void refine_globally(Mesh<dim> &mesh, const unsigned int times)
{
  if (!mesh.is_simplex)
    dynamic_cast<ForestMesh<dim> &>(*mesh.triangulation).refine_all(times);
  for (unsigned int time = 0; mesh.is_simplex && time < times; ++time)
    refine_simplices(mesh);
}

template void refine_globally(Mesh<2> &, unsigned int);
template void refine_globally(Mesh<3> &, unsigned int);
template Mesh<2> make_mesh<2>(const MeshParameters &, MPI_Comm,
                              const linalg::ExpressionDefinitions &, unsigned int);
template Mesh<3> make_mesh<3>(const MeshParameters &, MPI_Comm,
                              const linalg::ExpressionDefinitions &, unsigned int);
} // namespace femgpu
