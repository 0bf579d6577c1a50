#ifndef femgpu_physics_refinement_h
#define femgpu_physics_refinement_h

#include "physics/discretization.h"

#include <deal.II/lac/vector.h>

#include <cstddef>
#include <string>
#include <vector>

namespace femgpu
{
/// The rule by which an adaptive step selects cells to refine and coarsen from their indicators.
struct RefinementRule
{
  /// Whether `refine` and `coarsen` are fractions of the number of cells or of the error. By the
  /// error (Doerfler 1996), the fewest cells with Σ η_K² >= refine² Σ η² are refined, and the most
  /// cells with Σ η_K² <= coarsen² Σ η² are coarsened.
  enum class Fraction
  {
    of_cells,
    of_error
  };

  Fraction fraction = Fraction::of_cells;
  double refine = 0.3;
  double coarsen = 0.03;
};

/**
 * Collective. Flags cells of a mesh of quadrilaterals or hexahedra for the next refinement: cells
 * with the largest indicators are refined, cells with the smallest are coarsened. Indicators are
 * rounded to a relative accuracy of about 1e-4. Thus flags do not depend on the number of ranks or
 * the order of sums, and symmetric meshes stay symmetric.
 * @param indicators one number for each active cell, not negative
 */
template <int dim>
void flag_by_indicators(Mesh<dim> &mesh, const dealii::Vector<float> &indicators,
                        const RefinementRule &rule);

/// Flags for refinement the cells of this rank for which predicate(cell) is true.
template <int dim, class Predicate>
void flag_if(Mesh<dim> &mesh, const Predicate &predicate)
{
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned() && predicate(cell)) {
      cell->clear_coarsen_flag();
      cell->set_refine_flag();
    }
}

/// Collective. Clears the refinement flags of cells that have been refined @p largest or more
/// times. Returns whether any cell is still flagged for refinement.
template <int dim>
bool limit_level(Mesh<dim> &mesh, unsigned int largest);

/// The maximum number of local refinements that follow the global refinements; also the maximum
/// number of global refinements.
constexpr unsigned int max_local_refinements = 12;

/// Returns the number of cells of a block (active_cell.h) in each direction, for @p times global
/// refinements of a coarse mesh. It is at most 4, and small enough that many ranks have blocks.
/// Returns 1 (no blocks) for small meshes, triangles, tetrahedra, curved cells, curves and point
/// sets, elements of degree 2 or more, periodic sides and symmetry planes.
template <int dim>
unsigned int cells_per_block(const Discretization<dim> &discretization, const Problem<dim> &problem,
                             unsigned int times);

/**
 * Collective. Refines a coarse mesh globally @p times times, then locally according to
 * @p expression, the value of the parameter "Mesh/Initial refinement where".
 * @param per_block 1 or the result of cells_per_block(); if larger than 1, @p expression must be
 * empty, and later refinements must be global
 * @throws ParameterError if @p expression is given for triangles or tetrahedra, or cannot be parsed
 */
template <int dim>
void refine_initially(Mesh<dim> &mesh, unsigned int times, const std::string &expression,
                      unsigned int per_block = 1);

/**
 * Collective. Returns the number of cells that refine_initially() would make from the coarse
 * @p mesh, without making them. Ignores the further refinement by which deal.II keeps neighbours
 * within one level, and assumes straight sides. Counting stops at about @p max_cells on each rank.
 * @throws ParameterError in the same cases as refine_initially()
 */
template <int dim>
double predict_n_cells(const Mesh<dim> &mesh, unsigned int times, const std::string &expression,
                       double max_cells);

/// Collective. Returns the number of cells after the flagged refinement of quadrilaterals or
/// hexahedra, ignoring the further refinement by which deal.II keeps neighbours within one level.
template <int dim>
double cells_after_flags(const Mesh<dim> &mesh);

/**
 * Collective. Returns a lower bound of the number of dofs after the flagged refinement. It remains
 * valid if more cells are refined or fewer are coarsened to keep neighbours within one level, and
 * is exact if all quadrilaterals of a 2D mesh are flagged. For triangles and tetrahedra, returns
 * the current number of dofs.
 */
template <int dim>
std::size_t min_dofs_after_flags(const Discretization<dim> &discretization);

/**
 * Collective. Refines and coarsens the flagged cells, renumbers the dofs and interpolates
 * @p functions to the new space, without constraints applied. All triangles and tetrahedra are
 * refined, whatever their flags.
 * @param mesh the mesh of @p discretization
 * @param functions with ghost values; for triangles and tetrahedra one function at most
 */
template <int dim>
void refine_and_transfer(Mesh<dim> &mesh, Discretization<dim> &discretization,
                         const std::vector<FeVector *> &functions);
} // namespace femgpu

#endif
