#ifndef femgpu_linalg_solvers_component_deflation_h
#define femgpu_linalg_solvers_component_deflation_h

#include "linalg/base/host_matrix.h"

#include <vector>

namespace femgpu::linalg
{
/**
 * Estimates and corrects the error of an approximate solution x of A x = b, with a symmetric A, as
 * far as this error consists of motions of weakly coupled parts of the body.
 *
 * Two nodes belong to the same part if they are connected by entries of A that are larger than 10⁻⁴
 * of the largest off-diagonal entry in the rows of the two nodes. A stiff body between soft ones is
 * a part; if all off-diagonal entries are of similar size, all unknowns form one part. The motions
 * of a part are constants, or rigid-body motions if nodes have 2 or 3 unknowns and their
 * coordinates are known.
 *
 * A motion z is weakly held if zᵀ A z <= 10⁻³ zᵀ D z, where D is the diagonal of A. An error along
 * z then has a small residual: a Krylov method reaches its tolerance before it finds this error,
 * and estimates of the error from its iterations miss this error. With the motions of all parts as
 * the columns of Z, r = b − A x and the solution x*,
 *
 *     ‖x* − x‖_A >= (cᵀ (Zᵀ A Z)⁻¹ c)^(1/2),   c = Zᵀ r,
 *
 * with equality if the error is a combination of motions. An entry of c is set to zero if its
 * motion is not weakly held, or if rounding errors of r explain the entry.
 *
 * The correction Z (Zᵀ A Z)⁻¹ c of x is also used in subdomain deflation (Nicolaides, SIAM J.
 * Numer. Anal. 24, 1987), for example by Vuik, Segal and Meijerink (J. Comput. Phys. 152, 1999) for
 * layers of extreme contrasts.
 */
class ComponentDeflation
{
public:
  /// Makes three passes over A, and needs about 24 bytes per row.
  /// @param A all rows of a symmetric matrix that is not scaled, n x n
  /// @param b the right-hand side, n numbers
  /// @param x an approximate solution, n numbers
  ComponentDeflation(const HostCsr &A, const double *b, const double *x);

  /// Returns the estimated error of x in the energy norm, (cᵀ (Zᵀ A Z)⁻¹ c)^(1/2); 0 if there are
  /// more than 192 motions, or if nodes have more than three unknowns.
  double energy_error() const
  {
    return energy_norm;
  }
  /// Adds Z (Zᵀ A Z)⁻¹ c to the n numbers of @p x.
  void correct(double *x) const;

private:
  /// Sums over rows: Zᵀ A Z, zᵀ D z, Zᵀ r, and the rounding errors of Zᵀ r.
  struct Sums;

  template <int block>
  void find_components();
  void find_centres();
  template <int block>
  void find_motions(const double *b, const double *x);
  template <int block>
  void add_row(int i, const double *b, const double *x, Sums &sums) const;
  /// Computes row @p i of the n_motions columns of Z that belong to the part of this row.
  template <int block>
  void motions_of(int i, double *z) const;

  HostCsr A;
  int block;                          ///< number of unknowns per node
  int n_motions;                      ///< number of motions per part
  int n_components = 0;               ///< number of parts; 0 if there are too many
  std::vector<int> component_id;      ///< part of each node; -1: none
  std::vector<unsigned char> is_free; ///< for each unknown: 0 if its row has only a diagonal entry
  std::vector<double> centres;        ///< coordinates of the centres of the parts
  std::vector<double> coefficients;   ///< (Zᵀ A Z)⁻¹ c
  double energy_norm = 0.;
};
} // namespace femgpu::linalg

#endif
