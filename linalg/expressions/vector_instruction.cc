#include "linalg/expressions/vector_instruction.h"

namespace femgpu::linalg
{
VectorInstruction vector_instruction()
{
#ifdef FEMGPU_HAVE_VECTOR_FUNCTIONS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return run_on_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return run_on_avx2;
#endif
  return nullptr;
}
} // namespace femgpu::linalg
