#include "physics/mesh/mesh_table.h"

#include "linalg/base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace femgpu
{
const CellShape CellShape::point = {"point", 0, 1, {}};
const CellShape CellShape::line = {"line", 1, 2, {{0}, {1}}};
const CellShape CellShape::triangle = {"triangle", 2, 3, {{0, 1}, {1, 2}, {2, 0}}};
const CellShape CellShape::quadrilateral = {
    "quadrilateral", 2, 4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}};
const CellShape CellShape::tetrahedron = {
    "tetrahedron", 3, 4, {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}};
const CellShape CellShape::hexahedron = {
    "hexahedron",
    3,
    8,
    {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}}};
const CellShape CellShape::prism = {
    "prism", 3, 6, {{0, 2, 1}, {3, 4, 5}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}}};
const CellShape CellShape::pyramid = {
    "pyramid", 3, 5, {{0, 3, 2, 1}, {0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}}};

namespace
{
constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
constexpr long long largest_id = subdomain_boundary_id - 1;

/// The nodes of a face, and the index of its cell or element in the table.
using Face = std::pair<NodeSet, std::size_t>;

[[noreturn]] void reject(const MeshTable &table, const MeshElement &element,
                         const std::string &text)
{
  throw InputError(table.location_of(element.location) + text);
}

bool has_node_twice(const MeshElement &element)
{
  std::vector<std::size_t> nodes(element.nodes.begin(),
                                 element.nodes.begin() + element.shape->n_nodes);
  std::sort(nodes.begin(), nodes.end());
  return std::adjacent_find(nodes.begin(), nodes.end()) != nodes.end();
}

void check_element(const MeshTable &table, const MeshElement &element, const int dim)
{
  const std::string &name = element.shape->name;
  if (element.shape->dimension > dim)
    reject(table, element,
           "a " + name + " is a cell of a mesh in " + std::to_string(element.shape->dimension) +
               "D, but Dimension is " + std::to_string(dim) +
               ". Set Dimension to that of the mesh.");
  if (has_node_twice(element))
    reject(table, element,
           "the " + name + " is degenerate: it has a node twice. Mesh the model again there.");
  if (element.shape->dimension < dim - 1)
    return;
  if (element.id < 0)
    reject(table, element,
           "the " + name + " has the id " + std::to_string(element.id) +
               ", but ids must not be negative. Give its group a positive number; in gmsh, do not "
               "reverse entities of a physical group by a sign.");
  if (element.id > largest_id)
    reject(table, element,
           "the " + name + " has the id " + std::to_string(element.id) +
               ", but the largest id is " + std::to_string(largest_id) +
               ". Give its group a smaller number.");
}

/// Checks all elements. Rejects a mesh without cells.
void check_elements(const MeshTable &table, const int dim)
{
  bool has_cells = false;
  for (const MeshElement &element : table.elements) {
    check_element(table, element, dim);
    has_cells = has_cells || element.shape->dimension == dim;
  }
  if (!has_cells)
    throw InputError("The mesh file '" + table.file + "' has no cells of dimension " +
                     std::to_string(dim) +
                     ". Set Dimension to that of the mesh; in gmsh, also put the " +
                     (dim == 2 ? "surfaces" : "volumes") + " into a physical group.");
}

void check_plane(const MeshTable &table)
{
  double size = 0.;
  for (const auto &point : table.points)
    size = std::max({size, std::abs(point[0]), std::abs(point[1])});
  const auto check = [&](const std::size_t point, const MeshLocation location,
                         const char *const node) {
    const double z = table.points[point][2];
    if (std::abs(z) > 1e-10 * size)
      throw InputError(table.location_of(location) + node + " has z = " + std::to_string(z) +
                       ", but a mesh in 2D must lie in the plane z = 0. Rotate or move the model, "
                       "or set Dimension to 3.");
  };
  for (const SecondOrderNode &middle : table.second_order_nodes)
    check(middle.node, middle.location, "a mid-side or centre node");
  for (const MeshElement &element : table.elements)
    for (std::size_t i = 0; i < element.shape->n_nodes; ++i)
      check(element.nodes[i], element.location, "a node");
}

/// Returns the faces of all cells, sorted.
std::vector<Face> faces_of_cells(const MeshTable &table, const int dim)
{
  std::vector<Face> faces;
  for (std::size_t e = 0; e < table.elements.size(); ++e)
    if (table.elements[e].shape->dimension == dim)
      for (std::size_t s = 0; s < table.elements[e].shape->sides.size(); ++s)
        faces.emplace_back(all_nodes(side_of(table.elements[e], s)), e);
  std::sort(faces.begin(), faces.end());
  return faces;
}

/// Rejects faces of more than two cells.
/// @param when beginning of the message, for example "after merging nodes, "
void check_faces(const MeshTable &table, const std::vector<Face> &faces,
                 const std::string &when = "")
{
  for (std::size_t i = 2; i < faces.size(); ++i)
    if (faces[i - 2].first == faces[i].first)
      reject(table, table.elements[faces[i].second],
             when + "this cell shares a face with two others, " +
                 table.location_of(table.elements[faces[i - 2].second].location) + "and " +
                 table.location_of(table.elements[faces[i - 1].second].location) +
                 "cells overlap or occur twice. In gmsh, put each part of the model into "
                 "one physical group only, and mesh it once.");
}

std::size_t count(const std::vector<Face> &faces, const NodeSet &nodes)
{
  auto face = std::lower_bound(faces.begin(), faces.end(), Face(nodes, 0));
  std::size_t n = 0;
  for (; face != faces.end() && face->first == nodes; ++face)
    ++n;
  return n;
}

void check_boundary(const MeshTable &table, const std::vector<Face> &faces, const int dim)
{
  std::vector<Face> boundary;
  for (std::size_t e = 0; e < table.elements.size(); ++e) {
    const MeshElement &element = table.elements[e];
    if (element.shape->dimension != dim - 1)
      continue;
    const NodeSet nodes = all_nodes(element);
    if (count(faces, nodes) == 0)
      reject(table, element,
             "the " + element.shape->name +
                 " is not a face of a cell. Mesh the model again, or remove its entity from the "
                 "physical groups.");
    boundary.emplace_back(nodes, e);
  }
  std::sort(boundary.begin(), boundary.end());
  for (std::size_t i = 1; i < boundary.size(); ++i)
    if (boundary[i - 1].first == boundary[i].first) {
      const MeshElement &first = table.elements[boundary[i - 1].second];
      const MeshElement &second = table.elements[boundary[i].second];
      reject(table, second,
             "this face has the id " + std::to_string(second.id) + ", but also the id " +
                 std::to_string(first.id) + " (line " + std::to_string(first.location.number) +
                 "). Write each face once.");
    }
}

/// Returns the sides that belong to exactly one cell, in the order of the cells.
std::vector<MeshElement> sides_on_boundary(const MeshTable &table, const std::vector<Face> &faces)
{
  std::vector<bool> has_boundary_side(table.elements.size(), false); // only these are searched
  for (std::size_t i = 0; i < faces.size(); ++i)
    if ((i == 0 || faces[i - 1].first != faces[i].first) &&
        (i + 1 == faces.size() || faces[i + 1].first != faces[i].first))
      has_boundary_side[faces[i].second] = true;
  std::vector<MeshElement> result;
  for (std::size_t e = 0; e < table.elements.size(); ++e)
    for (std::size_t s = 0; has_boundary_side[e] && s < table.elements[e].shape->sides.size(); ++s)
      if (const MeshElement side = side_of(table.elements[e], s);
          count(faces, all_nodes(side)) == 1)
        result.push_back(side);
  return result;
}

/// Returns the edges on the boundary of a mesh in 3D, sorted.
std::vector<NodeSet> edges_on_boundary(const MeshTable &table, const std::vector<Face> &faces)
{
  std::vector<NodeSet> edges;
  for (const MeshElement &side : sides_on_boundary(table, faces))
    for (std::size_t e = 0; e < side.shape->sides.size(); ++e)
      edges.push_back(all_nodes(side_of(side, e)));
  std::sort(edges.begin(), edges.end());
  return edges;
}

/// Returns whether @p table has elements of @p dimension with an id.
bool has_groups(const MeshTable &table, const int dimension)
{
  return std::any_of(table.elements.begin(), table.elements.end(), [&](const MeshElement &e) {
    return e.shape->dimension == dimension && e.id != 0;
  });
}

/// Adds the names of groups of @p dimension, and the group's number, to the unusable names.
/// @param what completes "this group ..."
/// @param groups the ids of the groups, each with the location of an element
void make_unusable(MeshTable &table, const int dimension, const std::string &what,
                   const std::map<long long, MeshLocation> &groups)
{
  for (const auto &[id, location] : groups) {
    std::string reason = table.location_of(location) + "this group " + what;
    for (const PhysicalName &group : table.names)
      if (group.dimension == dimension && group.id == id)
        table.unusable_names.push_back({dimension, group.name, reason});
    table.unusable_names.push_back({dimension, std::to_string(id), std::move(reason)});
  }
}

/// Returns the nodes of sides that occur twice in @p table, sorted.
std::vector<NodeSet> repeated_sides(const MeshTable &table, const int dim)
{
  std::vector<NodeSet> sides, repeated;
  for (const MeshElement &element : table.elements)
    if (element.shape->dimension == dim - 1)
      sides.push_back(all_nodes(element));
  std::sort(sides.begin(), sides.end());
  for (std::size_t i = 1; i < sides.size(); ++i)
    if (sides[i - 1] == sides[i])
      repeated.push_back(sides[i]);
  return repeated;
}

/// Marks inner sides. Removes those that have no id or occur twice, lines that are not on the
/// boundary, where conditions apply, and points that are not nodes of cells.
void remove_unusable_elements(MeshTable &table, const std::vector<Face> &faces, const int dim)
{
  const bool has_points = has_groups(table, 0);
  std::vector<NodeSet> edges;
  if (dim == 3 && has_groups(table, 1))
    edges = edges_on_boundary(table, faces);
  std::vector<bool> is_vertex;
  if (has_points)
    is_vertex = vertices_of_cells(table, dim);
  const std::vector<NodeSet> repeated = repeated_sides(table, dim);
  for (MeshElement &element : table.elements)
    element.is_inner_side =
        element.shape->dimension == dim - 1 && count(faces, all_nodes(element)) == 2;
  const auto is_usable = [&](const MeshElement &element) {
    if (element.is_inner_side)
      return element.id != 0 &&
             !std::binary_search(repeated.begin(), repeated.end(), all_nodes(element));
    if (element.shape->dimension == dim - 1)
      return true;
    if (element.id == 0 || element.shape->dimension == dim)
      return true;
    if (element.shape == &CellShape::line)
      return std::binary_search(edges.begin(), edges.end(), all_nodes(element));
    return is_vertex[element.nodes[0]] || table.is_mid_side(element.nodes[0]);
  };
  const auto unusable =
      std::stable_partition(table.elements.begin(), table.elements.end(), is_usable);
  std::array<std::map<long long, MeshLocation>, 3> groups; // by dimension
  for (auto e = unusable; e != table.elements.end(); ++e)
    if (e->id != 0)
      groups[static_cast<std::size_t>(e->shape->dimension)].emplace(e->id, e->location);
  table.elements.erase(unusable, table.elements.end());
  for (const MeshElement &element : table.elements)
    if (element.shape->dimension < dim)
      groups[static_cast<std::size_t>(element.shape->dimension)].erase(element.id);
  for (std::size_t dimension = 0; dimension < groups.size(); ++dimension)
    make_unusable(table, static_cast<int>(dimension),
                  static_cast<int>(dimension) == dim - 1
                      ? "lies where two parts of the mesh are joined, and both parts have groups "
                        "there. Remove the sides of one part from its group."
                      : off_boundary(static_cast<int>(dimension)),
                  groups[dimension]);
}
} // namespace

