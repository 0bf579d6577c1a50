// Defines run_on_avx512(), for CPUs with AVX-512.
#define FEMGPU_VECTOR __m512d
#define FEMGPU_OF_ONE(name) _ZGVeN8v_##name
#define FEMGPU_OF_TWO(name) _ZGVeN8vv_##name
#define FEMGPU_RUN run_on_avx512
#include "expressions/vector_loops.h"
