#ifndef femgpu_solve_generators_varied_systems_h
#define femgpu_solve_generators_varied_systems_h

#include "linalg/base/host_matrix.h"

#include <vector>

namespace femgpu::linalg
{
/// Copies of a system whose values and right-hand sides differ: what batches are measured with.
struct VariedSystems
{
  std::vector<std::vector<double>> values; ///< of each matrix but the first
  std::vector<HostCsr> matrices;           ///< with the pattern of the given one
  std::vector<double> b;                   ///< one behind the other

  /**
   * @p count systems, the first of them @p A x = @p b itself. System k has (1 + k/count) A and
   * b_i (1 + ξ_i/2), ξ_i random in [-1, 1): the same on every machine.
   * @param A must stay where it is
   */
  VariedSystems(const HostCsr &A, const std::vector<double> &b, int count);
};
} // namespace femgpu::linalg

#endif
