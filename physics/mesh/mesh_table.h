#ifndef femgpu_physics_mesh_table_h
#define femgpu_physics_mesh_table_h

#include "physics/mesh/mesh_text.h"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/// The boundary id of faces at which a rank's part of a distributed mesh ends. No mesh file may
/// contain it.
constexpr unsigned int subdomain_boundary_id = 4294967294;

/// A type of elements of first order. There is one object of each type.
struct CellShape
{
  std::string name; ///< for messages, such as "triangle"
  int dimension;
  std::size_t n_nodes; ///< number of vertices
  /// The local vertices of each side, in Abaqus' numbering.
  std::vector<std::vector<std::size_t>> sides;

  static const CellShape point, line, triangle, quadrilateral, tetrahedron, hexahedron, prism,
      pyramid;
};

/// For each node of a MeshElement, its position in lexicographic order, which is the order of the
/// vertices in deal.II. The permutation is its own inverse.
constexpr std::array<std::size_t, 8> lexicographic_order = {{0, 1, 3, 2, 4, 5, 7, 6}};

/// An element of a mesh file.
struct MeshElement
{
  const CellShape *shape;
  long long id; ///< material or boundary id; 0 if the file has none
  MeshLocation location;
  /// Indices in MeshTable::points: first around the bottom face, then around the top face. Entries
  /// from shape->n_nodes on are unused.
  std::array<std::size_t, 8> nodes;
  bool is_inner_side = false; ///< whether it is a side between two cells; see check_mesh_table()
};

/// An element type in one or more of the file formats.
struct ElementType
{
  const CellShape *shape;
  /// For each node of second order, the local numbers of the corners whose midpoint it is. These
  /// nodes follow the vertices, first those on edges, then on faces. Nodes inside hexahedra have no
  /// corners and are ignored.
  std::vector<std::vector<std::size_t>> midpoint_corners;
  std::optional<int> gmsh; ///< type number of gmsh; nullopt if it lacks the type
  bool is_of_abaqus;       ///< whether Abaqus has this type, with this numbering of nodes

  std::size_t n_nodes() const
  {
    return shape->n_nodes + midpoint_corners.size();
  }
};

/// Returns the element types that the readers support.
const std::vector<ElementType> &element_types();

/// A node of second order that is not at the midpoint of its edge or face, which is thus curved. An
/// edge has two corners, a face has four.
struct SecondOrderNode
{
  std::vector<std::size_t> corners; ///< indices of points
  std::size_t node;                 ///< index of a point
  MeshLocation location;            ///< MeshElement::location of its element
};

/// The indices of the vertices of a side, line or point, in ascending order and padded to four.
/// Both adjacent cells of a side thus get the same set.
using NodeSet = std::array<std::size_t, 4>;

NodeSet all_nodes(const MeshElement &element);

/// Returns side number @p side of @p cell, with id 0 and the cell's location.
MeshElement side_of(const MeshElement &cell, std::size_t side);

/// A named group of elements, such as a physical group of gmsh: its dimension (from 0 for points to
/// 3 for volumes), number and name.
struct PhysicalName
{
  int dimension;
  long long id;
  std::string name;
};

/// A name in a mesh file that denotes no id.
struct UnusableName
{
  int dimension;
  std::string name;
  std::string reason; ///< a sentence with the remedy
};

/// The contents of a mesh file, before deal.II gets them. Does not depend on deal.II.
struct MeshTable
{
  std::string file;                        ///< name of the file
  std::vector<std::string> included_files; ///< names of the files that it includes
  std::vector<std::array<double, 3>> points;
  std::vector<MeshElement> elements;
  std::vector<PhysicalName> names; ///< names of groups; a group may have no elements
  std::vector<UnusableName> unusable_names;
  std::vector<std::string> warnings;
  std::vector<SecondOrderNode> second_order_nodes; ///< nodes that curve cells
  /// For each mid-side node of a cell, the corners at the ends of its edge; no_ends for other
  /// points. May be shorter than `points`: the remaining points are not mid-side nodes.
  std::vector<std::array<std::size_t, 2>> edge_ends;
  /// For each cell type named in the file, such as CPS4, the first line with that type.
  std::map<std::string, MeshLocation> cell_types;
  std::vector<std::string>
      cell_locations; ///< location_of() each cell; filled when deal.II's mesh is made

  /**
   * Adds an element. If the element is a cell, that is, of dimension @p dim, also adds its mid-side
   * nodes to edge_ends, and the nodes of second order that curve it to second_order_nodes.
   * @param nodes indices of its points
   */
  void add_element(const ElementType &type, long long id, MeshLocation location,
                   const std::vector<std::size_t> &nodes, int dim);

  static constexpr std::array<std::size_t, 2> no_ends = {
      {static_cast<std::size_t>(-1), static_cast<std::size_t>(-1)}};

  bool is_mid_side(const std::size_t point) const
  {
    return point < edge_ends.size() && edge_ends[point] != no_ends;
  }
  /// Returns the order of the cells: 1, or 2 if some have mid-side nodes.
  unsigned int order() const
  {
    return edge_ends.empty() ? 1 : 2;
  }

  /// Returns the beginning of messages: "FILE:LINE: ".
  std::string location_of(MeshLocation location) const;
  /// Returns the name of the file of a location.
  const std::string &file_of(MeshLocation location) const;
  /// Returns "FILE:LINE".
  std::string line_of(MeshLocation location) const;
};

/// Returns the sides that belong to exactly one cell.
std::vector<MeshElement> sides_on_boundary(const MeshTable &table, int dim);

/// Returns, for each index of a point, whether the point is a vertex of a cell.
std::vector<bool> vertices_of_cells(const MeshTable &table, int dim);

/// Returns advice on how to make a mesh of dimension @p dim with cells of one kind, for messages.
std::string advice_on_mixed_cells(int dim);

/// Returns the end of a sentence, for UnusableName::reason, about elements of @p dimension that are
/// neither on the boundary nor inner sides: "lies between cells ...".
std::string off_boundary(int dimension);

/**
 * Checks that deal.II can make a mesh of dimension @p dim from @p table. Nodes without elements are
 * permitted. Marks sides between two cells as inner sides. Removes those without an id, lines that
 * are not on the boundary, and points that are not nodes of cells. If all elements of a group are
 * removed, its names become UnusableNames.
 * @throws InputError that begins with the location in the file
 * - if there are no cells of dimension @p dim, or cells of a larger dimension
 * - if an element has a node twice, or more than two cells share a face
 * - if a side is repeated or is not a face of a cell
 * - if an id is not an integer from 0 to 2^32 - 3
 * - if a node of a 2D mesh is not in the plane z = 0
 */
void check_mesh_table(MeshTable &table, int dim);

/**
 * Replaces each node i by node by[i], also where it is a corner of a SecondOrderNode. Then marks
 * and removes elements as check_mesh_table() does. Also removes sides that coincide, where two
 * parts of the mesh are joined.
 * @throws InputError if, with the new nodes, a cell has a node twice or a face belongs to more than
 * two cells
 */
void replace_nodes(MeshTable &table, const std::vector<std::size_t> &by, int dim);
} // namespace femgpu

#endif
