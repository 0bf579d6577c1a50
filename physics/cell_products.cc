#include "physics/cell_products.h"

#include <cstddef>

namespace femgpu
{
void add_multiple(const int n, const double factor, const double *const x, double *const row)
{
  for (int j = 0; j < n; ++j)
    row[j] += factor * x[j];
}

void add_outer_product(const int n, const double *const left, const double *const right,
                       double *const block)
{
  for (int i = 0; i < n; ++i)
    add_multiple(n, left[i], right, block + static_cast<std::ptrdiff_t>(i) * n);
}
} // namespace femgpu
