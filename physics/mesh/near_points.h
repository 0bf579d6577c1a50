#ifndef femgpu_physics_near_points_h
#define femgpu_physics_near_points_h

#include <deal.II/base/bounding_box.h>
#include <deal.II/base/point.h>
#include <deal.II/numerics/rtree.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace femgpu
{
/// Finds points near a location, by an R-tree.
template <int dim>
class PointTree
{
public:
  using Points = std::vector<dealii::Point<dim>>;

  explicit PointTree(Points of) : points(std::move(of)), tree(dealii::pack_rtree_of_indices(points))
  {}
  PointTree(const PointTree &) = delete; // the tree refers to `points`

  /// Returns the indices of points at a distance of at most @p distance from @p p, in ascending
  /// order.
  std::vector<unsigned int> near(const dealii::Point<dim> &p, const double distance) const
  {
    dealii::BoundingBox<dim> around(std::make_pair(p, p));
    around.extend(distance);
    std::vector<unsigned int> found;
    for (auto i = tree.qbegin(boost::geometry::index::intersects(around)); i != tree.qend(); ++i)
      if (points[*i].distance(p) <= distance)
        found.push_back(static_cast<unsigned int>(*i));
    std::sort(found.begin(), found.end());
    return found;
  }

private:
  const Points points;
  decltype(dealii::pack_rtree_of_indices(Points())) tree;
};

/// Coordinates that differ by less than this count as equal. GridTools::collect_periodic_faces()
/// uses the same value.
constexpr double coordinate_tolerance = 1e-10;

/// The points of a side, by their numbers.
template <int dim, class Number>
using NumberedPoints = std::map<Number, dealii::Point<dim>>;

/// Returns the offset of @p others from @p points along axis @p direction; 0 if either is empty.
template <class Points>
double distance_along(const Points &points, const Points &others, const unsigned int direction)
{
  const auto low = [direction](const Points &list) {
    double lowest = std::numeric_limits<double>::max();
    for (const auto &entry : list)
      lowest = std::min(lowest, entry.second[direction]);
    return lowest;
  };
  return points.empty() || others.empty() ? 0. : low(others) - low(points);
}

/// Returns the numbers of each pair of matching points on two sides. The second side is a
/// translation of the first along axis @p direction. Points without a match are omitted.
template <int dim, class Number>
std::vector<std::pair<Number, Number>> pairs_of(const NumberedPoints<dim, Number> &first,
                                                const NumberedPoints<dim, Number> &second,
                                                const unsigned int direction)
{
  std::vector<Number> others;
  std::vector<dealii::Point<dim>> points;
  for (const auto &[number, point] : second) {
    others.push_back(number);
    points.push_back(point);
  }
  const PointTree<dim> tree(points);
  const double distance = distance_along(first, second, direction);
  std::vector<std::pair<Number, Number>> pairs;
  for (auto [number, point] : first) {
    point[direction] += distance;
    if (const auto found = tree.near(point, 2. * coordinate_tolerance); !found.empty())
      pairs.emplace_back(number, others[found.front()]);
  }
  return pairs;
}
} // namespace femgpu

#endif
