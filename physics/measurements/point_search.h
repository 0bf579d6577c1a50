#ifndef femgpu_physics_point_search_h
#define femgpu_physics_point_search_h

#include "physics/discretization.h"

#include <deal.II/base/point.h>

#include <vector>

namespace femgpu
{
/// A point in a cell of this rank.
template <int dim>
struct PointInCell
{
  unsigned int index; ///< of the point among those that were searched
  ActiveCell<dim> cell;
  dealii::Point<dim> unit; ///< its coordinates in the reference cell
};

/// Where points are, on this rank and on all of them.
template <int dim>
struct PointSearch
{
  std::vector<PointInCell<dim>> found; ///< in cells of this rank, in the order of the points
  std::vector<unsigned int> missing;   ///< points that are in no cell of any rank
};

/**
 * Collective. All active cells that contain @p points: several where faces, edges or vertices are.
 * On meshes with curved boundaries a point that is outside by less than 5 % of the nearest cell is
 * in that cell: the polynomials of the mapping do not quite reach the boundary.
 */
template <int dim>
PointSearch<dim> find_points(const Discretization<dim> &discretization,
                             const std::vector<dealii::Point<dim>> &points);

/// Collective. The vertex of the mesh that is closest to @p point.
template <int dim>
dealii::Point<dim> closest_vertex(const Discretization<dim> &discretization,
                                  const dealii::Point<dim> &point);
} // namespace femgpu

#endif
