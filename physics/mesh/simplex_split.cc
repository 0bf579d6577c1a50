#include "physics/mesh/simplex_split.h"

#include "linalg/base/error.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
namespace
{
using Nodes = std::vector<std::size_t>;
constexpr std::size_t unranked = std::numeric_limits<std::size_t>::max();

Nodes nodes_of(const MeshElement &element)
{
  return {element.nodes.begin(), element.nodes.begin() + element.shape->n_nodes};
}

bool is_simplex(const CellShape &shape)
{
  return shape.n_nodes == static_cast<std::size_t>(shape.dimension) + 1;
}

std::string plural_of(const std::string &name)
{
  const std::size_t stem = name.rfind("ron"); // of a tetrahedron or hexahedron
  return stem == std::string::npos ? name + "s" : name.substr(0, stem) + "ra";
}

const CellShape &simplex_of(const int dim)
{
  return dim == 2 ? CellShape::triangle : CellShape::tetrahedron;
}

/// A quadrilateral that must be split along the diagonal between two of its nodes.
struct GivenDiagonal
{
  std::array<std::size_t, 2> ends, others;
  MeshLocation location; ///< MeshElement::location of its cell
  bool is_ranked = false;
};

/// Returns the diagonals along which triangles of neighbours split quadrilateral faces. They are
/// faces of one cell before they are split.
std::vector<GivenDiagonal> given_diagonals(const MeshTable &table)
{
  std::map<NodeSet, std::pair<MeshElement, std::size_t>> halves; // face and the missing corner
  const std::vector<MeshElement> sides = sides_on_boundary(table, 3);
  for (const MeshElement &side : sides)
    for (std::size_t corner = 0; side.shape == &CellShape::quadrilateral && corner < 4; ++corner) {
      MeshElement half{&CellShape::triangle, 0, 0, side.nodes};
      half.nodes[corner] = side.nodes[3];
      halves.emplace(all_nodes(half), std::make_pair(side, corner));
    }
  std::vector<GivenDiagonal> result;
  for (const MeshElement &side : sides)
    if (side.shape == &CellShape::triangle)
      if (const auto half = halves.find(all_nodes(side)); half != halves.end()) {
        const auto &[face, corner] = half->second;
        result.push_back({{{face.nodes[(corner + 1) % 4], face.nodes[(corner + 3) % 4]}},
                          {{face.nodes[corner], face.nodes[(corner + 2) % 4]}},
                          face.location});
      }
  return result;
}

/**
 * Returns the rank of each node. In each quadrilateral of @p diagonals, the node of lowest rank is
 * an end of its diagonal. The lowest ranks go, one after the other, to nodes that no quadrilateral
 * without a ranked end excludes. This finds an order if there is one, because ranking such a node
 * excludes no others.
 */
std::vector<std::size_t> ranks_of_nodes(const MeshTable &table,
                                        std::vector<GivenDiagonal> diagonals)
{
  std::vector<std::size_t> ranks(table.points.size(), unranked);
  std::map<std::size_t, std::vector<GivenDiagonal *>> at_ends;
  std::map<std::size_t, std::size_t> n_excluding;
  for (GivenDiagonal &diagonal : diagonals)
    for (std::size_t i = 0; i < 2; ++i) {
      at_ends[diagonal.ends[i]].push_back(&diagonal);
      ++n_excluding[diagonal.others[i]];
    }
  Nodes next;
  for (const auto &entry : at_ends)
    if (n_excluding.count(entry.first) == 0)
      next.push_back(entry.first);
  std::size_t rank = 0;
  while (!next.empty()) {
    const std::size_t node = next.back();
    next.pop_back();
    if (ranks[node] != unranked)
      continue;
    ranks[node] = rank++;
    for (GivenDiagonal *const diagonal : at_ends[node])
      if (!std::exchange(diagonal->is_ranked, true))
        for (const std::size_t other : diagonal->others)
          if (--n_excluding[other] == 0)
            next.push_back(other);
  }
  for (const GivenDiagonal &diagonal : diagonals)
    if (!diagonal.is_ranked)
      throw InputError(
          table.location_of(diagonal.location) +
          "a quadrilateral face of this cell meets triangles of its neighbours, and no "
          "subdivision of the cells fits all such triangles. Mesh the model again "
          "with common faces, for example without recombination.");
  for (std::size_t &of_node : ranks)
    of_node = of_node == unranked ? rank++ : of_node;
  return ranks;
}

class Splitter
{
public:
  Splitter(MeshTable &table, const int dim, const std::vector<GivenDiagonal> &diagonals)
      : table(table), dim(dim), ranks(ranks_of_nodes(table, diagonals))
  {}

