#include "physics/mesh/mesh_manifolds.h"

#include "linalg/base/error.h"
#include "physics/base/fields.h"
#include "physics/mesh/quadratic_geometry.h"
#include "physics/mesh/surfaces.h"

#include <deal.II/grid/manifold.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
const std::string manifolds_path = "Mesh/Manifolds";
constexpr double surface_tolerance = 1e-5; // relative to the radius, for nodes on a surface

/// A side that an entry of Mesh/Manifolds describes.
template <int dim>
struct NamedSide
{
  std::string entry; ///< text of the entry, for messages
  std::set<types::boundary_id> ids;
  std::optional<SurfaceFamily<dim>> surface; ///< nullopt: flat, as in the file
  bool is_cone = false;                      ///< if so, `surface` is a cylinder before find_angle()
};

/// The surfaces that meet at an edge: a curved one first if there is one, then a second surface or
/// plane if there is one.
template <int dim>
struct EdgeSurfaces
{
  std::optional<SurfaceFamily<dim>> first, second;

  void add(const SurfaceFamily<dim> &surface)
  {
    if (!first)
      first = surface;
    else if (!second && !(surface == *first))
      second = surface;
    if (second && first->is_plane())
      std::swap(first, second);
  }
  bool operator==(const EdgeSurfaces &other) const
  {
    return first == other.first && second == other.second;
  }
};

[[noreturn]] void reject(const std::string &entry, const std::string &what)
{
  throw ParameterError("The entry '" + entry + "' of " + manifolds_path + " " + what +
                           " Write entries such as '1, hole: polar 0, 0; rim: ellipse 0, 0, 2, 0, "
                           "1' in 2D, and 'ball: sphere 0, 0, 0; pipe: cylinder 0, 0, 0, 0, 0, 1' "
                           "(a point of the axis and its direction) in 3D.",
                       manifolds_path);
}

/// A kind of surface in an entry: its name, and which numbers follow the name.
struct SurfaceKind
{
  std::string name;
  bool has_axis;    ///< a direction follows the center or the point on the axis
  bool is_elliptic; ///< a semi-axis and the length of the other one come last
};

template <int dim>
const std::vector<SurfaceKind> &surface_kinds()
{
  static const std::vector<SurfaceKind> of_lines = {
      {"polar", false, false}, {"sphere", false, false}, {"ellipse", false, true}};
  static const std::vector<SurfaceKind> of_surfaces = {{"sphere", false, false},
                                                       {"cylinder", true, false},
                                                       {"elliptic cylinder", true, true},
                                                       {"cone", true, false}};
  return dim == 2 ? of_lines : of_surfaces;
}

std::vector<double> read_numbers(const std::string &entry, const std::string &text)
{
  std::vector<double> numbers;
  for (const std::string &word : split_expressions(text, ',')) {
    const auto number = finite_number(word);
    if (!number)
      reject(entry, "has '" + word + "' instead of a number.");
    numbers.push_back(*number);
  }
  return numbers;
}

/// Parses @p text, the part after the colon, and sets the surface of @p side.
template <int dim>
void read_surface(const std::string &text, NamedSide<dim> &side)
{
  if (text == "flat")
    return;
  std::string known;
  for (const SurfaceKind &kind : surface_kinds<dim>()) {
    known += kind.name + ", ";
    if ((text + " ").rfind(kind.name + " ", 0) != 0)
      continue;
    const auto numbers = read_numbers(side.entry, text.substr(kind.name.size()));
    const unsigned int n = dim * (1 + kind.has_axis + kind.is_elliptic) + kind.is_elliptic;
    if (numbers.size() != n)
      reject(side.entry, "has " + std::to_string(numbers.size()) + " numbers, but " + kind.name +
                             " needs " + std::to_string(n) + ".");
    const auto vector = [&numbers](const unsigned int i) {
      Tensor<1, dim> result;
      for (unsigned int d = 0; d < dim; ++d)
        result[d] = numbers[i * dim + d];
      return result;
    };
    const Tensor<1, dim> axis = kind.has_axis ? vector(1) : Tensor<1, dim>();
    if (kind.has_axis && !(axis.norm() > 0.))
      reject(side.entry, "has an axis direction of zero.");
    side.surface = SurfaceFamily<dim>::round(Point<dim>(vector(0)), axis);
    side.is_cone = kind.name == "cone";
    if (kind.is_elliptic) {
      const Tensor<1, dim> first = vector(kind.has_axis ? 2 : 1);
      if (!(first.norm() > 0.) || !(numbers.back() > 0.))
        reject(side.entry, "has a semi-axis of length zero.");
      if (std::abs(first * axis) > surface_tolerance * first.norm() * axis.norm())
        reject(side.entry, "has a semi-axis that is not normal to the axis.");
      side.surface =
          SurfaceFamily<dim>::elliptic(Point<dim>(vector(0)), axis, first, numbers.back());
    }
    return;
  }
  reject(side.entry, "has the surface '" + text + "', but in " + std::to_string(dim) +
                         "D there are only " + known + "and flat.");
}

