#include "linalg/expressions/vector_loops.h"

// For CPUs with AVX-512; see vector_loops.h for what this file may have.

namespace
{
using Vector = __m512d;
constexpr int width = 8;

Vector load(const double *const from)
{
  return _mm512_loadu_pd(from);
}

void store(double *const to, const Vector vector)
{
  _mm512_storeu_pd(to, vector);
}
} // namespace

#define FEMGPU_OF_ONE(name) _ZGVeN8v_##name
#define FEMGPU_OF_TWO(name) _ZGVeN8vv_##name
#define FEMGPU_DECLARE(name) Vector FEMGPU_OF_ONE(name)(Vector);

extern "C" {
FEMGPU_FUNCTIONS_OF_ONE(FEMGPU_DECLARE)
Vector FEMGPU_OF_TWO(pow)(Vector, Vector);
Vector FEMGPU_OF_TWO(atan2)(Vector, Vector);
}

bool femgpu::linalg::run_on_avx512(const ExpressionOperation operation, const double *const a,
                                   const double *const b, const double *const c,
                                   double *const result, const int n)
{
  switch (operation) {
    FEMGPU_ALL_CASES
  default:
    return false;
  }
}
