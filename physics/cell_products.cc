#include "physics/cell_products.h"

// One version of a function for each kind of CPU, of which the loader takes what there is.
#if defined(__x86_64__) && defined(__linux__)
#define FEMGPU_FOR_EACH_CPU                                                                        \
  __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define FEMGPU_FOR_EACH_CPU
#endif

namespace femgpu
{
FEMGPU_FOR_EACH_CPU
void add_combination(const int n, const int n_terms, const double *const factors,
                     const double *const x, const std::ptrdiff_t stride, double *const row)
{
  for (int k = 0; k < n_terms; ++k)
    for (int j = 0; j < n; ++j)
      row[j] += factors[k] * x[k * stride + j];
}

FEMGPU_FOR_EACH_CPU
void add_outer_product(const int n, const double *const left, const double *const right,
                       double *const block)
{
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      block[static_cast<std::ptrdiff_t>(i) * n + j] += left[i] * right[j];
}
} // namespace femgpu