std::string off_boundary(const int dimension)
{
  return dimension == 0 ? "has no node of a cell. Embed its points in their curve, surface or "
                          "volume (in gmsh, `Point{P} In Surface{S};`, or BooleanFragments)."
                        : "lies between cells or inside them, not on the boundary, where "
                          "conditions apply.";
}

std::vector<bool> vertices_of_cells(const MeshTable &table, const int dim)
{
  std::vector<bool> result(table.points.size(), false);
  for (const MeshElement &element : table.elements)
    for (std::size_t i = 0; element.shape->dimension == dim && i < element.shape->n_nodes; ++i)
      result[element.nodes[i]] = true;
  return result;
}

NodeSet all_nodes(const MeshElement &element)
{
  NodeSet set;
  set.fill(none);
  std::copy_n(element.nodes.begin(), element.shape->n_nodes, set.begin());
  std::sort(set.begin(), set.end());
  return set;
}

MeshElement side_of(const MeshElement &cell, const std::size_t side)
{
  const auto &local = cell.shape->sides[side];
  MeshElement result{local.size() == 2   ? &CellShape::line
                     : local.size() == 3 ? &CellShape::triangle
                                         : &CellShape::quadrilateral,
                     0,
                     cell.location,
                     {}};
  for (std::size_t i = 0; i < local.size(); ++i)
    result.nodes[i] = cell.nodes[local[i]];
  return result;
}

