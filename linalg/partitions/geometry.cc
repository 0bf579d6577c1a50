#include "linalg/partitions/partition.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace femgpu::linalg
{
namespace
{
class Bisection
{
public:
  Bisection(const std::vector<double> &coordinates, const int dimension)
      : coordinates(coordinates), dimension(dimension),
        nodes(coordinates.size() / static_cast<std::size_t>(dimension)), blocks(nodes.size())
  {
    std::iota(nodes.begin(), nodes.end(), 0);
  }

  /// Assigns the nodes at positions begin <= k < end to the blocks first <= b < first + n_blocks.
  void bisect(const int begin, const int end, const int first, const int n_blocks)
  {
    if (n_blocks == 1) {
      for (int k = begin; k < end; ++k)
        blocks[nodes[k]] = first;
      return;
    }
    const int before = n_blocks / 2;
    const int middle =
        begin + static_cast<int>(static_cast<long long>(end - begin) * before / n_blocks);
    const int axis = longest_axis(begin, end);
    // Nodes with equal coordinates are ordered by their number, so that the result is unique.
    std::nth_element(nodes.begin() + begin, nodes.begin() + middle, nodes.begin() + end,
                     [&](const int a, const int b) {
                       return std::make_tuple(at(a, axis), a) < std::make_tuple(at(b, axis), b);
                     });
    bisect(begin, middle, first, before);
    bisect(middle, end, first + before, n_blocks - before);
  }

  std::vector<int> extract_blocks()
  {
    return std::move(blocks);
  }

private:
  double at(const int node, const int axis) const
  {
    return coordinates[static_cast<std::size_t>(node) * dimension + axis];
  }

  int longest_axis(const int begin, const int end) const
  {
    int longest = 0;
    double extent = -1.;
    for (int axis = 0; axis < dimension; ++axis) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (int k = begin; k < end; ++k) {
        low = std::min(low, at(nodes[k], axis));
        high = std::max(high, at(nodes[k], axis));
      }
      if (high - low > extent) {
        extent = high - low;
        longest = axis;
      }
    }
    return longest;
  }

  const std::vector<double> &coordinates;
  int dimension;
  std::vector<int> nodes, blocks;
};
} // namespace

std::vector<int> bisect_coordinates(const std::vector<double> &coordinates, const int dimension,
                                    const int n_blocks)
{
  Bisection bisection(coordinates, dimension);
  bisection.bisect(0, static_cast<int>(coordinates.size() / static_cast<std::size_t>(dimension)), 0,
                   n_blocks);
  return bisection.extract_blocks();
}
} // namespace femgpu::linalg
