#include "physics/mesh/mesh_manifolds.h"

#include "linalg/base/error.h"
#include "physics/expressions.h"
#include "physics/mesh/curved_cells.h"

#include <deal.II/grid/manifold.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
const std::string manifolds_path = "Mesh/Manifolds";
constexpr double tolerance = 1e-5; // of the radius, for nodes on a surface

[[noreturn]] void refuse(const std::string &entry, const std::string &what)
{
  throw ParameterError("The entry '" + entry + "' of " + manifolds_path + " " + what +
                           " Write entries such as '1, hole: polar 0, 0; rim: ellipse 0, 0, 2, 0, "
                           "1' in 2D, and 'ball: sphere 0, 0, 0; pipe: cylinder 0, 0, 0, 0, 0, 1' "
                           "(a point of the axis and its direction) in 3D.",
                       manifolds_path);
}

/// What an entry says after the colon: a name and numbers.
struct SurfaceKind
{
  std::string name;
  bool has_axis;    ///< a direction after the center or point of the axis
  bool is_elliptic; ///< has a semi-axis and the length of the other one last
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
      refuse(entry, "has '" + word + "' where a number should be.");
    numbers.push_back(*number);
  }
  return numbers;
}
} // namespace

template <int dim>
CurvedSides<dim>::CurvedSides(const std::string &text, const MeshRegions &regions)
{
  std::set<types::boundary_id> seen;
  for (const std::string &entry : entries_of(text)) {
    const auto colon = entry.find(':');
    if (colon == std::string::npos)
      refuse(entry, "has no ':' after its boundary ids.");
    Side &side = sides.emplace_back();
    side.entry = entry;
    for (const std::string &word : split_expressions(entry.substr(0, colon), ','))
      side.ids.insert(regions.boundary(manifolds_path, word));
    read_surface(trimmed(entry.substr(colon + 1)), side);
    for (const auto id : side.ids)
      if (!seen.insert(id).second)
        refuse(entry, "names boundary id " + std::to_string(id) + " again.");
  }
}

template <int dim>
void CurvedSides<dim>::read_surface(const std::string &text, Side &side) const
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
      refuse(side.entry, "has " + std::to_string(numbers.size()) + " numbers, but " + kind.name +
                             " needs " + std::to_string(n) + ".");
    const auto vector = [&numbers](const unsigned int i) {
      Tensor<1, dim> result;
      for (unsigned int d = 0; d < dim; ++d)
        result[d] = numbers[i * dim + d];
      return result;
    };
    const Tensor<1, dim> axis = kind.has_axis ? vector(1) : Tensor<1, dim>();
    if (kind.has_axis && !(axis.norm() > 0.))
      refuse(side.entry, "has an axis without direction.");
    side.surface = SurfaceFamily<dim>::round(Point<dim>(vector(0)), axis);
    side.is_cone = kind.name == "cone";
    if (kind.is_elliptic) {
      const Tensor<1, dim> first = vector(kind.has_axis ? 2 : 1);
      if (!(first.norm() > 0.) || !(numbers.back() > 0.))
        refuse(side.entry, "has a semi-axis without length.");
      if (std::abs(first * axis) > tolerance * first.norm() * axis.norm())
        refuse(side.entry, "has a semi-axis that is not normal to the axis.");
      side.surface =
          SurfaceFamily<dim>::elliptic(Point<dim>(vector(0)), axis, first, numbers.back());
    }
    return;
  }
  refuse(side.entry, "has the surface '" + text + "', but in " + std::to_string(dim) +
                         "D there are " + known + "and flat.");
}

/// From the nodes that are farthest apart along the axis.
template <int dim>
void CurvedSides<dim>::find_angle(const Triangulation<dim> &coarse, Side &side) const
{
  std::map<double, Point<dim>> nodes; // by height
  for (const auto &face : coarse.active_face_iterators())
    if (face->at_boundary() && face->boundary_id() == *side.ids.begin())
      for (const unsigned int v : face->vertex_indices())
        nodes.emplace(side.surface->height(face->vertex(v)), face->vertex(v));
  const auto &lowest = *nodes.begin(), &highest = *nodes.rbegin();
  if (!(highest.first - lowest.first > tolerance * lowest.second.distance(highest.second)))
    refuse(side.entry, "does not fit the mesh: all nodes of the cone are at one height.");
  side.surface = side.surface->cones_through(lowest.second, highest.second);
}

/// All nodes of a boundary id lie on one surface of the family, but for rounding in the file.
template <int dim>
void CurvedSides<dim>::check(const Triangulation<dim> &coarse, const Side &side) const
{
  std::map<types::boundary_id, std::pair<double, double>> firsts; // two ids may be concentric
  for (const auto &face : coarse.active_face_iterators()) {
    if (!face->at_boundary() || side.ids.count(face->boundary_id()) == 0)
      continue;
    for (const unsigned int v : face->vertex_indices()) {
      const double level = side.surface->level(face->vertex(v));
      const double radius = side.surface->radius(face->vertex(v));
      const auto [first, size] =
          firsts.emplace(face->boundary_id(), std::pair(level, radius)).first->second;
      if (std::abs(level - first) <= tolerance * std::max(size, radius) &&
          (side.is_cone || std::max(size, radius) > 0.))
        continue;
      std::ostringstream text;
      text << "does not fit the mesh: the node at (" << face->vertex(v) << ") is " << level
           << " away from the center or axis"
           << (side.is_cone ? " (along a cone, to the height of the given point)" : "")
           << ", another one of boundary id " << face->boundary_id() << " " << first << ".";
      refuse(side.entry, text.str());
    }
  }
}