std::vector<MeshElement> sides_on_boundary(const MeshTable &table, const int dim)
{
  return sides_on_boundary(table, faces_of_cells(table, dim));
}

const std::vector<ElementType> &element_types()
{
  using MidpointCorners = std::vector<std::vector<std::size_t>>;
  static const MidpointCorners abaqus20 = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                           {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
  static const MidpointCorners gmsh20 = {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3},
                                         {2, 6}, {3, 7}, {4, 5}, {4, 7}, {5, 6}, {6, 7}};
  static const MidpointCorners gmsh27 = [] {
    MidpointCorners midpoint_corners = gmsh20;
    midpoint_corners.insert(
        midpoint_corners.end(),
        {{0, 3, 2, 1}, {0, 1, 5, 4}, {0, 4, 7, 3}, {1, 2, 6, 5}, {2, 3, 7, 6}, {4, 5, 6, 7}, {}});
    return midpoint_corners;
  }();
  static const MidpointCorners gmsh15 = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 4},
                                         {2, 5}, {3, 4}, {3, 5}, {4, 5}};
  static const MidpointCorners gmsh18 = [] {
    MidpointCorners midpoint_corners = gmsh15;
    midpoint_corners.insert(midpoint_corners.end(), {{0, 1, 4, 3}, {0, 2, 5, 3}, {1, 2, 5, 4}});
    return midpoint_corners;
  }();
  static const MidpointCorners gmsh13 = {{0, 1}, {0, 3}, {0, 4}, {1, 2},
                                         {1, 4}, {2, 3}, {2, 4}, {3, 4}};
  static const MidpointCorners gmsh14 = [] {
    MidpointCorners midpoint_corners = gmsh13;
    midpoint_corners.push_back({0, 1, 2, 3});
    return midpoint_corners;
  }();
  static const MidpointCorners abaqus15 = {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5},
                                           {5, 3}, {0, 3}, {1, 4}, {2, 5}};
  static const MidpointCorners abaqus13 = {{0, 1}, {1, 2}, {2, 3}, {3, 0},
                                           {0, 4}, {1, 4}, {2, 4}, {3, 4}};
  static const std::vector<ElementType> types = {
      {&CellShape::point, {}, 15, false},
      {&CellShape::line, {}, 1, true},
      {&CellShape::triangle, {}, 2, true},
      {&CellShape::quadrilateral, {}, 3, true},
      {&CellShape::tetrahedron, {}, 4, true},
      {&CellShape::hexahedron, {}, 5, true},
      {&CellShape::line, {{0, 1}}, 8, true},
      {&CellShape::triangle, CellShape::triangle.sides, 9, true},
      {&CellShape::quadrilateral, CellShape::quadrilateral.sides, 16, true},
      {&CellShape::quadrilateral, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 1, 2, 3}}, 10, true},
      {&CellShape::tetrahedron, {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {2, 3}, {1, 3}}, 11, false},
      {&CellShape::tetrahedron, {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}, {}, true},
      {&CellShape::hexahedron, gmsh20, 17, false},
      {&CellShape::hexahedron, gmsh27, 12, false},
      {&CellShape::hexahedron, abaqus20, {}, true},
      {&CellShape::prism, {}, 6, true},
      {&CellShape::prism, gmsh15, 18, false},
      {&CellShape::prism, gmsh18, 13, false},
      {&CellShape::prism, abaqus15, {}, true},
      {&CellShape::pyramid, {}, 7, true},
      {&CellShape::pyramid, gmsh13, 19, false},
      {&CellShape::pyramid, gmsh14, 14, false},
      {&CellShape::pyramid, abaqus13, {}, true}};
  return types;
}

