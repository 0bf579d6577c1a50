#ifndef femgpu_physics_corners_h
#define femgpu_physics_corners_h

#include <deal.II/base/point.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace femgpu
{
/// The coordinates of the corners of an edge or face, in ascending order; unused entries are huge.
/// Both adjacent cells of a face thus get the same key.
template <int dim>
using Corners = std::array<std::array<double, dim>, 4>;

template <int dim>
Corners<dim> make_corners(const std::vector<dealii::Point<dim>> &points)
{
  Corners<dim> corners;
  corners.back().fill(std::numeric_limits<double>::max());
  corners.fill(corners.back());
  for (unsigned int i = 0; i < points.size(); ++i)
    for (unsigned int d = 0; d < dim; ++d)
      corners[i][d] = points[i][d];
  std::sort(corners.begin(), corners.end());
  return corners;
}
} // namespace femgpu

#endif
