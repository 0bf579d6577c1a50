// Defines run_on_avx2(), for CPUs with AVX2.
#define FEMGPU_VECTOR __m256d
#define FEMGPU_OF_ONE(name) _ZGVdN4v_##name
#define FEMGPU_OF_TWO(name) _ZGVdN4vv_##name
#define FEMGPU_RUN run_on_avx2
#include "expressions/vector_loops.h"
