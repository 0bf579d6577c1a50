#include "physics/mesh/touching_parts.h"

#include "linalg/base/error.h"
#include "linalg/base/text.h"
#include "physics/mesh/disjoint_sets.h"
#include "physics/mesh/near_points.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/tensor.h>
#include <deal.II/fe/mapping_q1.h>
#include <deal.II/grid/reference_cell.h>

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
const std::string merge_nodes_path = "Mesh/Merge nodes";

/// Nodes are equal if their distance is less than this fraction of the shortest edge: files have
/// seven digits or more.
constexpr double coincidence_tolerance = 1e-6;
/// A point deeper in a cell than this, relative to the cell's size, is inside, not on a side.
constexpr double overlap = 0.01;

/// A node of a boundary face, and a cell with this face.
template <int dim>
struct BoundaryNode
{
  unsigned int index;
  Point<dim> point;
  unsigned int cell;    ///< active cell index
  double shortest_edge; ///< shortest edge of all cells with a boundary face at this node
};

template <int dim>
std::vector<BoundaryNode<dim>> boundary_nodes(const Triangulation<dim> &coarse)
{
  std::vector<unsigned int> position(coarse.n_vertices(), numbers::invalid_unsigned_int);
  std::vector<BoundaryNode<dim>> nodes;
  for (const auto &cell : coarse.active_cell_iterators())
    for (const unsigned int f : cell->face_indices())
      if (cell->at_boundary(f))
        for (const unsigned int v : cell->face(f)->vertex_indices()) {
          const unsigned int index = cell->face(f)->vertex_index(v);
          if (position[index] == numbers::invalid_unsigned_int) {
            position[index] = static_cast<unsigned int>(nodes.size());
            nodes.push_back({index, cell->face(f)->vertex(v), cell->active_cell_index(),
                             std::numeric_limits<double>::max()});
          }
          auto &edge = nodes[position[index]].shortest_edge;
          for (const unsigned int l : cell->line_indices())
            edge = std::min(edge, cell->line(l)->vertex(0).distance(cell->line(l)->vertex(1)));
        }
  return nodes;
}

template <int dim>
std::vector<Point<dim>> points_of(const std::vector<BoundaryNode<dim>> &nodes)
{
  std::vector<Point<dim>> points;
  for (const auto &node : nodes)
    points.push_back(node.point);
  return points;
}

/**
 * Returns the largest distance of nodes to be merged, given the @p text of Mesh/Merge nodes; 0 for
 * 'refuse' and 'keep'.
 * @throws ParameterError if @p text is not 'refuse', 'keep' or a positive number
 */
double merge_tolerance(const std::string &text)
{
  if (text == "keep" || text == "refuse")
    return 0.;
  const double tolerance = finite_number(text).value_or(0.);
  if (!(tolerance > 0.))
    throw ParameterError("'" + text +
                             "' is not a distance. Set refuse, keep, or the largest distance of "
                             "nodes to merge, for example 1e-6.",
                         merge_nodes_path);
  return tolerance;
}
} // namespace

std::vector<std::size_t> merge_nodes(MeshTable &table, const std::string &text, const int dim)
{
  const double tolerance = merge_tolerance(text);
  if (tolerance == 0.)
    return {};
  std::set<std::size_t> nodes;
  for (const MeshElement &side : sides_on_boundary(table, dim))
    nodes.insert(side.nodes.begin(), side.nodes.begin() + side.shape->n_nodes);
  const std::vector<std::size_t> on_boundary(nodes.begin(), nodes.end());
  std::vector<Point<3>> points;
  for (const std::size_t node : on_boundary) {
    const auto &[x, y, z] = table.points[node];
    points.emplace_back(x, y, dim == 2 ? 0. : z);
  }
  DisjointSets sets(static_cast<unsigned int>(table.points.size()));
  bool any = false;
  const PointTree<3> tree(points);
  for (unsigned int i = 0; i < points.size(); ++i)
    for (const unsigned int other : tree.near(points[i], tolerance))
      if (other != i) {
        sets.unite(static_cast<unsigned int>(on_boundary[i]),
                   static_cast<unsigned int>(on_boundary[other]));
        any = true;
      }
  if (!any) {
    table.warnings.push_back(merge_nodes_path + " = " + text + " found no nodes to merge.");
    return {};
  }
  std::vector<std::size_t> merged(table.points.size());
  for (unsigned int i = 0; i < merged.size(); ++i)
    merged[i] = sets.root(i);
  replace_nodes(table, merged, dim);
  return merged;
}

