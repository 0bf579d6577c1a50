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
/// The part of a curve or point set in a cell: an edge, or a vertex or midpoint of an edge. For a
/// point, both ends are equal.
template <int dim>
struct CellSegment
{
  /// The dimension of the vertex or edge, and its index in the triangulation.
  std::pair<unsigned int, unsigned int> object;
  bool is_refined; ///< whether the edge is refined because neighbours are
  std::array<dealii::Point<dim>, 2> unit_ends, ends;
};

/// Returns the parts of @p region in @p cell.
template <int dim>
std::vector<CellSegment<dim>>
segments_of(const CurveOrPointSet &region,
            const typename dealii::Triangulation<dim>::cell_iterator &cell);

/// The component that a dof stands for, and the position of its node.
template <int dim>
struct NodeComponent
{
  unsigned int component;
  dealii::Point<dim> position;
};

/// Returns the dofs on @p region of owned and ghost cells.
template <int dim>
std::map<dealii::types::global_dof_index, NodeComponent<dim>>
dofs_on(const CurveOrPointSet &region, const Discretization<dim> &discretization);

/**
 * Integrates the loads of Problem::curve_and_point_loads(), times shape functions: along curves, or
 * by evaluation at points. The load of an edge or vertex is assigned to the adjacent cell with the
 * smallest CellId, so that it counts once on any number of ranks.
 * @return loads of the dofs of this rank's cells, by active cell index
 */
template <int dim>
std::map<unsigned int, dealii::Vector<double>>
curve_and_point_loads(const Problem<dim> &problem, const Discretization<dim> &discretization);
} // namespace femgpu

#endif
