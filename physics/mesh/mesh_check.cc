#include "physics/mesh/mesh_check.h"

#include "linalg/base/error.h"
#include "physics/base/collective.h"
#include "physics/base/deal_ii_compat.h"
#include "physics/base/fields.h"
#include "physics/mesh/disjoint_sets.h"
#include "physics/mesh/mesh_mapping.h"

#include <deal.II/base/numbers.h>
#include <deal.II/base/quadrature.h>
#include <deal.II/fe/fe_nothing.h>
#include <deal.II/fe/fe_values.h>
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
// The smallest valid determinant, relative to the cell's size to the power of the dimension: far
// below the determinant of the flattest cells used in practice.
constexpr double smallest_determinant = 1e-14;

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

/// Returns the points of @p quadrature, followed by the vertices of the reference cell.
template <int dim>
Quadrature<dim> with_vertices(const Quadrature<dim> &quadrature, const ReferenceCell &reference)
{
  std::vector<Point<dim>> points = quadrature.get_points();
  for (const unsigned int v : reference.vertex_indices())
    points.push_back(reference.template vertex<dim>(v));
  return Quadrature<dim>(points);
}

/// Returns the first cell of this rank whose @p mapping is inverted at one of @p points, with a
/// description of the point with the smallest determinant; {mesh.end(), ""} if there is no such
/// cell. At the points from number @p n_strict on, which are vertices, the determinant may be zero
/// up to rounding and the accuracy of the mapping, because two sides may join smoothly at a vertex.
template <int dim>
std::pair<typename Triangulation<dim>::cell_iterator, std::string>
inverted_cell(const Triangulation<dim> &mesh, const Mapping<dim> &mapping,
              const Quadrature<dim> &points, const unsigned int n_strict)
{
  const FE_Nothing<dim> none(mesh.get_reference_cells()[0]);
  FEValues<dim> fe(mapping, none, points, update_jacobians | update_quadrature_points);
  for (const auto &cell : mesh.active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    fe.reinit(cell);
    const double size = std::pow(cell->diameter(), dim);
    std::optional<double> smallest;
    Point<dim> point;
    for (const unsigned int q : fe.quadrature_point_indices())
      if (const double det = fe.jacobian(q).determinant();
          !(det > (q < n_strict ? smallest_determinant : -1e-3) * size) &&
          (!smallest || !(det >= *smallest))) {
        smallest = det;
        point = fe.quadrature_point(q);
      }
    if (!smallest)
      continue;
    std::ostringstream text;
    text << "the determinant of its Jacobian is " << *smallest << " at (" << point << ")";
    return {cell, text.str()};
  }
  return {mesh.end(), ""};
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
void check_straight_cells(const Triangulation<dim> &coarse,
                          const std::vector<std::string> &locations)
{
  const ReferenceCell reference = coarse.get_reference_cells()[0];
  const bool is_simplex = reference.is_simplex(); // simplices have a constant determinant
  const auto gauss = reference.template get_gauss_type_quadrature<dim>(is_simplex ? 1 : 2);
  const auto points = is_simplex ? gauss : with_vertices(gauss, reference);
  const auto [cell, where] = inverted_cell(
      coarse, reference.template get_default_linear_mapping<dim>(), points, points.size());
  if (!where.empty())
    throw InputError(locations[cell->active_cell_index()] + "the cell is inverted or degenerate: " +
                     where + ". Fix its nodes, or mesh the model again.");
  check_neighbours(coarse, locations);
}

template <int dim>
void check_quadratic_cells(const Triangulation<dim> &coarse,
                           const std::vector<std::string> &locations)
{
  const ReferenceCell reference = coarse.get_reference_cells()[0];
  const auto mapping = make_mapping<dim>(coarse, /* is curved */ true, 2);
  const auto gauss = reference.template get_gauss_type_quadrature<dim>(3);
  const auto [cell, where] =
      inverted_cell(coarse, *mapping, with_vertices(gauss, reference), gauss.size());
  if (!where.empty())
    throw InputError(locations[cell->active_cell_index()] +
                     "the cell is inverted or degenerate with its nodes of second order: " + where +
                     ". Use a finer mesh there, fix its nodes (in gmsh, Mesh.HighOrderOptimize = "
                     "2), or mesh with `gmsh -order 1` and name curved sides in Mesh/Manifolds.");
}

template <int dim>
void check_curved_cells(const Mesh<dim> &mesh, const Mapping<dim> &mapping,
                        const Quadrature<dim> &gauss, const unsigned int degree)
{
  if (!mesh.is_curved)
    return;
  rethrow_on_all_ranks<InputError>(compat::communicator(*mesh.triangulation), [&] {
    const auto [cell, where] =
        inverted_cell(*mesh.triangulation, mapping,
                      with_vertices(gauss, mesh.coarse().get_reference_cells()[0]), gauss.size());
    if (where.empty())
      return;
    std::ostringstream text;
    text << "The cell at (" << cell->center() << ") is inverted or degenerate with its curved "
         << "sides: " << where << ", with a mapping of degree " << degree
         << ". Lower Discretization/Degree, use a finer coarse mesh at the curved sides, or "
         << "raise Mesh/Initial refinements.";
    throw InputError(text.str());
  });
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
      named.merge(mesh.regions.boundary(path, word));
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

template void check_straight_cells(const Triangulation<2> &, const std::vector<std::string> &);
template void check_straight_cells(const Triangulation<3> &, const std::vector<std::string> &);
template void check_quadratic_cells(const Triangulation<2> &, const std::vector<std::string> &);
template void check_quadratic_cells(const Triangulation<3> &, const std::vector<std::string> &);
template void check_curved_cells(const Mesh<2> &, const Mapping<2> &, const Quadrature<2> &,
                                 unsigned int);
template void check_curved_cells(const Mesh<3> &, const Mapping<3> &, const Quadrature<3> &,
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
