#ifndef femgpu_physics_lower_parts_h
#define femgpu_physics_lower_parts_h

#include "physics/problem.h"

#include <deal.II/grid/tria.h>
#include <deal.II/lac/vector.h>

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace femgpu
{
/// What a cell has of a curve or of points: an edge, or a vertex or middle of an edge, both ends of
/// which are the same.
template <int dim>
struct CellSegment
{
  /// Dimension and index in the triangulation of the vertex, or of the edge.
  std::pair<unsigned int, unsigned int> object;
  bool is_refined; ///< into edges of neighbours
  std::array<dealii::Point<dim>, 2> unit_ends, ends;
};

template <int dim>
std::vector<CellSegment<dim>>
segments_of(const LowerPart &part, const typename dealii::Triangulation<dim>::cell_iterator &cell);

/// A component of a node.
template <int dim>
struct NodeComponent
{
  unsigned int component;
  dealii::Point<dim> place;
};

/// The dofs on @p part, of all cells that this rank has.
template <int dim>
std::map<dealii::types::global_dof_index, NodeComponent<dim>>
dofs_on(const LowerPart &part, const Discretization<dim> &discretization);

/**
 * The integrals of the shape functions with the loads of Problem::loads_of_lower_parts(): along
 * curves, and at points their values. The cell with the smallest CellId of those around an edge or
 * vertex has its load, so that nothing counts twice on any number of ranks.
 * @return those of the dofs of cells that this rank owns, by active cell index
 */
template <int dim>
std::map<unsigned int, dealii::Vector<double>>
loads_of_lower_parts(const Problem<dim> &problem, const Discretization<dim> &discretization);
} // namespace femgpu

#endif
