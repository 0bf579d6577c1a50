#ifndef femgpu_solve_generators_grid_matrix_h
#define femgpu_solve_generators_grid_matrix_h

#include "linalg/base/host_matrix.h"
#include "linalg/base/parallel.h"
#include "linalg/base/row_share.h"

#include <cstddef>
#include <vector>

namespace femgpu::linalg
{
/// The points of an nx x ny x nz grid, numbered with x fastest. A plane has nz = 1; a line has
/// ny = nz = 1.
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
  int n_points() const
  {
    return nx * ny * nz;
  }

  /// Calls action(x, y, z) in parallel for the points whose numbers are in [@p first, @p end).
  template <class Action>
  void for_points(const int first, const int end, const Action &action) const
  {
    if (end <= first)
      return; // there may be no points at all
    const int first_line = first / nx, last_line = (end - 1) / nx;
    parallel_for(last_line - first_line + 1, [&](const int k) {
      const int line = first_line + k, begin = line * nx;
      for (int x = first > begin ? first - begin : 0; x < nx && x < end - begin; ++x)
        action(x, line % ny, line / ny);
    });
  }
};

/// The offset from a point of a grid to a neighbour with which it is coupled.
struct GridOffset
{
  int dx = 0, dy = 0, dz = 0;
};

/// Returns whether @p a comes before @p b in the order of the points of a grid.
bool operator<(const GridOffset &a, const GridOffset &b);

/// Checks the number of rows of a grid's matrix.
/// @throws ParameterError with the numbers if there are more than max_indices rows
void check_grid(const Grid &grid, int components);

/**
 * Returns the number of entries of a matrix that couples @p components unknowns per point with the
 * unknowns of all neighbours at @p offsets within the grid.
 * @throws ParameterError with the numbers if there are more than max_indices rows or more than
 * RowStarts::max_entries entries
 */
std::size_t count_entries(const Grid &grid, const std::vector<GridOffset> &offsets, int components);

/// Checks the number of entries of a grid's matrix, or of a share of its rows.
/// @throws ParameterError with the numbers if there are more than RowStarts::max_entries entries
void check_entries(const Grid &grid, double count, const RowShare &share = {});

/// Describes the unknowns at the points in @p share, including their coordinates. The grid has
/// spacing 1 and @p components unknowns per point.
Unknowns unknowns_of(const Grid &grid, int components, const RowShare &share = {});

/**
 * Makes a matrix that couples @p components unknowns per point with the unknowns of all neighbours
 * at @p offsets within the grid. Unknowns are interleaved by point.
 * @param offsets offsets to the neighbours, in ascending order
 * @param block function block(x, y, z, k, values) that writes the coupling of a point with the
 *        point at offsets[k] as @p components x @p components values, row by row; it is called in
 *        parallel, and only if the neighbour lies in the grid
 * @param share the share of the points whose rows are made; column numbers remain global
 */
template <int components, class Block>
HostMatrix grid_matrix(const Grid &grid, const std::vector<GridOffset> &offsets, const Block &block,
                       const RowShare &share = {})
{
  HostMatrix A;
  check_grid(grid, components);
  if (share.is_all())
    count_entries(grid, offsets, components); // rejects too many entries before allocating memory
  const int first = share.first(grid.n_points()), end = share.end(grid.n_points());
  A.n = (end - first) * components;
  A.row_starts.resize(static_cast<std::size_t>(A.n) + 1);
  grid.for_points(first, end, [&](const int x, const int y, const int z) {
    int length = 0;
    for (const auto &[dx, dy, dz] : offsets)
      length += grid.contains(x + dx, y + dy, z + dz) ? components : 0;
    for (int c = 0; c < components; ++c)
      A.row_starts[(grid.index(x, y, z) - first) * components + c + 1] = length;
  });
  std::size_t n_nonzeros = 0;
  for (int i = 0; i < A.n; ++i)
    A.row_starts[i + 1] = low_bits(n_nonzeros += static_cast<std::size_t>(A.row_starts[i + 1]));
  check_entries(grid, static_cast<double>(n_nonzeros), share);
  const RowStarts row_starts(A.row_starts.data(), A.n, n_nonzeros);

  A.columns.resize(n_nonzeros);
  A.values.resize(n_nonzeros);
  grid.for_points(first, end, [&](const int x, const int y, const int z) {
    const int row = (grid.index(x, y, z) - first) * components;
    double values[components * components];
    std::size_t entry = 0; // index within the rows of this point
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
  A.unknowns = std::make_shared<const Unknowns>(unknowns_of(grid, components, share));
  return A;
}
} // namespace femgpu::linalg

#endif
