#ifndef femgpu_linalg_powers_arnoldi_matrix_h
#define femgpu_linalg_powers_arnoldi_matrix_h

#include "linalg/powers/matrix_powers.h"

#include <complex>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
/// A matrix by columns.
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
    return entries[place(i, j)];
  }
  double operator()(const int i, const int j) const
  {
    return entries[place(i, j)];
  }

private:
  std::size_t place(const int i, const int j) const
  {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(rows) +
           static_cast<std::size_t>(i);
  }
};

/**
 * The Hessenberg matrix of a cycle of GMRES that grows by blocks, A M⁻¹ Q_k = Q_{k+1} H, and the
 * least-squares problem min ‖β e_0 − H y‖ by Givens rotations. On the host; all by columns.
 */
class ArnoldiMatrix
{
public:
  /// @param beta norm of the residual, which is the first vector of the basis
  ArnoldiMatrix(int most_columns, double beta);

  /**
   * Appends the columns that a block of p vectors gives: from v_0 = q_k the @p steps have made v_1,
   * ..., v_p, and these are Q C + Q_new R (Yamazaki et al. 2014, §IV.C; Hoemmen 2010, §3.3.3).
   * @param n_used of the p vectors, at least 1; R has a positive diagonal but for the last of them
   * @param C (k + 1) x p, where k = columns() before
   * @param R p x p
   */
  void append(const std::vector<double> &C, const std::vector<double> &R,
              const std::vector<BasisStep> &steps, int p, int n_used);

  /// Of H.
  int columns() const
  {
    return n_columns;
  }

  /// Turns the next column. @return whether y exists with it: A M⁻¹ is not singular there
  bool rotate_next();

  /// Columns that have been turned, and the residual that they leave.
  int rotated() const
  {
    return n_rotated;
  }
  double residual() const;

  /// The y of the columns that have been turned.
  std::vector<double> solve() const;

  /// The eigenvalues of the leading square part.
  std::vector<std::complex<double>> ritz_values() const;

private:
  int n_columns = 0, n_rotated = 0;
  DenseMatrix H, R; ///< as it is, and turned
  std::vector<double> cosines, sines, rhs;
};
} // namespace femgpu::linalg

#endif