template <int dim>
bool CurvedSides<dim>::any_curved() const
{
  return std::any_of(sides.begin(), sides.end(),
                     [](const Side &side) { return side.surface.has_value(); });
}

template <int dim>
void CurvedSides<dim>::mark(Triangulation<dim> &coarse, const std::vector<MiddleNode> &middles)
{
  if (sides.empty() && middles.empty())
    return;
  for (const auto id : coarse.get_manifold_ids())
    if (id != numbers::flat_manifold_id)
      throw ParameterError(manifolds_path +
                               " is given for a mesh whose generator knows its curved sides "
                               "itself. Leave it empty.",
                           manifolds_path);
  for (Side &side : sides) {
    if (side.is_cone)
      find_angle(coarse, side);
    if (side.surface)
      check(coarse, side);
    curves.push_back({side.surface, {}});
  }
  if (!middles.empty())
    mark_quadratic(coarse, middles);
  for (const auto &face : coarse.active_face_iterators())
    if (const Side *const side = side_of(face))
      face->set_manifold_id(static_cast<types::manifold_id>(side - sides.data()));
  if constexpr (dim == 3)
    if (!sides.empty())
      mark_edges(coarse);
}

namespace
{
/// Gives @p object, a face or in 2D a cell, @p id if it has a node of @p quadratic or curved edges.
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
} // namespace

template <int dim>
void CurvedSides<dim>::mark_quadratic(Triangulation<dim> &coarse,
                                      const std::vector<MiddleNode> &middles)
{
  const auto point_of = [](const std::array<double, 3> &x) {
    Point<dim> p;
    std::copy_n(x.begin(), dim, p.begin_raw());
    return p;
  };
  quadratic = std::make_shared<QuadraticGeometry<dim>>();
  for (const MiddleNode &middle : middles) {
    std::vector<Point<dim>> corners;
    for (const auto &corner : middle.corners)
      corners.push_back(point_of(corner));
    if (!quadratic->add(corners, point_of(middle.node)))
      throw InputError(middle.place + "the node in the middle of an edge or face of this cell is "
                                      "not that of its neighbour. Mesh the model again.");
  }
  const auto id = static_cast<types::manifold_id>(curves.size());
  curves.emplace_back(); // keeps the number
  for (const auto &cell : coarse.active_cell_iterators()) {
    for (const unsigned int l : cell->line_indices())
      if (const auto line = cell->line(l); quadratic->find({line->vertex(0), line->vertex(1)}))
        line->set_manifold_id(id);
    if constexpr (dim == 2)
      mark_face(cell, *quadratic, id);
    else
      for (const unsigned int f : cell->face_indices())
        mark_face(cell->face(f), *quadratic, id);
  }
}

template <int dim>
template <class FaceIterator>
const typename CurvedSides<dim>::Side *CurvedSides<dim>::side_of(const FaceIterator &face) const
{
  if (face->at_boundary())
    for (const Side &side : sides)
      if (side.ids.count(face->boundary_id()) > 0)
        return &side;
  return nullptr;
}

namespace
{
/// The plane through the corners of a face, if there is one, and through its nodes in
/// @p quadratic, which may be nullptr.
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
} // namespace

/**
 * An edge of two curved sides lies on both surfaces, and one of a curved and another side in the
 * plane of the latter, too: on the curve in which these meet. What the file's geometry says of an
 * edge of a named side is forgotten.
 */
template <int dim>
void CurvedSides<dim>::mark_edges(Triangulation<dim> &coarse)
{
  std::map<unsigned int, Curve> at_edges;
  std::set<unsigned int> named;
  for (const auto &face : coarse.active_face_iterators()) {
    if (!face->at_boundary())
      continue;
    const Side *const side = side_of(face);
    std::optional<SurfaceFamily<dim>> surface;
    if (side != nullptr && side->surface)
      surface = side->surface;
    else if constexpr (dim == 3)
      surface = plane_of(face, side == nullptr ? quadratic.get() : nullptr);
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
        face->line(l)->set_manifold_id(manifold_of(at_edges[face->line_index(l)]));
}

/// The manifold of such an edge, which many edges may have in common.
template <int dim>
types::manifold_id CurvedSides<dim>::manifold_of(const Curve &curve)
{
  if (!curve.first || curve.first->is_plane()) // of two planes: straight
    return numbers::flat_manifold_id;
  const auto known = std::find(curves.begin(), curves.end(), curve);
  const auto id = static_cast<types::manifold_id>(known - curves.begin());
  if (known == curves.end())
    curves.push_back(curve);
  return id;
}

template <int dim>
void CurvedSides<dim>::attach(Triangulation<dim> &triangulation) const
{
  for (unsigned int i = 0; i < curves.size(); ++i) {
    const auto &[first, second] = curves[i];
    if (second)
      triangulation.set_manifold(i, CurveManifold<dim>(*first, *second));
    else if (first)
      triangulation.set_manifold(i, SurfaceManifold<dim>(*first));
    else if (i < sides.size())
      triangulation.set_manifold(i, FlatManifold<dim>());
    else
      triangulation.set_manifold(i, QuadraticManifold<dim>(quadratic));
  }
  if ((any_curved() || quadratic != nullptr) && triangulation.all_reference_cells_are_hyper_cube())
    keep_curved_cells(triangulation);
}

template class CurvedSides<2>;
template class CurvedSides<3>;
} // namespace femgpu
