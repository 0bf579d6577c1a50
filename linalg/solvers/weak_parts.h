#ifndef femgpu_linalg_solvers_weak_parts_h
#define femgpu_linalg_solvers_weak_parts_h

#include "linalg/base/host_matrix.h"

#include <vector>

namespace femgpu::linalg
{
/**
 * Parts of the unknowns of a symmetric matrix A whose couplings with other parts are weaker than
 * their own by a factor of 10⁴: a stiff body between soft ones, or all unknowns. The motions of a
 * part are its constants, or the rigid-body motions where A is that of elasticity and coordinates
 * are known.
 *
 * If a part is weakly held, by soft bodies or by a small coefficient of exchange, the residual of a
 * wrong motion is as small as what holds it. A Krylov method then reaches the tolerance of its
 * residual before it finds the motion, and so do estimates of the error that are made from its
 * steps. With the motions as the columns of Z
 *
 *     ‖x* − x‖_A >= (cᵀ (Zᵀ A Z)⁻¹ c)^(1/2),   c = Zᵀ r,
 *
 * with equality if the error is such a motion. Of c only motions count that are weakly held,
 * zᵀ A z <= 10⁻³ zᵀ D z with the diagonal D of A, and nothing that rounding explains. More than 192
 * motions are not looked at.
 */
class WeakParts
{
public:
  /// Takes memory for two numbers a row, and a pass over A.
  /// @param A all rows of a symmetric matrix, not scaled
  explicit WeakParts(const HostCsr &A);

  /// The part of an error that the motions have.
  struct Error
  {
    double energy_norm = 0.;
    std::vector<double> motions; ///< y: x + Z y is without it; empty: there is none
  };
  /// Takes a pass over A.
  Error error_of(const double *b, const double *x) const;
  /// x += Z y
  void remove(const Error &error, double *x) const;

private:
  static constexpr int most_coarse = 192, most_motions = 6;

  void find_parts();
  void find_centres();
  void find_coarse_matrix();
  std::size_t n_coarse() const
  {
    return static_cast<std::size_t>(n_parts) * static_cast<std::size_t>(n_motions);
  }
  template <class Add>
  std::vector<double> sum_over_rows(std::size_t n_sums, const Add &add) const;
  /// Row i of the columns of Z that belong to its part; n_motions numbers.
  void motions_of(int i, double *z) const;

  HostCsr A;
  int block;             ///< unknowns of a node
  int n_motions;         ///< of a part
  int n_parts = 0;       ///< 0: they have more than most_coarse motions
  std::vector<int> part; ///< of each node; -1: none
  std::vector<unsigned char>
      is_free;                 ///< of each unknown: has it neighbours? Constrained ones have none.
  std::vector<double> centres; ///< of the parts
  std::vector<double> K;       ///< Zᵀ A Z, row by row
  std::vector<bool> is_weakly_held; ///< of each motion
};
} // namespace femgpu::linalg

#endif
