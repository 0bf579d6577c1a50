#include "linalg/generators/grid_matrix.h"

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
                 const std::size_t most)
{
  if (count > static_cast<double>(most)) {
    const std::string number = std::to_string(count);
    throw ParameterError("A grid of " + std::to_string(grid.nx) + " x " + std::to_string(grid.ny) +
                         " x " + std::to_string(grid.nz) + " points gives a matrix with " +
                         number.substr(0, number.find('.')) + " " + what + ", but no more than " +
                         std::to_string(most) + " are possible; choose a smaller one.");
  }
}
} // namespace

bool operator<(const GridOffset &a, const GridOffset &b)
{
  return std::tie(a.dz, a.dy, a.dx) < std::tie(b.dz, b.dy, b.dx);
}

std::size_t count_entries(const Grid &grid, const std::vector<GridOffset> &offsets,
                          const int components)
{
  const auto [nx, ny, nz] = grid;
  // Each size is an int: their product may be beyond 64 bits, but not beyond a double.
  check_count(grid, double(nx) * ny * nz * components, "rows", most_indices);
  const auto reach = [](const int size, const int step) {
    return std::int64_t(std::max(size - std::abs(step), 0));
  };
  std::int64_t count = 0;
  for (const auto &[dx, dy, dz] : offsets)
    count += reach(nx, dx) * reach(ny, dy) * reach(nz, dz) * components * components;
  check_count(grid, static_cast<double>(count), "entries", RowStarts::most_entries);
  return static_cast<std::size_t>(count);
}

Unknowns unknowns_of(const Grid &grid, const int components)
{
  Unknowns unknowns;
  unknowns.per_node = components > 1 ? components : 0;
  unknowns.dimension = grid.nz > 1 ? 3 : 2;
  unknowns.coordinates.reserve(static_cast<std::size_t>(grid.nx) * grid.ny * grid.nz * components *
                               unknowns.dimension);
  for (int z = 0; z < grid.nz; ++z)
    for (int y = 0; y < grid.ny; ++y)
      for (int x = 0; x < grid.nx; ++x)
        for (int c = 0; c < components; ++c) {
          unknowns.coordinates.push_back(x);
          unknowns.coordinates.push_back(y);
          if (unknowns.dimension == 3)
            unknowns.coordinates.push_back(z);
        }
  return unknowns;
}
} // namespace femgpu::linalg