template <int dim>
std::vector<NamedSide<dim>> read_sides(const std::string &text, const MeshRegions &regions)
{
  std::vector<NamedSide<dim>> sides;
  std::set<types::boundary_id> seen;
  for (const std::string &entry : entries_of(text)) {
    const auto colon = entry.find(':');
    if (colon == std::string::npos)
      reject(entry, "has no ':' after its boundary ids.");
    NamedSide<dim> &side = sides.emplace_back();
    side.entry = entry;
    for (const std::string &word : split_expressions(entry.substr(0, colon), ','))
      side.ids.merge(regions.boundary(manifolds_path, word));
    read_surface(trimmed(entry.substr(colon + 1)), side);
    for (const auto id : side.ids)
      if (!seen.insert(id).second)
        reject(entry, "repeats boundary id " + std::to_string(id) + ".");
  }
  return sides;
}

/// Determines the angle of a cone from the nodes that are farthest apart along its axis.
template <int dim>
void find_angle(const Triangulation<dim> &coarse, NamedSide<dim> &side)
{
  std::map<double, Point<dim>> nodes; // nodes by height
  for (const auto &face : coarse.active_face_iterators())
    if (face->at_boundary() && face->boundary_id() == *side.ids.begin())
      for (const unsigned int v : face->vertex_indices())
        nodes.emplace(side.surface->height(face->vertex(v)), face->vertex(v));
  const auto &lowest = *nodes.begin(), &highest = *nodes.rbegin();
  if (!(highest.first - lowest.first > surface_tolerance * lowest.second.distance(highest.second)))
    reject(side.entry, "does not fit the mesh: all nodes of the cone are at one height.");
  side.surface = side.surface->cones_through(lowest.second, highest.second);
}

/// Checks that all nodes of each boundary id lie on one surface of the family, up to rounding in
/// the file. Several ids may have concentric surfaces.
template <int dim>
void check_nodes(const Triangulation<dim> &coarse, const NamedSide<dim> &side)
{
  std::map<types::boundary_id, std::pair<double, double>> first_levels; // level and radius
  for (const auto &face : coarse.active_face_iterators()) {
    if (!face->at_boundary() || side.ids.count(face->boundary_id()) == 0)
      continue;
    for (const unsigned int v : face->vertex_indices()) {
      const double level = side.surface->level(face->vertex(v));
      const double radius = side.surface->radius(face->vertex(v));
      const auto [first, size] =
          first_levels.emplace(face->boundary_id(), std::pair(level, radius)).first->second;
      if (std::abs(level - first) <= surface_tolerance * std::max(size, radius) &&
          (side.is_cone || std::max(size, radius) > 0.))
        continue;
      std::ostringstream text;
      text << "does not fit the mesh: the node at (" << face->vertex(v) << ") is " << level
           << " away from the centre or axis"
           << (side.is_cone ? " (along a cone, to the height of the given point)" : "")
           << ", but another node of boundary id " << face->boundary_id() << " is " << first
           << " away.";
      reject(side.entry, text.str());
    }
  }
}

