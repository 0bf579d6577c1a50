#ifndef femgpu_linalg_preconditioners_polynomial_polynomial_terms_h
#define femgpu_linalg_preconditioners_polynomial_polynomial_terms_h

#include "linalg/execution/this_backend.h"
#include "linalg/operators/matrix.h"

#include <cstddef>
#include <utility>
#include <vector>

/**
 * @file
 * Polynomials in D⁻¹A with a diagonal D, term by term. Each term takes one product with A:
 *
 *     d = a d + b D⁻¹ (r − A x);  x += d.
 */
namespace femgpu::linalg
{
/// The factors a and b of each term; a of the first term is 0.
using PolynomialTerms = std::vector<std::pair<double, double>>;

/// Two vectors with a value for each row of A. They swap roles after each product.
struct PolynomialVectors
{
  double *x, *other; ///< other: the previous x if it exists, else memory for the next x
};

/// Computes the first term for x = 0: x = b D⁻¹ r.
struct BeginPolynomial
{
  const double *r, *inverse;
  double b;
  double *x;

  FEMGPU_HD
  void operator()(const int i) const
  {
    x[i] = b * inverse[i] * r[i];
  }
};

/// Computes x' = x + a d + b D⁻¹ (r − A x), where d is the last change of x; x' overwrites the
/// previous x.
struct AddTerm
{
  const double *r, *inverse;
  double a, b;
  const double *x;
  bool began_from_zero; ///< the previous x is 0, and not stored
  double *other;        ///< the previous x, and then x'

  FEMGPU_HD
  void operator()(const int i, const double Ax_i) const
  {
    const double x_i = x[i];
    const double d = a == 0. ? 0. : began_from_zero ? x_i : x_i - other[i];
    other[i] = x_i + (a * d + b * inverse[i] * (r[i] - Ax_i));
  }
};

/// Adds all terms to x. If @p from_zero is true, x starts from 0 and is not read. Returns where x
/// is stored.
/// @param inverse the diagonal entries of D⁻¹
template <class Backend>
PolynomialVectors add_terms(Runner<Backend> &run, const Matrix &A, const double *const inverse,
                            const PolynomialTerms &terms, const double *const r,
                            PolynomialVectors v, const bool from_zero)
{
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const auto [a, b] = terms[k];
    if (k == 0 && from_zero)
      run.run(rows(A.n(), BeginPolynomial{r, inverse, b, v.x}));
    else {
      run.run(product(A, v.x, AddTerm{r, inverse, a, b, v.x, k == 1 && from_zero, v.other}));
      std::swap(v.x, v.other);
    }
  }
  return v;
}

/// Returns the bytes that add_terms() reads and writes: three vectors for a first term with x = 0;
/// for every other term A and four vectors, or five if the term reads the previous x.
/// @param vector bytes of a vector
inline std::size_t bytes_of_terms(const Matrix &A, const PolynomialTerms &terms,
                                  const std::size_t vector, const bool from_zero)
{
  std::size_t sum = 0;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const bool reads_other = terms[k].first != 0. && !(k == 1 && from_zero);
    sum += k == 0 && from_zero ? 3 * vector : A.bytes() + (reads_other ? 5 : 4) * vector;
  }
  return sum;
}
} // namespace femgpu::linalg

#endif
