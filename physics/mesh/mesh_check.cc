#include "physics/mesh/mesh_check.h"

#include "linalg/base/error.h"
#include "physics/base/collective.h"
#include "physics/base/deal_ii_compat.h"
#include "physics/base/fields.h"
#include "physics/mesh/disjoint_sets.h"
#include "physics/mesh/mesh_mapping.h"

#include <deal.II/base/numbers.h>
#include <deal.II/base/quadrature.h>
#include <deal.II/grid/reference_cell.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Returns a vector normal to the face through its corners, of any length.
template <int dim, class FaceIterator>
Tensor<1, dim> face_normal(const FaceIterator &face)
{
  if constexpr (dim == 2)
    return cross_product_2d(face->vertex(1) - face->vertex(0));
  else if (face->n_vertices() == 3)
    return cross_product_3d(face->vertex(1) - face->vertex(0), face->vertex(2) - face->vertex(0));
  else
    return cross_product_3d(face->vertex(3) - face->vertex(0), face->vertex(2) - face->vertex(1));
}

// The smallest valid determinant at vertices of curved cells, relative to the cell's size to the
// power of the dimension. It may be zero up to rounding and the accuracy of the mapping, because
// two sides may join smoothly at a vertex.
constexpr double inaccuracy_at_vertices = -1e-3;

/// Returns @p cells on the first rank, and none on the others. All ranks have the same coarse mesh.
std::vector<InvertedCell> on_first_rank(std::vector<InvertedCell> cells,
                                        const MPI_Comm communicator)
{
  return Utilities::MPI::this_mpi_process(communicator) == 0 ? std::move(cells)
                                                             : std::vector<InvertedCell>();
}

/// Returns a warning about cells whose Jacobian is negative at vertices only.
std::string warning_of_vertices(const std::vector<InvertedCell> &cells, const std::string &location,
                                const int dim)
{
  if (cells.empty())
    return {};
  return (location.empty() ? "a cell" : location + "the cell") +
         " is inverted at a vertex, but at no Gauss point: " + cells[0].determinant_text(dim) +
         (cells.size() == 1 ? "" : ", as in " + std::to_string(cells.size()) + " cells in all") +
         ". The solution may be inaccurate there, and refinement can invert the cell. Improve the "
         "mesh there.";
}

template <int dim>
void check_neighbours(const Triangulation<dim> &coarse, const std::vector<std::string> &locations)
{
  for (const auto &cell : coarse.active_cell_iterators())
    for (const unsigned int f : cell->face_indices()) {
      if (cell->at_boundary(f) || cell->neighbor(f)->index() < cell->index())
        continue;
      const auto neighbor = cell->neighbor(f);
      const Tensor<1, dim> n = face_normal<dim>(cell->face(f));
      const auto side = [&](const Point<dim> &p) { return n * (p - cell->face(f)->center()); };
      if (side(cell->center()) * side(neighbor->center()) > 0.) {
        std::ostringstream text;
        text << locations[neighbor->active_cell_index()] << "the cell lies on the same side of the "
             << "face at (" << cell->face(f)->center() << ") as its neighbour ("
             << locations[cell->active_cell_index()]
             << "): one of them is inverted. Fix the nodes there, or mesh the model again.";
        throw InputError(text.str());
      }
    }
}
} // namespace

template <int dim>
std::string check_straight_cells(const Triangulation<dim> &coarse,
                                 const std::vector<std::string> &locations,
                                 const std::string &directory, const MPI_Comm communicator)
{
  const ReferenceCell reference = coarse.get_reference_cells()[0];
  const auto gauss =
      reference.template get_gauss_type_quadrature<dim>(reference.is_simplex() ? 1 : 2);
  InvertedCells found = find_inverted_cells(
      coarse, reference.template get_default_linear_mapping<dim>(), gauss, /* at vertices */ 1e-14);
  refuse_inverted_cells<dim>(
      on_first_rank(std::move(found.at_gauss_points), communicator), locations, directory,
      [&](const InvertedCell &cell) {
        return locations[cell.number] + "the cell is inverted or degenerate: ";
      },
      "Fix its nodes, or mesh the model again.", communicator);
  check_neighbours(coarse, locations);
  const auto &at_vertices = found.only_at_vertices;
  return warning_of_vertices(at_vertices,
                             at_vertices.empty() ? "" : locations[at_vertices[0].number], dim);
}

