#include "linalg/execution/this_backend.h"

namespace femgpu::linalg
{
void Runner<ThisBackend>::gather(const double *const v, const int *const rows, const int n,
                                 double *const to, const int width)
{
  run(linalg::rows(n * width, [v, rows, to, width] FEMGPU_BODY(const int k) {
    const int row = k / width;
    to[k] = v[static_cast<std::size_t>(rows[row]) * width + (k - row * width)];
  }));
}

void Runner<ThisBackend>::add_to_rows(const double *const from, const int *const rows, const int n,
                                      double *const v, const int width)
{
  run(linalg::rows(n * width, [from, rows, v, width] FEMGPU_BODY(const int k) {
    const int row = k / width;
    v[static_cast<std::size_t>(rows[row]) * width + (k - row * width)] += from[k];
  }));
}

void Runner<ThisBackend>::copy_strided(const double *const from, const int from_stride, const int n,
                                       double *const to, const int to_stride)
{
  run(linalg::rows(n, [from, from_stride, to, to_stride] FEMGPU_BODY(const int i) {
    to[static_cast<std::size_t>(i) * to_stride] = from[static_cast<std::size_t>(i) * from_stride];
  }));
}
} // namespace femgpu::linalg
