#ifndef femgpu_linalg_powers_arnoldi_matrix_h
#define femgpu_linalg_powers_arnoldi_matrix_h

#include "linalg/powers/matrix_powers.h"

#include <complex>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
/// A dense matrix, stored by columns.
struct DenseMatrix
{
  int rows;
  std::vector<double> entries;

  DenseMatrix(const int rows, const int columns)
      : rows(rows), entries(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 0.)
  {}
  DenseMatrix(const int rows, std::vector<double> entries) : rows(rows), entries(std::move(entries))
  {}

  double &operator()(const int i, const int j)
  {
    return entries[entry_index(i, j)];
  }
  double operator()(const int i, const int j) const
  {
    return entries[entry_index(i, j)];
  }

private:
  std::size_t entry_index(const int i, const int j) const
  {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(rows) +
           static_cast<std::size_t>(i);
  }
};

/**
 * The Hessenberg matrix of a GMRES cycle that grows by blocks, A M⁻¹ Q_k = Q_{k+1} H, and the
 * least-squares problem min ‖β e_0 − H y‖, solved by Givens rotations. Stored on the host, by
 * columns.
 */
class ArnoldiMatrix
{
public:
  /// @param beta norm of the residual, whose direction is the first vector of the basis
  ArnoldiMatrix(int max_columns, double beta);

  /**
   * Appends the columns of H that follow from a block of p vectors: the @p steps have computed
   * V = (v_1, ..., v_p) from v_0 = q_k, and V = Q C + Q_new R (Yamazaki et al. 2014, §IV.C; Hoemmen
   * 2010, §3.3.3).
   * @param n_used number of the p vectors that are used, at least 1; R must have positive diagonal
   * entries for all of these but the last
   * @param C coefficients of the existing vectors of the basis, (k + 1) x p, where k = columns()
   * before the call
   * @param R coefficients of the new vectors of the basis, p x p and upper triangular
   */
  void append(const std::vector<double> &C, const std::vector<double> &R,
              const std::vector<BasisStep> &steps, int p, int n_used);

  /// Returns the number of columns of H.
  int columns() const
  {
    return n_columns;
  }

  /// Applies Givens rotations to the next column of H. Returns false, and does not count the
  /// column, if it depends on the previous ones, because A M⁻¹ is singular on the Krylov space.
  bool rotate_next();

  /// Returns the number of rotated columns.
  int rotated() const
  {
    return n_rotated;
  }
  /// Returns the residual norm of the least-squares problem with the rotated columns.
  double residual() const;

  /// Returns the solution y of the least-squares problem with the rotated columns.
  std::vector<double> solve() const;

  /// Returns the eigenvalues of the leading square part of H.
  std::vector<std::complex<double>> ritz_values() const;

private:
  int n_columns = 0, n_rotated = 0;
  DenseMatrix H, R; ///< H, and its triangular form after the rotations
  std::vector<double> cosines, sines, rhs;
};
} // namespace femgpu::linalg

#endif
