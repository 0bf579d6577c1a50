#ifndef femgpu_physics_cell_order_h
#define femgpu_physics_cell_order_h

#include "physics/discretization.h"

#include <deal.II/lac/vector.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace femgpu
{
/// Values at cells: for each cell, those of its dofs in all functions, one function after the
/// other, and a further value. A dof belongs to the first of its cells.
struct CellValues
{
  std::vector<std::uint64_t> positions; ///< positions of the cells among all cells, ascending
  std::vector<std::uint32_t> n_dofs;    ///< number of dofs that belong to each cell
  std::vector<double> values;
};

/// Collective. Returns the levels of refinement of all cells of deal.II along the space-filling
/// curve, on all ranks. @pre p4est distributes the mesh
template <int dim>
std::vector<std::uint8_t> levels_of_cells(const Mesh<dim> &mesh);

/**
 * The cells of a mesh and their dofs in an order that depends neither on the number of ranks nor on
 * the history of the mesh: the order of the space-filling curve or, for triangles and tetrahedra,
 * that of their numbers. Cells are deal.II's cells; a block (active_cell.h) counts as one.
 */
template <int dim>
class CellOrder
{
public:
  /// Collective. Stores the order for the present mesh of @p discretization, which must outlive
  /// this object.
  explicit CellOrder(const Discretization<dim> &discretization);

  /**
   * Returns the values of @p functions and @p at_cells at this rank's cells.
   * @param functions with ghost values
   * @param at_cells a value for each active cell by its index; if empty, 0 is stored
   */
  CellValues values(const std::vector<const FeVector *> &functions,
                    const dealii::Vector<float> &at_cells) const;

  /// Copies those of @p values that belong to cells of this rank to @p functions, and to @p
  /// at_cells unless it is empty.
  /// @param functions vectors of zeros; finish() completes them
  /// @return the number of cells copied. @throws std::length_error if the numbers of dofs differ
  std::size_t copy(const CellValues &values, const std::vector<FeVector *> &functions,
                   dealii::Vector<float> &at_cells) const;

  /// Collective. Completes functions after all values were copied: exchanges ghost values.
  static void finish(const std::vector<FeVector *> &functions);

  /// Returns the number of cells of this rank.
  std::size_t size() const
  {
    return cells.size();
  }

private:
  struct Cell
  {
    std::uint64_t position;
    unsigned int index;    ///< its active cell index
    std::size_t first_dof; ///< index of the first of its dofs in `dofs`
  };

  std::vector<Cell> cells;                           ///< of this rank, by position
  std::vector<dealii::types::global_dof_index> dofs; ///< by the cell that they belong to
};
} // namespace femgpu

#endif
