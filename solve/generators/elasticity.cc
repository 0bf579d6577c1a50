#include "solve/generators/elasticity.h"

#include "solve/generators/grid_matrix.h"

#include <algorithm>
#include <array>
#include <utility>

namespace femgpu::linalg
{
namespace
{
using Vector = std::array<double, 3>;
using Block = std::array<double, 9>; ///< a 3 x 3 matrix, row by row

/// One of the 6 tetrahedra of a cube of size 1: its corners, numbered as corners of the cube (bit d
/// is coordinate d), and the gradients of its linear shape functions.
struct Tetrahedron
{
  std::array<int, 4> corners;
  std::array<Vector, 4> gradients;
};

/// Returns Kuhn's tetrahedra. There is one for each permutation p of the axes; its corners lie on
/// the path from corner 0 along axes p_1, p_2 and p_3 to corner 7. Its barycentric coordinates are
/// 1 - x_{p_1}, x_{p_1} - x_{p_2}, x_{p_2} - x_{p_3} and x_{p_3}.
std::vector<Tetrahedron> kuhn_tetrahedra()
{
  std::vector<Tetrahedron> tetrahedra;
  std::array<int, 3> p = {0, 1, 2};
  do {
    Tetrahedron T = {};
    for (int k = 0; k < 3; ++k) {
      T.corners[k + 1] = T.corners[k] | 1 << p[k];
      T.gradients[k][p[k]] -= 1.;
      T.gradients[k + 1][p[k]] += 1.;
    }
    tetrahedra.push_back(T);
  } while (std::next_permutation(p.begin(), p.end()));
  return tetrahedra;
}

/// The stiffness matrix of a cube of size 1: a 3 x 3 block for each pair of its 8 corners.
class CubeStiffness
{
public:
  CubeStiffness(const double E, const double nu)
  {
    const double lambda = E * nu / ((1. + nu) * (1. - 2. * nu));
    const double mu = E / (2. * (1. + nu));
    for (const auto &[corners, gradients] : kuhn_tetrahedra())
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b)
          add(blocks[corners[a]][corners[b]], gradients[a], gradients[b], lambda, mu);
  }

  const Block &operator()(const int a, const int b) const
  {
    return blocks[a][b];
  }

private:
  /// Adds the integral of λ div φ_i div φ_j + 2μ ε(φ_i):ε(φ_j) over a tetrahedron of volume 1/6,
  /// where g and h are the gradients of the two shape functions.
  static void add(Block &block, const Vector &g, const Vector &h, const double lambda,
                  const double mu)
  {
    const double dot = g[0] * h[0] + g[1] * h[1] + g[2] * h[2];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        block[3 * i + j] +=
            (lambda * g[i] * h[j] + mu * g[j] * h[i] + (i == j ? mu * dot : 0.)) / 6.;
  }

  std::array<std::array<Block, 8>, 8> blocks = {};
};

/// Returns the offsets between nodes that an edge of a tetrahedron connects, and the offset 0. No
/// coordinate decreases along such an offset, or no coordinate increases.
std::vector<GridOffset> edge_offsets()
{
  std::vector<GridOffset> offsets;
  for (int corner = 0; corner < 8; ++corner) {
    const GridOffset step = {corner & 1, corner >> 1 & 1, corner >> 2};
    offsets.push_back(step);
    if (corner != 0)
      offsets.push_back({-step.dx, -step.dy, -step.dz});
  }
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

/// Returns the grid of the free nodes: x = 1…N, y = 0…N, z = 0…N.
Grid nodes(const int N)
{
  return {N, N + 1, N + 1};
}

/// Calls @p action(a) for every cube that contains node (x, y, z) of nodes(N), where the node is
/// corner a of the cube. Cubes are visited in their grid order, so that sums over the cubes at an
/// edge are bitwise equal for both ends of the edge.
template <class Action>
void for_cubes(const int N, const int x, const int y, const int z, const Action &action)
{
  for (int a = 7; a >= 0; --a) {
    const int cube_x = x + 1 - (a & 1), cube_y = y - (a >> 1 & 1), cube_z = z - (a >> 2);
    if (Grid{N, N, N}.contains(cube_x, cube_y, cube_z))
      action(a);
  }
}

/// Returns the corner at @p offset from corner @p a of the same cube; -1 if there is none.
int corner_at(const int a, const GridOffset &offset)
{
  const int x = (a & 1) + offset.dx, y = (a >> 1 & 1) + offset.dy, z = (a >> 2) + offset.dz;
  return Grid{2, 2, 2}.contains(x, y, z) ? x + 2 * y + 4 * z : -1;
}
} // namespace

HostMatrix elasticity_matrix(const int N, const double E, const double nu, const RowShare &share)
{
  const CubeStiffness stiffness(E, nu);
  const std::vector<GridOffset> offsets = edge_offsets();
  const double h = 1. / N; // two gradients, of order h⁻¹, times the volume, h³
  return grid_matrix<3>(
      nodes(N), offsets,
      [&](const int x, const int y, const int z, const std::size_t k, double *const values) {
        std::fill(values, values + 9, 0.);
        for_cubes(N, x, y, z, [&](const int a) {
          const int b = corner_at(a, offsets[k]);
          for (int i = 0; b >= 0 && i < 9; ++i)
            values[i] += h * stiffness(a, b)[i];
        });
      },
      share);
}

std::vector<double> elasticity_load(const int N, const RowShare &share)
{
  std::array<int, 8> tetrahedra_at = {}; // number of tetrahedra at each corner of a cube
  for (const Tetrahedron &T : kuhn_tetrahedra())
    for (const int corner : T.corners)
      ++tetrahedra_at[corner];
  const Grid grid = nodes(N);
  const int first = share.first(grid.n_points()), end = share.end(grid.n_points());
  std::vector<double> b(3 * static_cast<std::size_t>(end - first));
  const double quarter = 1. / (24. * N * N * N); // a quarter of the volume of a tetrahedron
  grid.for_points(first, end, [&](const int x, const int y, const int z) {
    for_cubes(N, x, y, z, [&](const int a) {
      b[3 * static_cast<std::size_t>(grid.index(x, y, z) - first) + 2] -=
          tetrahedra_at[a] * quarter;
    });
  });
  return b;
}
} // namespace femgpu::linalg
