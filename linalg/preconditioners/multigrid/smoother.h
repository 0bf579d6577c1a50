#ifndef femgpu_linalg_preconditioners_multigrid_smoother_h
#define femgpu_linalg_preconditioners_multigrid_smoother_h

#include "linalg/matrices/rounded_format.h"
#include "linalg/preconditioners/polynomial/polynomial_terms.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/preconditioners/spectrum.h"

#include <memory>
#include <string>

namespace femgpu::linalg
{
/// The smoother of a multigrid cycle.
struct SmootherChoice
{
  /// `chebyshev`: polynomials with the diagonal; `l1-jacobi`; or a preconditioner of the registry
  std::string name = "chebyshev";
  int degree = 2;              ///< of the polynomial, or number of steps
  bool rounds_to_float = true; ///< multiplies with values of A that are rounded to float

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
 * x += p(M⁻¹A) M⁻¹ (r − A x), by terms with one product with A each,
 *
 *     d = a d + b M⁻¹ (r − A x);  x += d.
 *
 * With a symmetric M these are Chebyshev polynomials of the fourth kind, which need only the upper
 * end of the spectrum (Lottes 2023, Algorithm 3.1), from Lanczos steps in the inner product of M;
 * hence a cycle that smooths before and after is symmetric. M is diag(A), or a preconditioner. An
 * unsymmetric one smooths by stationary steps, a = 0 and b = 1, as does `l1-jacobi`, M_ii = Σ_j
 * |a_ij|, whose steps converge for every symmetric positive definite A.
 *
 * Products with A may read values that are rounded to float. If A is symmetric to the last bit, so
 * is the smoother. Rounding adds an error of 6e-8 ‖A‖‖x‖ to A x, which hardly affects the outer
 * solver.
 */
template <class Backend>
class Smoother
{
public:
  /// @param A outlives the smoother
  Smoother(const Matrix &A, const SmootherChoice &choice);

  /// Takes over the values of A. @throws SolverError unless the diagonal is positive, or as M does
  void update();

  /// Smooths A x = r, from 0 if @p from_zero; then x is not read. Returns where x is stored.
  PolynomialVectors smooth(Runner<Backend> &run, double *r, PolynomialVectors v,
                           bool from_zero) const;

  /// Returns the matrix in products: A rounded to float if requested and representable, else A.
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
  /// Returns an estimate of the largest eigenvalue of diag(A)⁻¹ A, from below.
  double largest_eigenvalue() const
  {
    return eigenvalue;
  }
  /// Returns the estimate for M⁻¹A if polynomials use another M than diag(A), else that for
  /// diag(A).
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
  std::unique_ptr<Preconditioner> M; ///< nullptr: diag(A), or l1-jacobi
  mutable Buffer<double> step;       ///< d, with M; used by one solver at a time
  double eigenvalue = 0., eigenvalue_of_M = 0.;
  PolynomialTerms terms;
};
} // namespace femgpu::linalg

#endif