std::string advice_on_mixed_cells(const int dim)
{
  if (dim == 2)
    return "In gmsh, for quadrilaterals only, set Mesh.RecombineAll = 1, "
           "Mesh.RecombinationAlgorithm = 2 (or 3) and Mesh.SubdivisionAlgorithm = 1; for "
           "triangles only, remove 'Recombine Surface' and Mesh.RecombineAll. Then mesh again.";
  return "In gmsh, for hexahedra only, use transfinite or extruded volumes with Recombine, or set "
         "Mesh.SubdivisionAlgorithm = 2, which splits each tetrahedron into four hexahedra; for "
         "tetrahedra only, remove 'Recombine' and Mesh.RecombineAll. Then mesh again.";
}

const std::string &MeshTable::file_of(const MeshLocation location) const
{
  return location.file == 0 ? file : included_files.at(location.file - 1);
}

std::string MeshTable::line_of(const MeshLocation location) const
{
  return file_of(location) + ":" + std::to_string(location.number);
}

std::string MeshTable::location_of(const MeshLocation location) const
{
  return line_of(location) + ": ";
}

void MeshTable::add_element(const ElementType &type, const long long id,
                            const MeshLocation location, const std::vector<std::size_t> &nodes,
                            const int dim)
{
  MeshElement element{type.shape, id, location, {}};
  const std::size_t n_corners = type.shape->n_nodes;
  std::copy_n(nodes.begin(), n_corners, element.nodes.begin());
  elements.push_back(element);
  const auto &corners = type.midpoint_corners;
  constexpr double straight = 1e-6; // relative to the distance of corners: files have seven digits
  const auto corner = [&](const std::size_t local) { return points[nodes[local]]; };
  const auto is_in = [&](const std::size_t local, const std::vector<std::size_t> &set) {
    return std::find(set.begin(), set.end(), local) != set.end();
  };
  for (std::size_t i = 0; type.shape->dimension == dim && i < corners.size(); ++i) {
    if (corners[i].empty())
      continue;
    SecondOrderNode middle = {{}, nodes[n_corners + i], location};
    const bool is_edge = corners[i].size() == 2;
    double size = 0., distance = 0.;
    for (std::size_t d = 0; d < 3; ++d) {
      double expected = 0.; // for a face: the midpoint that its curved edges imply
      for (const std::size_t local : corners[i])
        expected += corner(local)[d] * (is_edge ? 0.5 : -0.25);
      for (std::size_t e = 0; e < i; ++e)
        if (!is_edge && is_in(corners[e][0], corners[i]) && is_in(corners[e][1], corners[i]) &&
            corners[e].size() == 2)
          expected += points[nodes[n_corners + e]][d] / 2.;
      distance = std::hypot(distance, points[middle.node][d] - expected);
      size = std::hypot(size, corner(corners[i].back())[d] - corner(corners[i].front())[d]);
    }
    for (const std::size_t local : corners[i])
      middle.corners.push_back(nodes[local]);
    if (is_edge) {
      edge_ends.resize(std::max(edge_ends.size(), points.size()), no_ends);
      edge_ends[middle.node] = {{middle.corners[0], middle.corners[1]}};
    }
    if (distance > straight * size)
      second_order_nodes.push_back(middle);
  }
}