  /// Splits all elements.
  /// @return for each kind of cells that are split, their number
  std::map<std::string, std::size_t> split_all()
  {
    std::map<std::string, std::size_t> n_split;
    const std::vector<MeshElement> original = std::move(table.elements);
    table.elements.clear();
    for (const MeshElement &element : original)
      if (is_simplex(*element.shape))
        table.elements.push_back(element);
      else if (element.shape->dimension < dim)
        for (const Nodes &triangle : triangles_of(element))
          add(element, CellShape::triangle, triangle);
      else {
        ++n_split[element.shape->name];
        for (const Nodes &part : parts_of(element))
          add(element, simplex_of(dim), part);
      }
    return n_split;
  }

private:
  void add(const MeshElement &original, const CellShape &shape, const Nodes &nodes)
  {
    MeshElement part = original;
    part.shape = &shape;
    part.nodes = {};
    std::copy(nodes.begin(), nodes.end(), part.nodes.begin());
    table.elements.push_back(part);
  }

  /// Returns the position of the node of lowest rank.
  std::size_t lowest(const Nodes &nodes) const
  {
    const auto has_lower_rank = [this](const std::size_t a, const std::size_t b) {
      return ranks[a] < ranks[b];
    };
    return static_cast<std::size_t>(std::min_element(nodes.begin(), nodes.end(), has_lower_rank) -
                                    nodes.begin());
  }

  /// Returns the triangles of a triangle or quadrilateral in 3D, in its sense of rotation.
  std::vector<Nodes> triangles_of(const MeshElement &face) const
  {
    Nodes nodes = nodes_of(face);
    if (nodes.size() == 3)
      return {nodes};
    std::rotate(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(lowest(nodes)),
                nodes.end());
    return {{nodes[0], nodes[1], nodes[2]}, {nodes[0], nodes[2], nodes[3]}};
  }

  /// Returns the simplices from @p apex to the sides of @p cell that do not contain it.
  std::vector<Nodes> parts_from(const MeshElement &cell, const std::size_t apex) const
  {
    std::vector<Nodes> parts;
    for (std::size_t s = 0; s < cell.shape->sides.size(); ++s) {
      const MeshElement side = side_of(cell, s);
      const Nodes nodes = nodes_of(side);
      if (std::find(nodes.begin(), nodes.end(), apex) != nodes.end())
        continue;
      for (Nodes part : dim == 2 ? std::vector<Nodes>{nodes} : triangles_of(side)) {
        if (dim == 3)
          std::swap(part[1], part[2]); // sides are oriented outward
        part.push_back(apex);
        parts.push_back(std::move(part));
      }
    }
    const Nodes nodes = nodes_of(cell);
    const auto corner = std::find(nodes.begin(), nodes.end(), apex);
    if (cell.shape == &CellShape::hexahedron && corner != nodes.end())
      cut_off(nodes[(static_cast<std::size_t>(corner - nodes.begin()) + 2) % 4 +
                    (corner - nodes.begin() < 4 ? 4 : 0)],
              parts);
    return parts;
  }

  /// Replaces the three tetrahedra at @p corner of a hexahedron by two, one of which is its corner.
  /// Does nothing if a diagonal ends at the corner: more than three tetrahedra then contain it.
  static void cut_off(const std::size_t corner, std::vector<Nodes> &parts)
  {
    const auto lacks_corner = [&](const Nodes &part) {
      return std::find(part.begin(), part.end(), corner) == part.end();
    };
    const auto at_corner = std::stable_partition(parts.begin(), parts.end(), lacks_corner);
    if (parts.end() - at_corner != 3)
      return;
    Nodes first = at_corner[0], inner = first; // its last node is the apex
    for (const std::size_t node : at_corner[1])
      if (std::find(inner.begin(), inner.end(), node) == inner.end())
        first[3] = node; // the third neighbour of the corner
    std::replace(inner.begin(), inner.end(), corner, first[3]);
    parts.erase(at_corner, parts.end());
    parts.push_back(first);
    parts.push_back(inner);
  }

  double measure(const Nodes &simplex) const
  {
    std::array<std::array<double, 3>, 3> edges = {};
    for (std::size_t e = 0; e + 1 < simplex.size(); ++e)
      for (std::size_t d = 0; d < 3; ++d)
        edges[e][d] = table.points[simplex[e + 1]][d] - table.points[simplex[0]][d];
    const auto &[a, b, c] = edges;
    const double normal = a[0] * b[1] - a[1] * b[0];
    return dim == 2 ? normal
                    : c[0] * (a[1] * b[2] - a[2] * b[1]) + c[1] * (a[2] * b[0] - a[0] * b[2]) +
                          c[2] * normal;
  }