namespace
{
[[noreturn]] void reject(const std::string &location, const std::string &what,
                         const std::string &advice)
{
  throw InputError(location + what + " " + advice +
                   " If these parts are meant to be separate, set " + merge_nodes_path +
                   " = keep.");
}

/// Removes the ": " from the end of @p location: "FILE:LINE: " becomes "FILE:LINE".
std::string name_of(const std::string &location)
{
  return location.substr(0, location.find_last_not_of(": ") + 1);
}

template <int dim>
void refuse_coincident_nodes(const std::vector<BoundaryNode<dim>> &nodes,
                             const std::vector<std::string> &locations)
{
  unsigned int n = 0;
  const BoundaryNode<dim> *first = nullptr, *second = nullptr;
  const PointTree<dim> tree(points_of(nodes));
  for (const auto &node : nodes)
    for (const unsigned int i : tree.near(node.point, coincidence_tolerance * node.shortest_edge)) {
      const auto &other = nodes[i];
      if (!(&other < &node &&
            node.point.distance(other.point) <= coincidence_tolerance * other.shortest_edge))
        continue;
      if (++n == 1) {
        first = &other;
        second = &node;
      }
    }
  if (n == 0)
    return;
  std::ostringstream what, advice;
  what << "the node of this cell at (" << first->point << ") coincides with another node ("
       << name_of(locations[second->cell]) << "). The mesh has " << n
       << (n == 1 ? " such pair" : " such pairs")
       << " of nodes, at which its parts are not connected.";
  advice.precision(1);
  advice << "Set " << merge_nodes_path << " = "
         << 10. * coincidence_tolerance * std::min(first->shortest_edge, second->shortest_edge)
         << " to merge each pair of nodes.";
  reject(locations[first->cell], what.str(), advice.str());
}

template <int dim>
using CellOfTree = typename Triangulation<dim>::active_cell_iterator;

/// Returns the depth of @p point in @p cell, relative to the cell's size; negative outside.
template <int dim>
double relative_depth(const CellOfTree<dim> &cell, const Point<dim> &point)
{
  const bool is_simplex = cell->reference_cell().is_simplex();
  Point<dim> unit;
  if (is_simplex) {
    Tensor<2, dim> edges; // as columns; the inverse gives the barycentric coordinates
    for (unsigned int d = 0; d < dim; ++d)
      for (unsigned int c = 0; c < dim; ++c)
        edges[c][d] = cell->vertex(d + 1)[c] - cell->vertex(0)[c];
    unit = Point<dim>(invert(edges) * (point - cell->vertex(0)));
  }
  else
    try {
      unit = StaticMappingQ1<dim>::mapping.transform_real_to_unit_cell(cell, point);
    }
    catch (const typename Mapping<dim>::ExcTransformationFailed &) {
      return -1.; // too far outside: the mapping has no inverse
    }
  double depth = 1., sum = 0.;
  for (unsigned int d = 0; d < dim; ++d) {
    depth = std::min({depth, unit[d], is_simplex ? 1. : 1. - unit[d]});
    sum += unit[d];
  }
  return is_simplex ? std::min(depth, 1. - sum) : depth;
}

/// Returns an R-tree of the bounding boxes of cells. Boxes are extended to include all points that
/// may touch the cells.
template <int dim>
auto boxes_around_cells(const Triangulation<dim> &coarse)
{
  std::vector<std::pair<BoundingBox<dim>, CellOfTree<dim>>> boxes;
  for (const auto &cell : coarse.active_cell_iterators()) {
    BoundingBox<dim> box = cell->bounding_box();
    box.extend(coincidence_tolerance * cell->diameter());
    boxes.emplace_back(box, cell);
  }
  return pack_rtree(boxes);
}

template <class CellIterator>
bool has_node(const CellIterator &cell, const unsigned int node)
{
  const auto vertices = cell->vertex_indices();
  return std::any_of(vertices.begin(), vertices.end(),
                     [&](const unsigned int v) { return cell->vertex_index(v) == node; });
}
} // namespace

template <int dim>
void refuse_touching_parts(const Triangulation<dim> &coarse,
                           const std::vector<std::string> &locations)
{
  const auto tree = boxes_around_cells(coarse);
  const auto check = [&](const unsigned int own, const Point<dim> &point, const unsigned int node,
                         const double min_depth, const std::string &name) {
    namespace bgi = boost::geometry::index;
    for (auto entry = tree.qbegin(bgi::intersects(point)); entry != tree.qend(); ++entry) {
      const CellOfTree<dim> &cell = entry->second;
      if (cell->active_cell_index() == own || has_node(cell, node))
        continue;
      const double depth = relative_depth<dim>(cell, point);
      if (depth < min_depth)
        continue;
      std::ostringstream what;
      what << "the " << name << " of this cell at (" << point << ") lies "
           << (depth > overlap ? "in" : "on a side of") << " another cell ("
           << name_of(locations[cell->active_cell_index()]) << "): ";
      if (depth > overlap)
        reject(locations[own], what.str() + "parts of the mesh overlap.",
               "Mesh the model again so that its parts share their sides.");
      reject(locations[own],
             what.str() + "parts touch without common nodes, so that they are separate there, like "
                          "the sides of a crack.",
             "Mesh both together, so that they share their nodes (in gmsh by BooleanFragments).");
    }
  };
  const auto nodes = boundary_nodes(coarse);
  for (const auto &node : nodes)
    check(node.cell, node.point, node.index, overlap, "node");
  for (const auto &cell : coarse.active_cell_iterators())
    for (const unsigned int f : cell->face_indices())
      if (cell->at_boundary(f)) {
        check(cell->active_cell_index(), cell->face(f)->center(), numbers::invalid_unsigned_int,
              overlap, "side");
        check(cell->active_cell_index(), cell->center(), numbers::invalid_unsigned_int, overlap,
              "middle");
      }
  refuse_coincident_nodes(nodes, locations);
  for (const auto &node : nodes)
    check(node.cell, node.point, node.index, -coincidence_tolerance, "node");
}

template void refuse_touching_parts(const Triangulation<2> &, const std::vector<std::string> &);
template void refuse_touching_parts(const Triangulation<3> &, const std::vector<std::string> &);
} // namespace femgpu
