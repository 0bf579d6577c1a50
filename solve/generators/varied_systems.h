#ifndef femgpu_solve_generators_varied_systems_h
#define femgpu_solve_generators_varied_systems_h

#include "linalg/base/host_matrix.h"

#include <vector>

namespace femgpu::linalg
{
/// Copies of a system with different values and right-hand sides, for measuring batches.
struct VariedSystems
{
  std::vector<std::vector<double>> values; ///< values of each matrix except the first
  std::vector<HostCsr> matrices;           ///< views of all matrices; they share one pattern
  std::vector<double> b;                   ///< all right-hand sides, concatenated

  /**
   * Makes @p count systems, the first of which is @p A x = @p b itself. System k has the matrix
   * (1 + k/count) A and the right-hand side b_i (1 + ξ_i/2), where ξ_i are random numbers in
   * [-1, 1) that are the same on every machine.
   * @param A the matrix; its arrays must outlive this object
   */
  VariedSystems(const HostCsr &A, const std::vector<double> &b, int count);
};
} // namespace femgpu::linalg

#endif
