#ifndef femgpu_solve_generators_varied_systems_h
#define femgpu_solve_generators_varied_systems_h

#include "linalg/base/host_matrix.h"

#include <vector>

namespace femgpu::linalg
{
/// Copies of a system with different values and right-hand sides, for measuring batches.
struct VariedSystems
{
  std::vector<std::vector<double>> values; ///< of each matrix except the first
  std::vector<HostCsr> matrices;           ///< with the pattern of the given one
  std::vector<double> b;                   ///< one after the other

  /**
   * Makes @p count systems, the first of which is @p A x = @p b itself. System k has (1 + k/count)
   * A and b_i (1 + ξ_i/2), with ξ_i random in [-1, 1), the same on every machine.
   * @param A outlives this object
   */
  VariedSystems(const HostCsr &A, const std::vector<double> &b, int count);
};
} // namespace femgpu::linalg

#endif