/// Assigns manifold @p id to @p object, a face or in 2D a cell, if @p quadratic has a node for its
/// corners or, in 3D, if one of its edges has this id.
template <int dim, class Object>
void mark_face(const Object &object, const QuadraticGeometry<dim> &quadratic,
               const types::manifold_id id)
{
  std::vector<Point<dim>> corners;
  for (const unsigned int v : object->vertex_indices())
    corners.push_back(object->vertex(v));
  bool is_curved = quadratic.find(corners) != nullptr;
  for (unsigned int l = 0; dim == 3 && l < object->n_lines(); ++l)
    is_curved = is_curved || object->line(l)->manifold_id() == id;
  if (is_curved)
    object->set_manifold_id(id);
}

/// Returns the nodes of second order in @p table. @throws InputError if adjacent cells have
/// different nodes on the same edge or face
template <int dim>
std::shared_ptr<QuadraticGeometry<dim>> quadratic_geometry(const MeshTable &table)
{
  const auto point = [&](const std::size_t index) {
    Point<dim> p;
    std::copy_n(table.points[index].begin(), dim, p.begin_raw());
    return p;
  };
  auto quadratic = std::make_shared<QuadraticGeometry<dim>>();
  for (const SecondOrderNode &middle : table.second_order_nodes) {
    std::vector<Point<dim>> corners;
    for (const std::size_t corner : middle.corners)
      corners.push_back(point(corner));
    if (!quadratic->add(corners, point(middle.node)))
      throw InputError(table.location_of(middle.location) +
                       "the mid-side node of an edge or face of this cell differs from its "
                       "neighbour's. Mesh the model again.");
  }
  return quadratic;
}

template <int dim>
void mark_quadratic(const QuadraticGeometry<dim> &quadratic, const types::manifold_id id,
                    Triangulation<dim> &coarse)
{
  for (const auto &cell : coarse.active_cell_iterators()) {
    for (const unsigned int l : cell->line_indices())
      if (const auto line = cell->line(l); quadratic.find({line->vertex(0), line->vertex(1)}))
        line->set_manifold_id(id);
    if constexpr (dim == 2)
      mark_face(cell, quadratic, id);
    else
      for (const unsigned int f : cell->face_indices())
        mark_face(cell->face(f), quadratic, id);
  }
}

/// Returns the side that contains @p face, or nullptr if there is none.
template <int dim, class FaceIterator>
const NamedSide<dim> *side_of(const FaceIterator &face, const std::vector<NamedSide<dim>> &sides)
{
  if (face->at_boundary())
    for (const NamedSide<dim> &side : sides)
      if (side.ids.count(face->boundary_id()) > 0)
        return &side;
  return nullptr;
}

/// Returns the plane through the corners of @p face and the nodes that @p quadratic has on its
/// edges; nullopt if these points are not in one plane. @p quadratic may be nullptr.
template <class FaceIterator>
std::optional<SurfaceFamily<3>> plane_of(const FaceIterator &face,
                                         const QuadraticGeometry<3> *const quadratic)
{
  constexpr double rounding = 1e-6;
  const Tensor<1, 3> a = face->vertex(1) - face->vertex(0), b = face->vertex(2) - face->vertex(0);
  const Tensor<1, 3> normal = cross_product_3d(a, b);
  if (!(normal.norm() > rounding * a.norm() * b.norm()))
    return {};
  const auto plane = SurfaceFamily<3>::plane(normal);
  std::vector<Point<3>> nodes;
  for (const unsigned int v : face->vertex_indices())
    nodes.push_back(face->vertex(v));
  for (unsigned int l = 0; quadratic != nullptr && l < face->n_lines(); ++l)
    if (const auto *const node =
            quadratic->find({face->line(l)->vertex(0), face->line(l)->vertex(1)}))
      nodes.push_back(*node);
  for (const Point<3> &node : nodes)
    if (std::abs(plane.level(node) - plane.level(nodes[0])) > rounding * face->diameter())
      return {};
  return plane;
}

/// Returns the manifold id for edges with the surfaces @p edge: their index in @p known, to which
/// they are added if they are new; flat_manifold_id for straight edges.
template <int dim>
types::manifold_id manifold_of(const EdgeSurfaces<dim> &edge, std::vector<EdgeSurfaces<dim>> &known)
{
  if (!edge.first || edge.first->is_plane()) // two planes meet in a straight line
    return numbers::flat_manifold_id;
  const auto found = std::find(known.begin(), known.end(), edge);
  const auto id = static_cast<types::manifold_id>(found - known.begin());
  if (found == known.end())
    known.push_back(edge);
  return id;
}

