#include "expressions/vector_instruction.h"

namespace femgpu::linalg
{
VectorInstruction vector_instruction([[maybe_unused]] int n_wider)
{
#ifdef FEMGPU_HAVE_VECTOR_FUNCTIONS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && n_wider-- == 0)
    return run_on_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && n_wider-- == 0)
    return run_on_avx2;
#endif
  return nullptr;
}
} // namespace femgpu::linalg