template <int dim>
InvertedCells find_inverted_quadratic_cells(const Triangulation<dim> &coarse)
{
  const auto gauss = coarse.get_reference_cells()[0].template get_gauss_type_quadrature<dim>(3);
  return find_inverted_cells(coarse, *make_mapping<dim>(coarse, /* is curved */ true, 2), gauss,
                             inaccuracy_at_vertices);
}

template <int dim>
std::string check_quadratic_cells(InvertedCells found, const std::vector<std::string> &locations,
                                  const std::string &directory, const MPI_Comm communicator)
{
  refuse_inverted_cells<dim>(
      on_first_rank(std::move(found.at_gauss_points), communicator), locations, directory,
      [&](const InvertedCell &cell) {
        return locations[cell.number] +
               "the cell is inverted or degenerate with its nodes of second order: ";
      },
      "Set Mesh/Inverted cells to straighten, use a finer mesh there, fix its nodes (in gmsh, "
      "Mesh.HighOrderOptimize = 2), or mesh with `gmsh -order 1` and name curved sides in "
      "Mesh/Manifolds.",
      communicator);
  const auto &at_vertices = found.only_at_vertices;
  return warning_of_vertices(at_vertices,
                             at_vertices.empty() ? "" : locations[at_vertices[0].number], dim);
}

bool straighten_cells(const InvertedCells &inverted, MeshTable &table)
{
  std::set<std::string> locations;
  for (const auto *const cells : {&inverted.at_gauss_points, &inverted.only_at_vertices})
    for (const InvertedCell &cell : *cells)
      locations.insert(table.cell_locations[cell.number]);
  const auto corners_of = [](const SecondOrderNode &middle) {
    return std::set<std::size_t>(middle.corners.begin(), middle.corners.end());
  };
  std::set<std::set<std::size_t>> straight; // edges and faces, by their corners
  for (const SecondOrderNode &middle : table.second_order_nodes)
    if (locations.count(table.location_of(middle.location)) > 0)
      straight.insert(corners_of(middle));
  auto &nodes = table.second_order_nodes;
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(),
                             [&](const SecondOrderNode &middle) {
                               return straight.count(corners_of(middle)) > 0;
                             }),
              nodes.end());
  return !straight.empty();
}

template <int dim>
std::string check_curved_cells(const Mesh<dim> &mesh, const Mapping<dim> &mapping,
                               const Quadrature<dim> &gauss, const unsigned int degree)
{
  if (!mesh.is_curved && !mesh.has_inverted_vertices)
    return {};
  const MPI_Comm communicator = compat::communicator(*mesh.triangulation);
  InvertedCells found =
      find_inverted_cells(*mesh.triangulation, mapping, gauss, inaccuracy_at_vertices);
  const auto message = [&](const InvertedCell &cell) {
    std::ostringstream text;
    Point<dim> center;
    for (unsigned int v = 0; v < cell.n_vertices; ++v)
      for (unsigned int d = 0; d < dim; ++d)
        center[d] += cell.vertices[v][d] / cell.n_vertices;
    text << "The cell at (" << center << ") is inverted or degenerate";
    if (mesh.is_curved)
      text << " with its curved sides, with a mapping of degree " << degree << ": ";
    else
      text << " with degree " << degree << ", because a cell of the mesh file is inverted at a "
           << "vertex: ";
    return text.str();
  };
  refuse_inverted_cells<dim>(
      std::move(found.at_gauss_points), {}, mesh.output_directory, message,
      mesh.has_inverted_vertices
          ? "Improve the mesh there, or refine less: lower Mesh/Initial refinements, Study/Cycles "
            "or Discretization/Degree."
          : "Lower Discretization/Degree, use a finer coarse mesh at the curved sides, or raise "
            "Mesh/Initial refinements.",
      communicator);
  if (mesh.has_inverted_vertices)
    return {}; // there has been a warning about the coarse mesh
  const auto cells = gather(std::move(found.only_at_vertices), communicator);
  return Utilities::MPI::broadcast(communicator, warning_of_vertices(cells, "", dim));
}

