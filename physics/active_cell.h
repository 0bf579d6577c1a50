#ifndef femgpu_physics_active_cell_h
#define femgpu_physics_active_cell_h

#include "physics/mesh/inner_sides.h"

#include <deal.II/base/geometry_info.h>
#include <deal.II/base/index_set.h>
#include <deal.II/base/point.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/dofs/dof_accessor.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/vector.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace femgpu
{
/**
 * Divides each active cell of deal.II, called a block, into n^dim cells of the discretization with
 * n = 2^k. They are the cells that k uniform refinements of the block would create, but deal.II
 * does not store them. Along the space-filling curve, they have the order of the refined mesh.
 */
template <int dim>
class Blocks
{
public:
  using Index = dealii::types::global_dof_index;
  using Block = typename dealii::DoFHandler<dim>::active_cell_iterator;

  /**
   * @pre the dofs of @p handler have been numbered
   * @param n number of cells of a block in each direction: 2 or 4
   * @param element the finite element of these cells: FE_Q(1), or a system of several FE_Q(1)
   */
  Blocks(unsigned int n, const dealii::DoFHandler<dim> &handler,
         const dealii::FiniteElement<dim> &element);

  unsigned int per_direction() const
  {
    return n;
  }
  unsigned int size() const
  {
    return n_cells;
  }
  /// Returns the position of a cell in its block, counted in cells along each direction.
  const std::array<unsigned int, dim> &position(const unsigned int cell) const
  {
    return positions[cell];
  }
  /// Returns whether another rank owns block @p block and the block's cell @p cell shares a dof
  /// with cells of this rank.
  bool is_ghost(const unsigned int block, const unsigned int cell) const
  {
    return (ghosts[block] >> cell & 1U) != 0;
  }
  /// Returns the lexicographic number of vertex @p v of @p cell among the (n + 1)^dim vertices of
  /// a block.
  unsigned int vertex(const unsigned int cell, const unsigned int v) const
  {
    return vertices[cell * dealii::GeometryInfo<dim>::vertices_per_cell + v];
  }
  /// Returns vertex() for all vertices of all cells of a block, cell by cell.
  const std::vector<unsigned int> &cell_vertices() const
  {
    return vertices;
  }
  /// Interpolates the positions of all vertices of @p block from its corners, multilinearly.
  void get_vertices(const Block &block, std::vector<dealii::Point<dim>> &points) const;
  /// Returns the position of vertex @p number of @p block, in the numbering of vertex().
  dealii::Point<dim> vertex_at(const Block &block, unsigned int number) const;
  /// Returns the largest diameter of the cells of @p block.
  double largest_diameter(const Block &block) const;

  /// Returns the number of the cell at @p position in its block.
  unsigned int at(const std::array<unsigned int, dim> &position) const;
  /// Returns dof @p i of a cell.
  Index dof(const unsigned int block, const unsigned int cell, const unsigned int i) const
  {
    return block_dofs[first_dofs[block] + in_block[cell][i]];
  }
  /// Returns the dof of component 0 at vertex @p v of a cell.
  Index vertex_dof(const unsigned int block, const unsigned int cell, const unsigned int v) const
  {
    return dof(block, cell, v * n_components);
  }

private:
  void find_positions();
  void find_dofs(const dealii::DoFHandler<dim> &handler, const dealii::FiniteElement<dim> &element);
  void find_ghosts(const dealii::DoFHandler<dim> &handler);

  unsigned int n, n_cells, n_block_dofs, n_components;
  std::vector<std::array<unsigned int, dim>> positions;
  std::vector<unsigned int> vertices;
  std::vector<double> weights; ///< for each vertex of a block: interpolation weights of the corners
  std::vector<std::vector<unsigned int>> in_block; ///< for each cell: dof indices in a block
  std::vector<Index> block_dofs;                   ///< dofs of all blocks that are not artificial
  /// For each block, by active cell index: the index of its first entry in block_dofs.
  std::vector<std::size_t> first_dofs;
  std::vector<std::uint64_t> ghosts; ///< for each block: is_ghost() of its cells, one bit per cell
};

/**
 * A cell of the discretization: an active cell of deal.II, or one of the cells of a block. It
 * provides the functions of deal.II's accessors that loops over cells need, under the same names.
 */
template <int dim>
class ActiveCell
{
public:
  using Block = typename Blocks<dim>::Block;

  ActiveCell() = default;
  /// @param blocks nullptr if the cells of the discretization are deal.II's cells
  /// @param inner_sides nullptr if the mesh has none, or for cells whose sides are not needed
  ActiveCell(const Block &block, const Blocks<dim> *blocks, const unsigned int cell,
             const InnerSidesOfCells<dim> *inner_sides = nullptr)
      : the_block(block), blocks(blocks), cell(cell), inner_sides(inner_sides)
  {}
  const ActiveCell *operator->() const
  {
    return this;
  }

  /// Returns the active cell of deal.II that this cell is or belongs to.
  const Block &block() const
  {
    return the_block;
  }
  bool is_deal_ii_cell() const
  {
    return blocks == nullptr;
  }
  bool is_locally_owned() const
  {
    return the_block->is_locally_owned();
  }
  dealii::types::material_id material_id() const
  {
    return the_block->material_id();
  }
  unsigned int active_cell_index() const
  {
    return is_deal_ii_cell() ? the_block->active_cell_index()
                             : the_block->active_cell_index() * blocks->size() + cell;
  }

  /// Identifies a cell independently of the number of ranks.
  using Id = std::pair<dealii::CellId::binary_type, unsigned int>;
  Id id() const
  {
    return {the_block->id().template to_binary<dim>(), cell};
  }

  unsigned int n_vertices() const
  {
    return the_block->n_vertices();
  }
  dealii::Point<dim> vertex(const unsigned int v) const
  {
    return is_deal_ii_cell() ? the_block->vertex(v) : blocks->vertex_at(the_block, block_vertex(v));
  }
  /// Computes the vertices of the cell's block; points[block_vertex(v)] is vertex v of the cell.
  void get_block_vertices(std::vector<dealii::Point<dim>> &points) const
  {
    blocks->get_vertices(the_block, points);
  }
  unsigned int block_vertex(const unsigned int v) const
  {
    return blocks->vertex(cell, v);
  }
  dealii::Point<dim> center() const;
  double diameter() const;

  /// A face of a cell. It provides some functions of deal.II's face accessors.
  class Face
  {
  public:
    Face(const ActiveCell &of_cell, const unsigned int number) : cell(of_cell), number(number)
    {}
    const Face *operator->() const
    {
      return this;
    }
    bool at_boundary() const
    {
      return cell.at_boundary(number);
    }
    /// Returns the boundary id of the face or, if it is an inner side, the id of that;
    /// internal_face_boundary_id if it is neither.
    dealii::types::boundary_id side_id() const
    {
      return cell.side_id(number);
    }

    /// Returns the number that vertex @p i of the face has in the cell. Seen from both adjacent
    /// cells, vertex @p i is the same point.
    unsigned int corner(unsigned int i) const;
    double diameter() const;

  private:
    ActiveCell cell;
    unsigned int number;
  };
  Face face(const unsigned int number) const
  {
    return {*this, number};
  }
  auto face_indices() const
  {
    return the_block->face_indices();
  }
  /// Returns the neighbour behind an interior face, and the number of the face in the neighbour.
  /// @pre the cell belongs to a block
  std::pair<ActiveCell, unsigned int> neighbor(unsigned int face) const;

  /// Calls use(face number, id) for each face at the boundary, and for each inner side over which
  /// is integrated from this cell.
  template <class Use>
  void for_each_side(const Use &use) const
  {
    if (the_block->at_boundary())
      for (const unsigned int f : face_indices())
        if (at_boundary(f))
          use(f, the_block->face(f)->boundary_id());
    if (inner_sides != nullptr)
      inner_sides->for_each_integrated(
          the_block->active_cell_index(),
          [&](const unsigned int f, const dealii::types::boundary_id id) {
            if (is_deal_ii_cell() || is_at_face_of_block(f))
              use(f, id);
          });
  }
  bool at_boundary(const unsigned int face) const
  {
    return the_block->at_boundary(face) && (is_deal_ii_cell() || is_at_face_of_block(face));
  }
  dealii::types::boundary_id side_id(const unsigned int face) const
  {
    if (!is_deal_ii_cell() && !is_at_face_of_block(face))
      return dealii::numbers::internal_face_boundary_id;
    return the_block->at_boundary(face) || inner_sides == nullptr
               ? the_block->face(face)->boundary_id()
               : inner_sides->id(the_block->active_cell_index(), face);
  }
  bool is_at_face_of_block(const unsigned int face) const
  {
    return blocks->position(cell)[face / 2] == (face % 2 == 0 ? 0 : blocks->per_direction() - 1);
  }

  void get_dof_indices(std::vector<dealii::types::global_dof_index> &dofs) const
  {
    if (is_deal_ii_cell())
      the_block->get_dof_indices(dofs);
    else
      for (unsigned int i = 0; i < dofs.size(); ++i)
        dofs[i] = blocks->dof(the_block->active_cell_index(), cell, i);
  }
  template <class FeVector>
  void get_dof_values(const FeVector &u, dealii::Vector<double> &values) const
  {
    if (is_deal_ii_cell())
      the_block->get_dof_values(u, values);
    else
      for (unsigned int i = 0; i < values.size(); ++i)
        values(i) = u(blocks->dof(the_block->active_cell_index(), cell, i));
  }

private:
  Block the_block;
  const Blocks<dim> *blocks = nullptr;
  unsigned int cell = 0;
  const InnerSidesOfCells<dim> *inner_sides = nullptr;
};

/// The cells of this rank, optionally with ghost cells, for range-based for loops.
template <int dim>
class ActiveCells
{
public:
  ActiveCells(const dealii::DoFHandler<dim> &handler, const Blocks<dim> *const blocks,
              const bool with_ghosts, const InnerSidesOfCells<dim> *const inner_sides)
      : handler(handler), blocks(blocks), with_ghosts(with_ghosts), inner_sides(inner_sides)
  {}

  class Iterator
  {
  public:
    Iterator(const ActiveCells &cells, const typename ActiveCell<dim>::Block &block)
        : cells(cells), block(block)
    {
      skip();
    }
    ActiveCell<dim> operator*() const
    {
      return {block, cells.blocks, cell, cells.inner_sides};
    }
    Iterator &operator++()
    {
      next();
      skip();
      return *this;
    }
    bool operator!=(const Iterator &other) const
    {
      return block != other.block || cell != other.cell;
    }

  private:
    void next()
    {
      if (cells.blocks != nullptr && ++cell < cells.blocks->size())
        return;
      cell = 0;
      ++block;
    }
    void skip()
    {
      const auto end = cells.handler.end();
      while (block != end && !cells.contains(block, cell))
        next();
    }

    const ActiveCells &cells;
    typename ActiveCell<dim>::Block block;
    unsigned int cell = 0;
  };

  Iterator begin() const
  {
    return {*this, handler.begin_active()};
  }
  Iterator end() const
  {
    return {*this, typename ActiveCell<dim>::Block(handler.end())};
  }

private:
  bool contains(const typename ActiveCell<dim>::Block &block, const unsigned int cell) const
  {
    if (block->is_locally_owned())
      return true;
    return with_ghosts && block->is_ghost() &&
           (blocks == nullptr || blocks->is_ghost(block->active_cell_index(), cell));
  }

  const dealii::DoFHandler<dim> &handler;
  const Blocks<dim> *blocks;
  bool with_ghosts;
  const InnerSidesOfCells<dim> *inner_sides;
};

/// Returns the dofs of @p cells together with @p owned, which are the dofs that this rank owns.
/// @param n_dofs_per_cell number of dofs of each cell
template <int dim>
dealii::IndexSet dofs_of(const ActiveCells<dim> &cells, unsigned int n_dofs_per_cell,
                         const dealii::IndexSet &owned);
} // namespace femgpu

#endif
