#include "benchmarks/stencil_matrix.h"

#include <algorithm>
#include <cstdlib>

namespace femgpu::linalg::benchmark
{
StencilMatrix::StencilMatrix(const Stencil stencil, const int nx, const int ny, const int nz)
    : stencil(stencil), nx(nx), ny(ny), nz(nz)
{
  const ExecutorPtr host = make_executor("host");
  row_starts = Buffer<int>(host, static_cast<std::size_t>(n()) + 1);
  int *const starts = row_starts.data();
  starts[0] = 0;
  const int lines = ny * nz;
#pragma omp parallel for schedule(static)
  for (int line = 0; line < lines; ++line)
    for (int x = 0; x < nx; ++x)
      starts[line * nx + x + 1] = row_length(x, line % ny, line / ny);
  for (int i = 0; i < n(); ++i)
    starts[i + 1] += starts[i];

  const auto n_nonzeros = static_cast<std::size_t>(starts[n()]);
  columns = Buffer<int>(host, n_nonzeros);
  values = Buffer<double>(host, n_nonzeros);
  const double diagonal = n_points() - 1;
#pragma omp parallel for schedule(static)
  for (int line = 0; line < lines; ++line)
    for (int x = 0; x < nx; ++x) {
      int entry = starts[line * nx + x];
      for_entries(x, line % ny, line / ny, [&](const int column, const bool is_diagonal) {
        columns.data()[entry] = column;
        values.data()[entry++] = is_diagonal ? diagonal : -1.;
      });
    }
}

HostCsr StencilMatrix::csr() const
{
  return {n(), columns.size(), row_starts.data(), columns.data(), values.data()};
}

int StencilMatrix::n_points() const
{
  if (nz == 1)
    return stencil == Stencil::cross ? 5 : 9;
  return stencil == Stencil::cross ? 7 : 27;
}

std::string StencilMatrix::name() const
{
  return (nz == 1 ? "2D " : "3D ") + std::to_string(n_points()) + "-point";
}

template <class Function>
void StencilMatrix::for_entries(const int x, const int y, const int z, Function &&f) const
{
  for (int k = std::max(z - 1, 0); k <= std::min(z + 1, nz - 1); ++k)
    for (int j = std::max(y - 1, 0); j <= std::min(y + 1, ny - 1); ++j)
      for (int i = std::max(x - 1, 0); i <= std::min(x + 1, nx - 1); ++i) {
        const int distance = std::abs(i - x) + std::abs(j - y) + std::abs(k - z);
        if (stencil == Stencil::box || distance <= 1)
          f((k * ny + j) * nx + i, distance == 0);
      }
}

int StencilMatrix::row_length(const int x, const int y, const int z) const
{
  int length = 0;
  for_entries(x, y, z, [&](int /* column */, bool /* is_diagonal */) { ++length; });
  return length;
}
} // namespace femgpu::linalg::benchmark