template <int dim>
void check_named_boundaries(
    const MeshParameters &parameters, const Mesh<dim> &mesh,
    const std::vector<std::pair<std::string, std::set<types::boundary_id>>> &of_conditions)
{
  const std::string path = "Mesh/Natural boundaries";
  std::set<types::boundary_id> named;
  bool all = false;
  for (const std::string &word : entries_of(parameters.natural_boundaries, ','))
    if (word == "all")
      all = true;
    else
      named.merge(mesh.regions.places(path, word, Places::sides));
  if (parameters.file.empty() || all)
    return;
  for (const auto &entry : of_conditions)
    named.insert(entry.second.begin(), entry.second.end());
  const NamedIds &boundaries = mesh.regions.boundaries;
  std::set<types::boundary_id> left;
  for (const auto id : boundaries.ids)
    if (id != 0 && named.count(id) == 0)
      left.insert(id);
  if (left.empty())
    return;
  throw ParameterError("No condition is given for " + boundaries.list(left) +
                           " of the boundary ids of '" + parameters.file + "', which has " +
                           boundaries.list() + ". Name them in a condition, or in " + path +
                           " for the natural condition without load or flux; 'all' there "
                           "includes all boundary ids without a condition.",
                       path);
}

namespace
{
constexpr double flat_angle = 1., corner_angle = 40.; // degrees

/// A boundary face of the coarse mesh without a manifold.
template <int dim>
struct Side
{
  types::boundary_id id;
  Point<dim> center;
  Tensor<1, dim> normal;            ///< outward unit normal
  std::vector<unsigned int> ridges; ///< indices of its vertices in 2D, of its edges in 3D
};

template <int dim>
Tensor<1, dim> outward_normal(const typename Triangulation<dim>::cell_iterator &cell,
                              const unsigned int f)
{
  const auto face = cell->face(f);
  Tensor<1, dim> n = face_normal<dim>(face);
  n /= n.norm();
  return n * (face->center() - cell->center()) > 0. ? n : -n;
}

template <int dim>
std::vector<Side<dim>> straight_sides(const Mesh<dim> &mesh)
{
  std::vector<Side<dim>> sides;
  for (const auto &cell : mesh.coarse().cell_iterators_on_level(0))
    for (const unsigned int f : cell->face_indices()) {
      const auto face = cell->face(f);
      if (!face->at_boundary() || face->manifold_id() != numbers::flat_manifold_id)
        continue;
      Side<dim> side = {face->boundary_id(), face->center(), outward_normal<dim>(cell, f), {}};
      if constexpr (dim == 2)
        side.ridges = {face->vertex_index(0), face->vertex_index(1)};
      else
        for (unsigned int l = 0; l < face->n_lines(); ++l)
          side.ridges.push_back(face->line_index(l));
      sides.push_back(side);
    }
  return sides;
}

/// An edge (in 2D a node) at which two faces with the same boundary id meet at an angle.
struct DihedralAngle
{
  unsigned int first, second; ///< indices of the two faces in the list of sides
  double degrees;             ///< positive where the body is convex
};

template <int dim>
std::vector<DihedralAngle> find_dihedral_angles(const std::vector<Side<dim>> &sides)
{
  std::map<unsigned int, std::vector<unsigned int>> at_ridge;
  for (unsigned int i = 0; i < sides.size(); ++i)
    for (const unsigned int ridge : sides[i].ridges)
      at_ridge[ridge].push_back(i);
  std::vector<DihedralAngle> angles;
  for (const auto &[ridge, adjacent] : at_ridge) {
    if (adjacent.size() != 2 || sides[adjacent[0]].id != sides[adjacent[1]].id)
      continue;
    const Side<dim> &a = sides[adjacent[0]], &b = sides[adjacent[1]];
    const double angle = std::acos(std::clamp(a.normal * b.normal, -1., 1.)) * 180. / numbers::PI;
    const bool is_convex = (b.center - a.center) * a.normal < 0.;
    angles.push_back({adjacent[0], adjacent[1], is_convex ? angle : -angle});
  }
  return angles;
}

/// Sides that look like the facets of a curved surface.
template <int dim>
struct FacetedSides
{
  std::map<types::boundary_id, Point<dim>> locations;      ///< one location for each boundary id
  double min_angle = corner_angle, max_angle = flat_angle; ///< in degrees
};

/// Finds plane facets (groups of faces without an angle between them) that have at least two
/// neighbouring facets at small angles in the same sense.
template <int dim>
FacetedSides<dim> faceted_sides(const std::vector<Side<dim>> &sides)
{
  const std::vector<DihedralAngle> angles = find_dihedral_angles(sides);
  DisjointSets facets(static_cast<unsigned int>(sides.size()));
  for (const DihedralAngle &dihedral : angles)
    if (std::abs(dihedral.degrees) < flat_angle)
      facets.unite(dihedral.first, dihedral.second);
  // The angles to the neighbours of each facet, at its convex and at its concave edges.
  std::map<std::pair<unsigned int, bool>, std::map<unsigned int, double>> neighbours;
  for (const DihedralAngle &dihedral : angles) {
    const double angle = std::abs(dihedral.degrees);
    if (angle < flat_angle || angle > corner_angle)
      continue;
    const unsigned int a = facets.root(dihedral.first), b = facets.root(dihedral.second);
    neighbours[{a, dihedral.degrees > 0.}][b] = angle;
    neighbours[{b, dihedral.degrees > 0.}][a] = angle;
  }
  FacetedSides<dim> found;
  for (const auto &[facet, others] : neighbours)
    if (others.size() > 1) {
      const Side<dim> &side = sides[facet.first];
      found.locations.try_emplace(side.id, side.center);
      for (const auto &other : others) {
        found.min_angle = std::min(found.min_angle, other.second);
        found.max_angle = std::max(found.max_angle, other.second);
      }
    }
  return found;
}
} // namespace

