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
  /// Takes three passes over A, and memory for two numbers a row.
  /// @param A all rows of a symmetric matrix, not scaled
  WeakParts(const HostCsr &A, const double *b, const double *x);

  /// The energy norm of what x lacks of the motions; 0 if nothing is known of it.
  double energy_error() const
  {
    return energy_norm;
  }
  /// x += Z (Zᵀ A Z)⁻¹ c
  void correct(double *x) const;

private:
  static constexpr int most_coarse = 192;

  template <int block>
  void find_parts();
  void find_centres();
  template <int block>
  void find_motions(const double *b, const double *x);
  /// Row i of the columns of Z that belong to its part; n_motions numbers.
  template <int block>
  void motions_of(int i, double *z) const;

  HostCsr A;
  int block;                          ///< unknowns of a node
  int n_motions;                      ///< of a part
  int n_parts = 0;                    ///< 0: they have more than most_coarse motions
  std::vector<int> part;              ///< of each node; -1: none
  std::vector<unsigned char> is_free; ///< has an unknown neighbours? Constrained ones have none.
  std::vector<double> centres;        ///< of the parts
  std::vector<double> missing;        ///< (Zᵀ A Z)⁻¹ c
  double energy_norm = 0.;
};
} // namespace femgpu::linalg

#endif
