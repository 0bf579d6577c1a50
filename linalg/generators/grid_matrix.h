#ifndef femgpu_linalg_generators_grid_matrix_h
#define femgpu_linalg_generators_grid_matrix_h

#include "linalg/base/host_matrix.h"

#include <cstddef>
#include <vector>

namespace femgpu::linalg
{
/// The points of nx x ny x nz, counted with x fastest; a plane has nz = 1, a line ny = 1 too.
struct Grid
{
  int nx = 1, ny = 1, nz = 1;

  int index(const int x, const int y, const int z) const
  {
    return (z * ny + y) * nx + x;
  }
  bool contains(const int x, const int y, const int z) const
  {
    return x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz;
  }
};

/// From a point of a grid to one that it is coupled with.
struct GridOffset
{
  int dx = 0, dy = 0, dz = 0;
};

/// Whether @p a comes before @p b in the order of the points of a grid.
bool operator<(const GridOffset &a, const GridOffset &b);

/**
 * The number of entries of a matrix that couples @p components unknowns a point with those of all
 * neighbours at @p offsets that are on the grid.
 * @throws ParameterError that names the numbers if rows are more than most_indices, or entries more
 * than RowStarts::most_entries
 */
std::size_t count_entries(const Grid &grid, const std::vector<GridOffset> &offsets, int components);

/// At the points of the grid, spacing 1, each with @p components unknowns.
Unknowns unknowns_of(const Grid &grid, int components);

/**
 * That matrix; unknowns are interleaved by point. @p block(x, y, z, k, values) writes the coupling
 * of a point with that at offsets[k] as @p components x @p components values, row by row. It is
 * called in parallel, for points of the grid only.
 * @param offsets ascending
 */
template <int components, class Block>
HostMatrix grid_matrix(const Grid &grid, const std::vector<GridOffset> &offsets, const Block &block)
{
  HostMatrix A;
  const std::size_t n_nonzeros = count_entries(grid, offsets, components);
  A.n = grid.nx * grid.ny * grid.nz * components;
  A.row_starts.resize(static_cast<std::size_t>(A.n) + 1);
  const auto for_points = [&](const auto &action) {
    const int lines = grid.ny * grid.nz;
#pragma omp parallel for schedule(static)
    for (int line = 0; line < lines; ++line)
      for (int x = 0; x < grid.nx; ++x)
        action(x, line % grid.ny, line / grid.ny);
  };
  for_points([&](const int x, const int y, const int z) {
    int length = 0;
    for (const auto &[dx, dy, dz] : offsets)
      length += grid.contains(x + dx, y + dy, z + dz) ? components : 0;
    for (int c = 0; c < components; ++c)
      A.row_starts[grid.index(x, y, z) * components + c + 1] = length;
  });
  std::size_t start = 0;
  for (int i = 0; i < A.n; ++i)
    A.row_starts[i + 1] = low_bits(start += static_cast<std::size_t>(A.row_starts[i + 1]));
  const RowStarts row_starts(A.row_starts.data(), A.n, n_nonzeros);

  A.columns.resize(n_nonzeros);
  A.values.resize(n_nonzeros);
  for_points([&](const int x, const int y, const int z) {
    const int row = grid.index(x, y, z) * components;
    double values[components * components];
    std::size_t entry = 0; // within the rows of this point
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      const auto &[dx, dy, dz] = offsets[k];
      if (!grid.contains(x + dx, y + dy, z + dz))
        continue;
      const int column = grid.index(x + dx, y + dy, z + dz) * components;
      block(x, y, z, k, values);
      for (int c = 0; c < components; ++c)
        for (int d = 0; d < components; ++d) {
          const std::size_t position = row_starts[row + c] + entry + d;
          A.columns[position] = column + d;
          A.values[position] = values[c * components + d];
        }
      entry += components;
    }
  });
  A.unknowns = std::make_shared<const Unknowns>(unknowns_of(grid, components));
  return A;
}
} // namespace femgpu::linalg

#endif
