#ifndef femgpu_physics_near_points_h
#define femgpu_physics_near_points_h

#include <deal.II/base/bounding_box.h>
#include <deal.II/base/point.h>
#include <deal.II/numerics/rtree.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace femgpu
{
/// Finds points by their places.
template <int dim>
class PointTree
{
public:
  using Points = std::vector<dealii::Point<dim>>;

  explicit PointTree(Points of) : points(std::move(of)), tree(dealii::pack_rtree_of_indices(points))
  {}
  PointTree(const PointTree &) = delete; // the tree knows the place of the points

  /// The numbers of those that are not farther than @p distance from @p p, in ascending order.
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
} // namespace femgpu

#endif
