#ifndef femgpu_linalg_preconditioners_polynomial_polynomial_terms_h
#define femgpu_linalg_preconditioners_polynomial_polynomial_terms_h

#include "linalg/execution/this_backend.h"
#include "linalg/operators/matrix.h"

#include <utility>
#include <vector>

/**
 * @file
 * Polynomials in D⁻¹A, D a diagonal, by terms that are each a product with A:
 *
 *     d = a d + b D⁻¹ (r − A x);  x += d.
 */
namespace femgpu::linalg
{
/// The factors a, b of the terms; a of the first is 0.
using PolynomialTerms = std::vector<std::pair<double, double>>;

/// Vectors of the rows of A; x and the other change places with each product.
struct PolynomialVectors
{
  double *x, *other, *step; ///< step: d
};

/// x = d = b D⁻¹ r
struct BeginPolynomial
{
  const double *r, *inverse;
  double b;
  double *x, *step;

  FEMGPU_HD
  void operator()(const int i) const
  {
    step[i] = b * inverse[i] * r[i];
    x[i] = step[i];
  }
};

/// d = a d + b D⁻¹ (r − A x);  x' = x + d
struct AddTerm
{
  const double *r, *inverse;
  double a, b;
  const double *x;
  double *step, *next;

  FEMGPU_HD
  void operator()(const int i, const double Ax_i) const
  {
    const double d = (a != 0. ? a * step[i] : 0.) + b * inverse[i] * (r[i] - Ax_i);
    step[i] = d;
    next[i] = x[i] + d;
  }
};

/// Adds all terms to x, of which the first begins from 0 if @p from_zero: then x need not be there.
/// Gives where x is. @param inverse 1/D
template <class Backend>
PolynomialVectors add_terms(Runner<Backend> &run, const Matrix &A, const double *const inverse,
                            const PolynomialTerms &terms, const double *const r,
                            PolynomialVectors v, bool from_zero)
{
  for (const auto &[a, b] : terms) {
    if (from_zero)
      run.run(rows(A.n(), BeginPolynomial{r, inverse, b, v.x, v.step}));
    else {
      run.run(product(A, v.x, AddTerm{r, inverse, a, b, v.x, v.step, v.other}));
      std::swap(v.x, v.other);
    }
    from_zero = false;
  }
  return v;
}

/// That add_terms() reads and writes, so many terms with vectors of so many bytes: four vectors for
/// one from 0, for each other one A and six.
inline std::size_t bytes_of_terms(const Matrix &A, const std::size_t n_terms,
                                  const std::size_t vector, const bool from_zero)
{
  const std::size_t n_products = n_terms - (from_zero ? 1 : 0);
  return n_products * (A.bytes() + 6 * vector) + (from_zero ? 4 * vector : 0);
}
} // namespace femgpu::linalg

#endif
