#ifndef femgpu_physics_near_points_h
#define femgpu_physics_near_points_h

#include <deal.II/base/point.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace femgpu
{
/// A box of a grid; its hash mixes the numbers by large odd factors.
template <int dim>
struct GridBox
{
  std::array<std::int64_t, dim> place;

  bool operator==(const GridBox &other) const
  {
    return place == other.place;
  }
  struct Hash
  {
    std::size_t operator()(const GridBox &box) const
    {
      std::uint64_t hash = 0;
      for (const std::int64_t number : box.place)
        hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15ULL;
      return static_cast<std::size_t>(hash ^ (hash >> 32));
    }
  };
};

/**
 * All pairs of @p points that are not farther apart than @p distance > 0, the lower number first:
 * for n points n visits of the 3^dim boxes of this size around each, if few lie in a box.
 */
template <int dim>
std::vector<std::pair<unsigned int, unsigned int>>
near_points(const std::vector<dealii::Point<dim>> &points, double distance)
{
  for (const auto &point : points) // numbers of boxes fit into 62 bits
    distance = std::max(distance, 1e-17 * point.norm());
  std::unordered_map<GridBox<dim>, std::vector<unsigned int>, typename GridBox<dim>::Hash> boxes;
  std::vector<std::pair<unsigned int, unsigned int>> pairs;
  unsigned int n_around = 1;
  for (int d = 0; d < dim; ++d)
    n_around *= 3;
  for (unsigned int i = 0; i < points.size(); ++i) {
    GridBox<dim> own;
    for (unsigned int d = 0; d < dim; ++d)
      own.place[d] = static_cast<std::int64_t>(std::floor(points[i][d] / distance));
    for (unsigned int k = 0; k < n_around; ++k) {
      GridBox<dim> box = own;
      for (unsigned int d = 0, rest = k; d < dim; ++d, rest /= 3)
        box.place[d] += static_cast<int>(rest % 3) - 1;
      if (const auto found = boxes.find(box); found != boxes.end())
        for (const unsigned int j : found->second)
          if (points[i].distance(points[j]) <= distance)
            pairs.emplace_back(j, i);
    }
    boxes[own].push_back(i);
  }
  return pairs;
}
} // namespace femgpu

#endif
