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
/// The part of a curve or point set in a cell: an edge, or a vertex or midpoint of an edge. For
/// points both ends are equal.
template <int dim>
struct CellSegment
{
  /// Dimension and index in the triangulation of the vertex or edge.
  std::pair<unsigned int, unsigned int> object;
  bool is_refined; ///< whether neighbours have refined the edge
  std::array<dealii::Point<dim>, 2> unit_ends, ends;
};

template <int dim>
std::vector<CellSegment<dim>>
segments_of(const CurveOrPointSet &region,
            const typename dealii::Triangulation<dim>::cell_iterator &cell);

/// A component of a node.
template <int dim>
struct NodeComponent
{
  unsigned int component;
  dealii::Point<dim> position;
};

/// Returns the dofs on @p region in all cells that this rank has.
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
