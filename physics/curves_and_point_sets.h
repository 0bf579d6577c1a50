#ifndef femgpu_physics_curves_and_point_sets_h
#define femgpu_physics_curves_and_point_sets_h

#include "physics/problem.h"

#include <deal.II/grid/tria.h>
#include <deal.II/lac/vector.h>

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace femgpu
{
/// The part of a curve or point set in a cell: an edge, a vertex, or the midpoint of an edge. For a
/// vertex or midpoint, both ends are equal.
template <int dim>
struct CellSegment
{
  /// The dimension of the vertex (0) or edge (1), and its index in the triangulation.
  std::pair<unsigned int, unsigned int> object;
  bool is_refined; ///< whether the edge has children, in finer neighbours of the cell
  std::array<dealii::Point<dim>, 2> unit_ends, ends;
};

/// Returns the parts of @p region in @p cell.
template <int dim>
std::vector<CellSegment<dim>>
segments_of(const CurveOrPointSet &region,
            const typename dealii::Triangulation<dim>::cell_iterator &cell);

/// The component of the solution that a dof belongs to, and the position of its node.
template <int dim>
struct NodeComponent
{
  unsigned int component;
  dealii::Point<dim> position;
};

/// Returns the dofs of owned and ghost cells that are on @p region.
template <int dim>
std::map<dealii::types::global_dof_index, NodeComponent<dim>>
dofs_on(const CurveOrPointSet &region, const Discretization<dim> &discretization);

/**
 * Computes the products of Problem::curve_and_point_loads() and the shape functions, integrated
 * along curves or evaluated at points. The load of an edge or vertex is assigned to the adjacent
 * cell with the smallest CellId, so that it counts once on any number of ranks.
 * @return for cells of this rank, by active cell index, the load of each dof of the cell
 */
template <int dim>
std::map<unsigned int, dealii::Vector<double>>
curve_and_point_loads(const Problem<dim> &problem, const Discretization<dim> &discretization);
} // namespace femgpu

#endif
