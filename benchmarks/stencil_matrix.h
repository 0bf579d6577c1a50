#ifndef femgpu_benchmarks_stencil_matrix_h
#define femgpu_benchmarks_stencil_matrix_h

#include "linalg/base/buffer.h"
#include "linalg/matrices/csr_matrix.h"

#include <string>

namespace femgpu::linalg::benchmark
{
/// Which neighbours of a grid point its row has.
enum class Stencil
{
  cross, ///< 5 points in a plane, 7 in space
  box    ///< 9 points in a plane, 27 in space
};

/**
 * The Laplacian on a grid of nx x ny x nz inner points (nz = 1: a plane) with Dirichlet values all
 * around: -1 for each neighbour, the full number of neighbours on the diagonal. Filled in parallel;
 * the memory is the host's.
 */
class StencilMatrix
{
public:
  StencilMatrix(Stencil stencil, int nx, int ny, int nz);

  HostCsr csr() const;
  int n() const
  {
    return nx * ny * nz;
  }
  /// "2D 5-point"
  std::string name() const;

private:
  // Calls f(column, is_diagonal) for the entries of row (x, y, z), columns ascending.
  template <class Function>
  void for_entries(int x, int y, int z, Function &&f) const;
  int row_length(int x, int y, int z) const;
  int n_points() const;

  Stencil stencil;
  int nx, ny, nz;
  Buffer<int> row_starts, columns;
  Buffer<double> values;
};
} // namespace femgpu::linalg::benchmark

#endif
