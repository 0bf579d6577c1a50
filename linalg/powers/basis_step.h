#ifndef femgpu_linalg_powers_basis_step_h
#define femgpu_linalg_powers_basis_step_h

#include "linalg/powers/matrix_powers.h"

namespace femgpu::linalg
{
/// Returns entry i of v_{k+1} from (A M⁻¹ v_k)_i and entries i of v_k and v_{k-1}; @p before_i, the
/// entry of v_{k-1}, is only used if step.square is not 0.
FEMGPU_HD
double next_basis_entry(const BasisStep &step, const double Av_i, const double v_i,
                        const double before_i)
{
  const double difference = Av_i - step.shift * v_i;
  const double sum = step.square != 0. ? difference + step.square * before_i : difference;
  return step.scale * sum;
}
} // namespace femgpu::linalg

#endif
