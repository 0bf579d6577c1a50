#ifndef femgpu_linalg_preconditioners_multigrid_smoother_h
#define femgpu_linalg_preconditioners_multigrid_smoother_h

#include "linalg/matrices/rounded_format.h"
#include "linalg/preconditioners/polynomial/polynomial_terms.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/preconditioners/spectrum.h"

#include <limits>
#include <memory>
#include <string>

namespace femgpu::linalg
{
/// The choice of the smoother of a multigrid cycle.
struct SmootherChoice
{
  /// `chebyshev` (polynomials in diag(A)⁻¹ A), `l1-jacobi`, or the name of a preconditioner
  std::string name = "chebyshev";
  int degree = 2;              ///< degree of the polynomial, or number of steps
  bool rounds_to_float = true; ///< whether products use values of A rounded to float

  bool uses_preconditioner() const
  {
    return name != "chebyshev" && name != "l1-jacobi";
  }
  /// Returns whether the smoother of a symmetric matrix is symmetric.
  bool preserves_symmetry() const
  {
    return !uses_preconditioner() || make_preconditioner(name, BackendKind::host)->is_symmetric();
  }
};

/**
 * A smoother x += p(M⁻¹A) M⁻¹ (r − A x) with a polynomial p. Each of its terms takes one product
 * with A:
 *
 *     d = a d + b M⁻¹ (r − A x);  x += d.
 *
 * M is diag(A), or a preconditioner. For a symmetric M, p is a Chebyshev polynomial of the fourth
 * kind (Lottes 2023, Algorithm 3.1). This p needs only the upper end of the spectrum, which Lanczos
 * steps in the inner product of M estimate, and makes the smoother symmetric; hence a cycle that
 * smooths before and after is symmetric too. With an unsymmetric preconditioner the terms are
 * stationary steps, a = 0 and b = 1. The steps of `l1-jacobi` are also stationary, with M_ii = Σ_j
 * |a_ij|; they converge for every symmetric positive definite A.
 *
 * Products with A may read values that are rounded to float. If A is exactly symmetric, so is the
 * smoother. Rounding adds an error of 6e-8 ‖A‖‖x‖ to A x, which hardly affects the outer solver.
 */
template <class Backend>
class Smoother
{
public:
  /// @param A must outlive the smoother
  Smoother(const Matrix &A, const SmootherChoice &choice);

  /// Prepares for new values of A.
  /// @throws SolverError unless the diagonal is positive; also throws as M's update() does
  void update();

  /// Applies the smoother to A x = r. If @p from_zero is true, x starts from 0 and is not read.
  /// Returns where x is stored.
  PolynomialVectors smooth(Runner<Backend> &run, double *r, PolynomialVectors v,
                           bool from_zero) const;

  /// Returns the matrix that products use: A rounded to float if requested and representable, else
  /// A.
  const Matrix &matrix() const
  {
    return rounded ? *rounded : A;
  }
  bool is_rounded() const
  {
    return matrix().value_precision() >= std::numeric_limits<float>::epsilon();
  }
  const Diagonal<Backend> &diagonal() const
  {
    return D;
  }
  /// Returns an estimate, from below, of the largest eigenvalue of diag(A)⁻¹ A.
  double largest_eigenvalue() const
  {
    return eigenvalue;
  }
  /// Returns the estimated largest eigenvalue of M⁻¹A if polynomials use a preconditioner M, else
  /// of diag(A)⁻¹ A.
  double largest_smoothed_eigenvalue() const
  {
    return eigenvalue_of_M > 0. ? eigenvalue_of_M : eigenvalue;
  }
  /// Returns whether smooth() swaps x and the other vector.
  bool swaps(const bool from_zero) const
  {
    return !M && n_products(from_zero) % 2 == 1;
  }
  /// Returns the bytes that smooth() reads and writes.
  std::size_t bytes(bool from_zero) const;

private:
  int n_products(const bool from_zero) const
  {
    return static_cast<int>(terms.size()) - (from_zero ? 1 : 0);
  }
  void make_terms();
  void round();

  const Matrix &A;
  SmootherChoice choice;
  std::unique_ptr<RoundedFormat<Backend>> rounded; ///< nullptr: products use A
  Diagonal<Backend> D;
  std::unique_ptr<Preconditioner> M; ///< nullptr if M is diag(A) or l1-jacobi
  mutable Buffer<double> step;       ///< d, if M is not nullptr; used by one solver at a time
  double eigenvalue = 0., eigenvalue_of_M = 0.;
  PolynomialTerms terms;
};
} // namespace femgpu::linalg

#endif