/**
 * Assigns manifolds to edges of named sides. An edge of two curved sides lies on both surfaces. An
 * edge of a curved and a plane side lies on the curve in which surface and plane meet. The nodes of
 * second order in the file are ignored on edges of named sides.
 * @param quadratic nodes of second order; nullptr if there are none
 * @param known the surfaces by manifold id; new combinations at edges are added
 */
void mark_edges_of_sides(const std::vector<NamedSide<3>> &sides,
                         const QuadraticGeometry<3> *const quadratic,
                         std::vector<EdgeSurfaces<3>> &known, Triangulation<3> &coarse)
{
  std::map<unsigned int, EdgeSurfaces<3>> at_edges;
  std::set<unsigned int> named;
  for (const auto &face : coarse.active_face_iterators()) {
    if (!face->at_boundary())
      continue;
    const NamedSide<3> *const side = side_of(face, sides);
    const std::optional<SurfaceFamily<3>> surface =
        side != nullptr && side->surface ? side->surface
                                         : plane_of(face, side == nullptr ? quadratic : nullptr);
    for (unsigned int l = 0; l < face->n_lines(); ++l) {
      if (surface)
        at_edges[face->line_index(l)].add(*surface);
      if (side != nullptr)
        named.insert(face->line_index(l));
    }
  }
  for (const auto &face : coarse.active_face_iterators())
    for (unsigned int l = 0; face->at_boundary() && l < face->n_lines(); ++l)
      if (named.count(face->line_index(l)) > 0)
        face->line(l)->set_manifold_id(manifold_of(at_edges[face->line_index(l)], known));
}
} // namespace

template <int dim>
bool assign_manifolds(const std::string &text, const MeshRegions &regions, const MeshTable &table,
                      Triangulation<dim> &coarse)
{
  std::vector<NamedSide<dim>> sides = read_sides<dim>(text, regions);
  const bool has_second_order_nodes = !table.second_order_nodes.empty();
  if (sides.empty() && !has_second_order_nodes)
    return false;
  for (const auto id : coarse.get_manifold_ids())
    if (id != numbers::flat_manifold_id)
      throw ParameterError(
          manifolds_path +
              " is set, but the generator of this mesh defines its curved sides. Remove it.",
          manifolds_path);
  // The surfaces by manifold id: one entry for each named side, empty if it is flat; an empty entry
  // for the nodes of second order, if there are any; entries for edges at which sides meet.
  std::vector<EdgeSurfaces<dim>> surfaces;
  bool any_curved = has_second_order_nodes;
  for (NamedSide<dim> &side : sides) {
    if (side.is_cone)
      find_angle(coarse, side);
    if (side.surface)
      check_nodes(coarse, side);
    any_curved = any_curved || side.surface;
    surfaces.push_back({side.surface, {}});
  }
  std::shared_ptr<QuadraticGeometry<dim>> quadratic;
  if (has_second_order_nodes) {
    quadratic = quadratic_geometry<dim>(table);
    const auto id = static_cast<types::manifold_id>(surfaces.size());
    mark_quadratic(*quadratic, id, coarse);
    coarse.set_manifold(id, QuadraticManifold<dim>(quadratic));
    surfaces.emplace_back(); // reserves the id
  }
  for (const auto &face : coarse.active_face_iterators())
    if (const auto *const side = side_of(face, sides))
      face->set_manifold_id(static_cast<types::manifold_id>(side - sides.data()));
  if constexpr (dim == 3)
    if (!sides.empty())
      mark_edges_of_sides(sides, quadratic.get(), surfaces, coarse);
  for (unsigned int i = 0; i < surfaces.size(); ++i)
    if (const auto &[first, second] = surfaces[i]; first)
      coarse.set_manifold(i, SurfaceManifold<dim>(*first, second));
    else if (i < sides.size())
      coarse.set_manifold(i, FlatManifold<dim>());
  return any_curved;
}

template bool assign_manifolds(const std::string &, const MeshRegions &, const MeshTable &,
                               Triangulation<2> &);
template bool assign_manifolds(const std::string &, const MeshRegions &, const MeshTable &,
                               Triangulation<3> &);
} // namespace femgpu
