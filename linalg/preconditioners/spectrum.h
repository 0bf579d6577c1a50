#ifndef femgpu_linalg_preconditioners_spectrum_h
#define femgpu_linalg_preconditioners_spectrum_h

#include "linalg/execution/this_backend.h"
#include "linalg/operators/csr_matrix.h"

#include <string>

namespace femgpu::linalg
{
/// The diagonal D of a matrix A, and the sums Σ_j |a_ij| of its rows, which count as infinite if
/// the entries of A are not stored.
template <class Backend>
class Diagonal
{
public:
  /// @param A must outlive this object
  /// @param owner name of the preconditioner, for error messages
  Diagonal(const Matrix &A, std::string owner);

  /// Recomputes D and the sums from the values of A.
  /// @throws SolverError unless all diagonal entries are known and positive
  void update();

  /// Returns a_ii for each row.
  const double *entries() const
  {
    return values.data();
  }
  /// Returns 1/a_ii for each row.
  const double *inverse() const
  {
    return inverse_values.data();
  }
  /// Returns 1/Σ_j |a_ij| for each row.
  const double *inverse_sums() const
  {
    return inverse_row_sums.data();
  }
  std::size_t bytes() const
  {
    return values.bytes();
  }
  /// Returns whether float can represent all entries of A, except some that are negligible relative
  /// to the diagonal entry of their row.
  bool fits_in_float() const
  {
    return fits;
  }
  /// Returns max_i Σ_j |a_ij| / a_ii, which no eigenvalue of D⁻¹A exceeds (Gershgorin). Copies one
  /// number per row to the host. Collective over all ranks.
  double gershgorin_bound() const;

private:
  const Matrix &A;
  std::string owner;
  Vector<double> values;
  Buffer<double> inverse_values, inverse_row_sums;
  bool fits = false;
};

/// A safety factor: largest_eigenvalue() times this number bounds the eigenvalues of M⁻¹A.
constexpr double eigenvalue_safety = 1.1;

/**
 * Estimates the largest eigenvalue of D⁻¹A by Lanczos's method in the inner product of D, for a
 * symmetric A (Golub and Van Loan 2013, §10.1). After 10 to 40 steps, as soon as the largest Ritz
 * value θ and the norm ρ of its residual satisfy θ + ρ ≤ 1.1 θ (the safeguarded bound of Zhou and
 * Li 2011), the result is θ; if 40 steps do not suffice, it is (θ + ρ)/1.1. The start vector is
 * uniform in the variables D^(1/2) x, so that the scaling of A does not matter. The result is 1 if
 * A has no rows or contains NaN.
 * @param inverse_diagonal the n diagonal entries of D⁻¹
 */
template <class Backend>
double largest_eigenvalue(const Matrix &A, const double *inverse_diagonal);

/// Estimates the largest eigenvalue of M⁻¹A for symmetric A, by 10 to 40 Lanczos steps in the inner
/// product of a symmetric positive definite M; the result is safeguarded like the estimate for
/// D⁻¹A.
/// @param M the operator M⁻¹
template <class Backend>
double largest_eigenvalue(const Matrix &A, const double *inverse_diagonal,
                          const PreconditionerOperator &M);
} // namespace femgpu::linalg

#endif