void check_mesh_table(MeshTable &table, const int dim)
{
  check_elements(table, dim);
  if (dim == 2)
    check_plane(table);
  const std::vector<Face> faces = faces_of_cells(table, dim);
  check_faces(table, faces);
  check_boundary(table, faces, dim);
  remove_unusable_elements(table, faces, dim);
}

void replace_nodes(MeshTable &table, const std::vector<std::size_t> &by, const int dim)
{
  for (MeshElement &element : table.elements) {
    for (std::size_t i = 0; i < element.shape->n_nodes; ++i)
      element.nodes[i] = by[element.nodes[i]];
    if (element.shape->dimension == dim && has_node_twice(element))
      reject(table, element,
             "two nodes of this cell are closer than Mesh/Merge nodes and would be merged. Set a "
             "smaller tolerance.");
  }
  const std::vector<Face> faces = faces_of_cells(table, dim);
  check_faces(table, faces, "after merging nodes, ");
  remove_unusable_elements(table, faces, dim);
  for (SecondOrderNode &middle : table.second_order_nodes)
    for (std::size_t &corner : middle.corners)
      corner = by[corner];
  for (auto &ends : table.edge_ends)
    if (ends != MeshTable::no_ends)
      ends = {{by[ends[0]], by[ends[1]]}};
}
} // namespace femgpu
