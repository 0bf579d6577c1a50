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
/// The boundary id of faces where what a rank has of a mesh ends; no file may have it.
constexpr unsigned int end_of_part = 4294967294;

/// A kind of elements that meshes are made of. There is one object of each.
struct ElementKind
{
  std::string name; ///< "triangle"
  int dimension;
  std::size_t n_nodes; ///< of first order
  /// The local nodes of each side, in the order in which Abaqus numbers them.
  std::vector<std::vector<std::size_t>> sides;

  static const ElementKind point, line, triangle, quadrilateral, tetrahedron, hexahedron;
};

/// The place of each node of a MeshElement in an order row by row, which is that of deal.II's
/// vertices and of VTK's pixels and voxels; and the other way round.
constexpr std::array<std::size_t, 8> row_by_row = {{0, 1, 3, 2, 4, 5, 7, 6}};

/// An element of a mesh file.
struct MeshElement
{
  const ElementKind *kind;
  long long id;      ///< of its material or part of the boundary; 0 if the file says none
  std::size_t place; ///< line of the file or number in it, as MeshTable::place_of() says it
  /// Indices of points: first around the bottom, then around the top; the rest unused.
  std::array<std::size_t, 8> nodes;
};

/// What a file's type of elements means.
struct ElementType
{
  const ElementKind *kind;
  /// For each node of second order, behind those of kind, the local numbers of the corners it is in
  /// the middle of, edges before faces; those inside of hexahedra have none and are ignored.
  std::vector<std::vector<std::size_t>> middles;
  std::optional<int> gmsh, vtk; ///< its number there
  bool is_of_abaqus;            ///< where dimension and number of nodes tell the type

  std::size_t n_nodes() const
  {
    return kind->n_nodes + middles.size();
  }
};

/// Those that can be read.
const std::vector<ElementType> &element_types();

/// A node of second order, of an edge with two corners or a face with four, that does not lie in
/// the middle of these: it curves what has them.
struct MiddleNode
{
  std::vector<std::size_t> corners; ///< indices of points
  std::size_t node;                 ///< index of a point
  std::size_t place;                ///< MeshElement::place of its element
};

/// The nodes of a side, line or point in ascending order, padded: the same from both sides.
using NodeSet = std::array<std::size_t, 4>;

NodeSet all_nodes(const MeshElement &element);

/// Side number @p side of @p cell, with id 0 and the cell's place.
MeshElement side_of(const MeshElement &cell, std::size_t side);

/// A group of elements with a name, as gmsh's physical ones: its dimension (0 points to 3 volumes),
/// its number and its name.
struct PhysicalName
{
  int dimension;
  long long id;
  std::string name;
};

/// A name that is in a mesh file and stands for no id.
struct UnusableName
{
  int dimension;
  std::string name;
  std::string reason; ///< a sentence with the cure
};

/// What a mesh file says, before deal.II sees it. Knows no deal.II.
struct MeshTable
{
  std::string file;             ///< its name
  bool places_are_lines = true; ///< or numbers of cells
  std::vector<std::array<double, 3>> points;
  std::vector<MeshElement> elements;
  std::vector<PhysicalName> names; ///< of groups, also of some without elements
  std::vector<UnusableName> unusable_names;
  std::vector<std::string> warnings;
  std::vector<MiddleNode> middle_nodes; ///< of cells
  /// Of each point that is a mid-side node of a cell: the corners at the ends of its edge, else
  /// no_ends. Shorter than points, or empty, where the rest are no mid-side nodes.
  std::vector<std::array<std::size_t, 2>> edge_ends;
  /// By name, the types of the cells that a file names, as CPS4: the first line that does.
  std::map<std::string, std::size_t> cell_types;
  std::vector<std::string> cell_places; ///< place_of() each cell, when there is a mesh of them

  /**
   * Adds an element. If it is a cell, of dimension @p dim, its mid-side nodes go into edge_ends and
   * its nodes of second order that curve it into middle_nodes.
   * @param nodes indices of points
   */
  void add_element(const ElementType &type, long long id, std::size_t place,
                   const std::vector<std::size_t> &nodes, int dim);

  static constexpr std::array<std::size_t, 2> no_ends = {
      {static_cast<std::size_t>(-1), static_cast<std::size_t>(-1)}};

  bool is_mid_side(const std::size_t point) const
  {
    return point < edge_ends.size() && edge_ends[point] != no_ends;
  }
  /// Of the cells: 1, or 2 if some have mid-side nodes.
  unsigned int order() const
  {
    return edge_ends.empty() ? 1 : 2;
  }

  /// For the beginning of messages: "FILE:LINE: " or "FILE: cell NUMBER: ".
  std::string place_of(std::size_t place) const;
};

/// The sides that one cell alone has.
std::vector<MeshElement> sides_on_boundary(const MeshTable &table, int dim);

/// Which points are vertices of cells.
std::vector<bool> vertices_of_cells(const MeshTable &table, int dim);

/// How to get cells of one kind alone, for messages about meshes of dimension @p dim.
std::string cure_of_mixed_cells(int dim);

/**
 * Refuses what deal.II could not make a mesh of dimension @p dim of: no cells of that dimension or
 * some of a larger one, cells of several kinds, elements with a node twice, faces that more than
 * two cells have, elements of the boundary that are no face on the boundary or come twice, ids that
 * are no numbers from 0 to 2^32-2, and nodes of a mesh in 2D outside of the plane z = 0. Nodes that
 * no element has are none of these.
 * @throws InputError that begins with the place
 */
void check_mesh_table(const MeshTable &table, int dim);

/**
 * Puts node by[i] in the place of node i, also as a corner of nodes of second order.
 * Sides that two cells have then are taken out.
 * @throws InputError if a cell has a node twice then, or a face more than two cells, or if a curve
 *         lies inside
 */
void replace_nodes(MeshTable &table, const std::vector<std::size_t> &by, int dim);
} // namespace femgpu

#endif
