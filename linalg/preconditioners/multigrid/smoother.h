#ifndef femgpu_linalg_preconditioners_multigrid_smoother_h
#define femgpu_linalg_preconditioners_multigrid_smoother_h

#include "linalg/execution/this_backend.h"
#include "linalg/operators/csr_matrix.h"

#include <string>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
/// Which smoother a multigrid cycle has.
struct SmootherChoice
{
  enum Kind
  {
    chebyshev, ///< polynomials of the 4th kind
    l1_jacobi
  };
  Kind kind = chebyshev;
  int degree = 2; ///< of the polynomial, or steps
};

/// Vectors of a level: with each step of the smoother x and the other change places.
struct SmoothedVector
{
  double *x, *other;
  double *step; ///< d
};

/**
 * x += p(D⁻¹A) D⁻¹ (r − A x), a polynomial in D⁻¹A, so that a cycle which smooths before and after
 * is symmetric. The terms of both kinds are
 *
 *     d = a d + b D⁻¹ (r − A x);  x += d,
 *
 * each a product with A. `chebyshev`: D = diag(A) and Chebyshev polynomials of the fourth kind,
 * which need the upper end of the spectrum alone (Lottes 2023, Algorithm 3.1). `l1_jacobi`:
 * D_ii = Σ_j |a_ij|, with which steps converge for every symmetric positive definite A.
 */
template <class Backend>
class Smoother
{
public:
  /// @param A outlives the smoother
  Smoother(const Matrix &A, const SmootherChoice &choice);

  /// Takes over the values of A. @throws SolverError unless the diagonal is positive
  void update();

  /// Smooths A x = r, from 0 if @p from_zero: then x need not be there. Gives where x is.
  SmoothedVector smooth(Runner<Backend> &run, const double *r, SmoothedVector v,
                        bool from_zero) const;

  /// 1/a_ii
  const double *inverse_diagonal() const
  {
    return inverse.data();
  }
  const Buffer<double> &diagonal() const
  {
    return diagonal_of_A;
  }
  /// An estimate of the largest eigenvalue of diag(A)⁻¹ A, from below.
  double largest_eigenvalue() const
  {
    return eigenvalue;
  }
  /// Products with A in smooth().
  int n_products(const bool from_zero) const
  {
    return static_cast<int>(terms.size()) - (from_zero ? 1 : 0);
  }

private:
  void estimate();

  const Matrix &A;
  SmootherChoice choice;
  Buffer<double> diagonal_of_A, inverse, inverse_sums;
  double eigenvalue = 0.;
  std::vector<std::pair<double, double>> terms; ///< a, b
};
} // namespace femgpu::linalg

#endif