template <int dim>
std::string warning_of_faceted_sides(const Mesh<dim> &mesh)
{
  const FacetedSides<dim> found = faceted_sides(straight_sides(mesh));
  if (found.locations.empty())
    return {};
  std::set<types::boundary_id> ids;
  for (const auto &entry : found.locations)
    ids.insert(entry.first);
  std::ostringstream text;
  text.precision(3);
  text << "boundary id " << mesh.regions.boundaries.list(ids) << " has angles of "
       << found.min_angle << " to " << found.max_angle
       << " degrees between its faces, for example at (" << found.locations.begin()->second
       << "), as if it were curved, but refinement keeps these corners, where stresses may be "
          "singular. Name the surface in Mesh/Manifolds ("
       << (dim == 2 ? "as polar or ellipse" : "as sphere, cylinder or cone")
       << "), save a gmsh mesh with second order (`gmsh -order 2`), use a finer mesh file instead "
          "of refinement, or write '"
       << found.locations.begin()->first << ": flat' in Mesh/Manifolds if the corners are real.";
  return text.str();
}

template std::string check_straight_cells(const Triangulation<2> &,
                                          const std::vector<std::string> &, const std::string &,
                                          MPI_Comm);
template InvertedCells find_inverted_quadratic_cells(const Triangulation<2> &);
template std::string check_quadratic_cells<2>(InvertedCells, const std::vector<std::string> &,
                                              const std::string &, MPI_Comm);
template std::string check_curved_cells(const Mesh<2> &, const Mapping<2> &, const Quadrature<2> &,
                                        unsigned int);
template std::string check_straight_cells(const Triangulation<3> &,
                                          const std::vector<std::string> &, const std::string &,
                                          MPI_Comm);
template InvertedCells find_inverted_quadratic_cells(const Triangulation<3> &);
template std::string check_quadratic_cells<3>(InvertedCells, const std::vector<std::string> &,
                                              const std::string &, MPI_Comm);
template std::string check_curved_cells(const Mesh<3> &, const Mapping<3> &, const Quadrature<3> &,
                                        unsigned int);
template void
check_named_boundaries(const MeshParameters &, const Mesh<2> &,
                       const std::vector<std::pair<std::string, std::set<types::boundary_id>>> &);
template void
check_named_boundaries(const MeshParameters &, const Mesh<3> &,
                       const std::vector<std::pair<std::string, std::set<types::boundary_id>>> &);
template std::string warning_of_faceted_sides(const Mesh<2> &);
template std::string warning_of_faceted_sides(const Mesh<3> &);
} // namespace femgpu
