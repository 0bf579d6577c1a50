#include "linalg/execution/this_backend.h"

namespace femgpu::linalg
{
void Runner<ThisBackend>::gather(const double *const v, const int *const rows, const int n,
                                 double *const to)
{
  run(linalg::rows(n, [v, rows, to] FEMGPU_BODY(const int k) { to[k] = v[rows[k]]; }));
}

void Runner<ThisBackend>::add_to_rows(const double *const from, const int *const rows, const int n,
                                      double *const v)
{
  run(linalg::rows(n, [from, rows, v] FEMGPU_BODY(const int k) { v[rows[k]] += from[k]; }));
}
} // namespace femgpu::linalg
