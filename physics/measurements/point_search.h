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
  unsigned int index; ///< index of the point in the list of points searched for
  ActiveCell<dim> cell;
  dealii::Point<dim> unit; ///< coordinates in the reference cell
};

/// The result of a search for points, on this rank and on all ranks.
template <int dim>
struct PointSearch
{
  std::vector<PointInCell<dim>> found; ///< in cells of this rank, in the order of the points
  std::vector<unsigned int> missing;   ///< indices of the points that are in no cell on any rank
};

/**
 * Collective. Finds all active cells that contain @p points. A point on a face, edge or vertex is
 * in several cells. On meshes with curved boundaries, a point outside the mesh by less than 5 % of
 * the size of the nearest cell is assigned to that cell, because the polynomial mapping only
 * approximates the boundary.
 */
template <int dim>
PointSearch<dim> find_points(const Discretization<dim> &discretization,
                             const std::vector<dealii::Point<dim>> &points);

/// Collective. Returns the vertex of the mesh that is closest to @p point.
template <int dim>
dealii::Point<dim> closest_vertex(const Discretization<dim> &discretization,
                                  const dealii::Point<dim> &point);
} // namespace femgpu

#endif
