#ifndef femgpu_physics_refinement_h
#define femgpu_physics_refinement_h

#include "physics/discretization.h"

#include <deal.II/lac/vector.h>

#include <cstddef>
#include <string>

namespace femgpu
{
/// Which cells an adaptive step refines and coarsens, by their indicators.
struct RefinementRule
{
  /// Is a fraction of the cells meant, or one of the error? The latter is Doerfler's (1996): the
  /// fewest cells with Σ η_K² >= refine² Σ η², in the same way the most with at most coarsen².
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
 * Collective. Flags cells of a mesh of quadrilaterals or hexahedra for the next refinement: those
 * with the largest indicators to be refined, those with the smallest to be coarsened. Indicators
 * that differ by less than 1e-4 count as the same, so that rounding decides nothing: neither the
 * number of ranks nor the order of a sum, and a symmetric mesh stays symmetric.
 * @param indicators for each active cell, not negative
 */
template <int dim>
void flag_by_indicators(Mesh<dim> &mesh, const dealii::Vector<float> &indicators,
                        const RefinementRule &rule);

/// Flags the cells of this rank to be refined for which @p predicate(cell).
template <int dim, class Predicate>
void flag_if(Mesh<dim> &mesh, const Predicate &predicate)
{
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned() && predicate(cell)) {
      cell->clear_coarsen_flag();
      cell->set_refine_flag();
    }
}

/// Collective. Takes back the flags of cells that have been refined @p largest times. Is any cell
/// still to be refined?
template <int dim>
bool limit_level(Mesh<dim> &mesh, unsigned int largest);

/// Beyond the global refinements; as many as there can be of those.
constexpr unsigned int most_local_refinements = 12;

/// How many cells in a direction a cell of the triangulation can stand for (active_cell.h), so that
/// @p times refinements of a coarse mesh, all of them global, leave blocks enough for many ranks.
/// 1: none, as of small meshes, triangles, tetrahedra, curved cells, elements of degree 2 or more,
/// and where dofs depend on others.
template <int dim>
unsigned int cells_per_block(const Discretization<dim> &discretization, const Problem<dim> &problem,
                             unsigned int times);

/**
 * Collective. Refines a coarse mesh @p times times as a whole, and then where the @p expression
 * of Mesh/Initial refinement where says.
 * @param per_block of cells_per_block(), or 1; nothing is refined further then
 * @throws ParameterError if an expression is given for triangles or tetrahedra, or cannot be read
 */
template <int dim>
void refine_initially(Mesh<dim> &mesh, unsigned int times, const std::string &expression,
                      unsigned int per_block = 1);

/**
 * Collective. How many cells refine_initially() would make of the coarse @p mesh, counted without
 * making them: without those that keep neighbours within one level, and with straight sides.
 * Counting ends at about @p most on each rank. @throws as above
 */
template <int dim>
double forecast_cells(const Mesh<dim> &mesh, unsigned int times, const std::string &expression,
                      double most);

/// Collective. How many cells of quadrilaterals or hexahedra the refinement that is flagged will
/// leave, without those that keep neighbours within one level.
template <int dim>
double cells_after_flags(const Mesh<dim> &mesh);

/**
 * Collective. At least so many dofs the refinement that is flagged will leave, whatever else it
 * refines, or does not coarsen, to keep neighbours within one level. Exact if all quadrilaterals
 * are flagged; of triangles and tetrahedra the dofs that there are.
 */
template <int dim>
std::size_t least_dofs_after_flags(const Discretization<dim> &discretization);

/**
 * Collective. Refines and coarsens the cells that are flagged, numbers the dofs again and returns
 * @p u interpolated to the new space, as an initial guess; constraints are not applied to it.
 * Triangles and tetrahedra are refined all, whatever their flags.
 * @param mesh that of @p discretization
 */
template <int dim>
FeVector refine_and_transfer(Mesh<dim> &mesh, Discretization<dim> &discretization,
                             const FeVector &u);
} // namespace femgpu

#endif
