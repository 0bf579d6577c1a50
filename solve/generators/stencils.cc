#include "solve/generators/stencils.h"

#include <algorithm>
#include <cmath>

namespace femgpu::linalg
{
HostMatrix stencil_matrix(const Grid &grid, Stencil stencil, const RowShare &share)
{
  std::sort(stencil.begin(), stencil.end(),
            [](const StencilEntry &a, const StencilEntry &b) { return a.offset < b.offset; });
  std::vector<GridOffset> offsets;
  for (const StencilEntry &entry : stencil)
    offsets.push_back(entry.offset);
  return grid_matrix<1>(
      grid, offsets,
      [&](int /* x */, int /* y */, int /* z */, const std::size_t k, double *const value) {
        *value = stencil[k].value;
      },
      share);
}

Stencil cross_stencil(const std::vector<double> &a)
{
  Stencil stencil(1);
  for (std::size_t d = 0; d < a.size(); ++d) {
    const GridOffset step = {d == 0, d == 1, d == 2};
    stencil[0].value += 2. * a[d];
    stencil.push_back({step, -a[d]});
    stencil.push_back({{-step.dx, -step.dy, -step.dz}, -a[d]});
  }
  return stencil;
}

Stencil box_stencil(const int dimension)
{
  const int reach_z = dimension == 3 ? 1 : 0;
  Stencil stencil;
  for (int dz = -reach_z; dz <= reach_z; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        stencil.push_back({{dx, dy, dz}, -1.});
  stencil[stencil.size() / 2].value = static_cast<double>(stencil.size() - 1);
  return stencil;
}

Stencil triangle_stencil()
{
  Stencil stencil = cross_stencil({1., 1.});
  stencil.push_back({{1, 1, 0}, 0.});
  stencil.push_back({{-1, -1, 0}, 0.});
  return stencil;
}

Stencil band_stencil(const int width)
{
  Stencil stencil(1);
  for (int d = 1; d <= width; ++d) {
    const double value = 1. / (static_cast<double>(d) * d);
    stencil[0].value += 2. * 1.01 * value;
    stencil.push_back({{d, 0, 0}, -value});
    stencil.push_back({{-d, 0, 0}, -value});
  }
  return stencil;
}

Stencil upwind_stencil(const std::vector<double> &w)
{
  double speed = 0.;
  Stencil stencil(1);
  for (std::size_t d = 0; d < w.size(); ++d) {
    const GridOffset step = {d == 0, d == 1, d == 2};
    speed += std::abs(w[d]);
    stencil.push_back({{-step.dx, -step.dy, -step.dz}, -1. - std::max(w[d], 0.)});
    stencil.push_back({step, -1. - std::max(-w[d], 0.)});
  }
  stencil[0].value = 2. * static_cast<double>(w.size()) + speed;
  return stencil;
}
} // namespace femgpu::linalg
