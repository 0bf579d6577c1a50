#include "solve/generators/grid_matrix.h"

#include "linalg/base/error.h"
#include "linalg/base/indices.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <tuple>

namespace femgpu::linalg
{
namespace
{
void check_count(const Grid &grid, const double count, const char *const what,
                 const std::size_t limit, const RowShare &share = {})
{
  if (count > static_cast<double>(limit)) {
    const std::string number = std::to_string(count);
    throw ParameterError("A grid of " + std::to_string(grid.nx) + " x " + std::to_string(grid.ny) +
                         " x " + std::to_string(grid.nz) + " points gives " + "a matrix with " +
                         number.substr(0, number.find('.')) + " " + what +
                         (share.is_all() ? "" : " on one rank") + ", more than the limit of " +
                         std::to_string(limit) + ". Use a smaller grid" +
                         (share.is_all() ? "." : ", or more ranks."));
  }
}
} // namespace

bool operator<(const GridOffset &a, const GridOffset &b)
{
  return std::tie(a.dz, a.dy, a.dx) < std::tie(b.dz, b.dy, b.dx);
}

void check_grid(const Grid &grid, const int components)
{
  // The sizes are ints. The product of four ints may exceed 64 bits, but not the range of a double.
  check_count(grid, double(grid.nx) * grid.ny * grid.nz * components, "rows", max_indices);
}

void check_entries(const Grid &grid, const double count, const RowShare &share)
{
  check_count(grid, count, "entries", RowStarts::max_entries, share);
}

std::size_t count_entries(const Grid &grid, const std::vector<GridOffset> &offsets,
                          const int components)
{
  check_grid(grid, components);
  const auto [nx, ny, nz] = grid;
  const auto reach = [](const int size, const int step) {
    return std::int64_t(std::max(size - std::abs(step), 0));
  };
  std::int64_t count = 0;
  for (const auto &[dx, dy, dz] : offsets)
    count += reach(nx, dx) * reach(ny, dy) * reach(nz, dz) * components * components;
  check_entries(grid, static_cast<double>(count));
  return static_cast<std::size_t>(count);
}

Unknowns unknowns_of(const Grid &grid, const int components, const RowShare &share)
{
  Unknowns unknowns;
  unknowns.per_node = components > 1 ? components : 0;
  unknowns.dimension = grid.nz > 1 ? 3 : 2;
  unknowns.nodes_along_body = std::max({grid.nx, grid.ny, grid.nz});
  const int first = share.first(grid.n_points()), end = share.end(grid.n_points());
  const std::size_t width =
      static_cast<std::size_t>(components) * static_cast<std::size_t>(unknowns.dimension);
  unknowns.coordinates.resize(static_cast<std::size_t>(end - first) * width);
  grid.for_points(first, end, [&](const int x, const int y, const int z) {
    double *to =
        &unknowns.coordinates[static_cast<std::size_t>(grid.index(x, y, z) - first) * width];
    for (int c = 0; c < components; ++c, to += unknowns.dimension) {
      to[0] = x;
      to[1] = y;
      if (unknowns.dimension == 3)
        to[2] = z;
    }
  });
  return unknowns;
}
} // namespace femgpu::linalg
