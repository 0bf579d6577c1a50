#ifndef femgpu_physics_disjoint_sets_h
#define femgpu_physics_disjoint_sets_h

#include <algorithm>
#include <numeric>
#include <vector>

namespace femgpu
{
/// A union-find structure. Each set is represented by its smallest member.
class DisjointSets
{
public:
  explicit DisjointSets(const unsigned int n) : parents(n)
  {
    std::iota(parents.begin(), parents.end(), 0U);
  }
  unsigned int root(unsigned int i)
  {
    for (; parents[i] != i; i = parents[i])
      parents[i] = parents[parents[i]]; // path halving
    return i;
  }
  void unite(const unsigned int a, const unsigned int b)
  {
    const auto [low, high] = std::minmax({root(a), root(b)});
    parents[high] = low;
  }

private:
  std::vector<unsigned int> parents;
};
} // namespace femgpu

#endif