  /// Returns the measure of the smallest part, relative to the whole; negative if it is inverted.
  double smallest(const std::vector<Nodes> &parts) const
  {
    double total = 0., least = std::numeric_limits<double>::max(), most = -least;
    for (const Nodes &part : parts) {
      const double size = measure(part);
      total += size;
      least = std::min(least, size);
      most = std::max(most, size);
    }
    return total > 0. ? least / total : total < 0. ? most / total : 0.;
  }

  std::vector<Nodes> parts_of(const MeshElement &cell)
  {
    constexpr double flat = 1e-12, tie = 1e-6;
    const Nodes nodes = nodes_of(cell);
    const std::size_t first = lowest(nodes);
    std::vector<Nodes> parts = parts_from(cell, nodes[first]);
    if (dim == 2) {
      auto others = parts_from(cell, nodes[(first + 1) % nodes.size()]);
      if (smallest(others) > smallest(parts) + tie)
        parts = std::move(others);
    }
    else if (!(smallest(parts) > flat)) {
      std::array<double, 3> centre = {};
      for (const std::size_t node : nodes)
        for (std::size_t d = 0; d < 3; ++d)
          centre[d] += table.points[node][d] / static_cast<double>(nodes.size());
      table.points.push_back(centre);
      parts = parts_from(cell, table.points.size() - 1);
    }
    if (!(smallest(parts) > flat))
      throw InputError(table.location_of(cell.location) + "the " + cell.shape->name +
                       " cannot be split into " + plural_of(simplex_of(dim).name) +
                       ", because it is inverted or its faces are too warped. Fix its nodes, or "
                       "mesh the model again.");
    if (cell.shape == &CellShape::prism && measure(parts[0]) < 0.)
      for (Nodes &part : parts) // formats differ in the orientation of prisms
        std::swap(part[0], part[1]);
    return parts;
  }

  MeshTable &table;
  int dim;
  std::vector<std::size_t> ranks; ///< by node
};

/// Returns for example "8 hexahedra, 2 prisms and 1 pyramid".
std::string list_of(const std::map<std::string, std::size_t> &n_split)
{
  std::string list;
  std::size_t left = n_split.size();
  for (const auto &[name, n] : n_split) {
    --left;
    list += std::to_string(n) + " " + (n == 1 ? name : plural_of(name)) +
            (left > 1    ? ", "
             : left == 1 ? " and "
                         : "");
  }
  return list;
}
} // namespace

bool must_be_split(const MeshTable &table, const int dim)
{
  const CellShape *first = nullptr;
  for (const MeshElement &element : table.elements) {
    if (element.shape->dimension != dim)
      continue;
    first = first == nullptr ? element.shape : first;
    if (element.shape != first || first == &CellShape::prism || first == &CellShape::pyramid)
      return true;
  }
  return false;
}

void split_into_simplices(MeshTable &table, const int dim, const bool is_requested)
{
  const std::string remedy = is_requested ? "set Mesh/Cells to auto."
                                          : "use one kind of cells. " + advice_on_mixed_cells(dim);
  if (!table.second_order_nodes.empty())
    throw InputError(table.location_of(table.second_order_nodes.front().location) +
                     "nodes of second order curve this cell, but femgpu splits the cells of this "
                     "mesh into " +
                     plural_of(simplex_of(dim).name) +
                     " with straight edges. Mesh with `gmsh -order 1` and name curved sides in "
                     "Mesh/Manifolds, or " +
                     remedy);
  const std::vector<GivenDiagonal> diagonals =
      dim == 3 ? given_diagonals(table) : std::vector<GivenDiagonal>();
  const std::size_t n_points = table.points.size();
  const auto n_split = Splitter(table, dim, diagonals).split_all();
  if (!diagonals.empty()) { // faces of the boundary may now be in the interior
    Nodes same(table.points.size());
    std::iota(same.begin(), same.end(), 0U);
    replace_nodes(table, same, dim);
  }
  const auto is_cell = [dim](const MeshElement &e) { return e.shape == &simplex_of(dim); };
  const auto n_cells = std::count_if(table.elements.begin(), table.elements.end(), is_cell);
  const std::size_t n_new = table.points.size() - n_points;
  table.warnings.push_back(
      table.file + ": femgpu has split " + list_of(n_split) + ", so that all cells are " +
      plural_of(simplex_of(dim).name) + " (" + std::to_string(n_cells) + ")" +
      (n_new == 0 ? "" : ", with " + std::to_string(n_new) + " new nodes in warped cells") +
      ". To avoid this, " + remedy);
}
} // namespace femgpu
