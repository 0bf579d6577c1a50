#include "linalg/preconditioners/operator_preconditioner.h"
#include "linalg/preconditioners/polynomial/polynomial_terms.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/preconditioners/spectrum.h"

#include <algorithm>
#include <cmath>

namespace femgpu::linalg
{
namespace
{
/// Returns the terms of Chebyshev's semi-iteration for eigenvalues from @p low to @p high (Saad
/// 2003, Algorithm 12.1).
PolynomialTerms chebyshev_terms(const int degree, const double low, const double high)
{
  const double theta = 0.5 * (high + low), delta = 0.5 * (high - low), sigma = theta / delta;
  PolynomialTerms terms = {{0., 1. / theta}};
  double rho = 1. / sigma;
  for (int k = 1; k < degree; ++k) {
    const double rho_new = 1. / (2. * sigma - rho);
    terms.emplace_back(rho_new * rho, 2. * rho_new / delta);
    rho = rho_new;
  }
  return terms;
}

/// Returns the terms of ω Σ (I − ω D⁻¹A)^k D⁻¹, with ω so small that this sum is positive definite.
PolynomialTerms neumann_terms(const int degree, const double high)
{
  const double omega = std::min(1., 1.9 / high);
  return PolynomialTerms(static_cast<std::size_t>(degree), {0., omega});
}

/// The operator z = p(D⁻¹A) D⁻¹ r. Products with A use the matrix format of the solver.
template <class Backend>
class PolynomialOperator final : public PreconditionerOperator
{
public:
  explicit PolynomialOperator(const Matrix &A)
      : PreconditionerOperator(A.range()), A(A), D(A, "The polynomial preconditioner"),
        z(A.domain()->make_vector()), z_new(A.domain()->make_vector())
  {}

  View view() const override
  {
    return StoredView{A.n(), result().data()};
  }

  const double *prepare(StepRunner &runner, double *r) const override
  {
    add_terms(static_cast<Runner<Backend> &>(runner), A, D.inverse(), terms, r,
              {z.data(), z_new.data()}, true);
    return r;
  }
  bool is_capturable() const override
  {
    return A.is_capturable();
  }
  std::size_t bytes() const // including the vectors that the terms read and write
  {
    return bytes_of_terms(A, terms, D.bytes(), true);
  }

  /// Recomputes the diagonal from the values of A.
  void update()
  {
    D.update();
  }
  /// Returns an upper bound of the eigenvalues of D⁻¹A: Gershgorin's bound or, if @p by_estimate is
  /// true, the smaller one of this bound and an estimated bound.
  double largest_eigenvalue(const bool by_estimate) const
  {
    if (!by_estimate && A.find_csr() == nullptr)
      throw ParameterError(
          "The entries of the operator are not stored, so that eigenvalue=gershgorin "
          "is not possible. Use eigenvalue=lanczos.");
    const double bound = D.gershgorin_bound();
    return by_estimate ? std::min(bound, eigenvalue_safety *
                                             linalg::largest_eigenvalue<Backend>(A, D.inverse()))
                       : bound;
  }
  std::size_t n_nonzeros() const
  {
    return static_cast<std::size_t>(A.n());
  }

  PolynomialTerms terms;

private:
  const Buffer<double> &result() const
  {
    return terms.size() % 2 == 1 ? z : z_new;
  }

  const Matrix &A;
  Diagonal<Backend> D;
  mutable Buffer<double> z, z_new; // a preconditioner is used by one solver at a time
};

/**
 * A polynomial preconditioner M⁻¹ = p(D⁻¹A) D⁻¹ with D = diag(A), which only needs products with A.
 *
 * Use: symmetric positive definite systems if set-up must be cheap and reductions are expensive; an
 * application costs degree−1 products. Needs: a positive diagonal. Fails: M is indefinite if the
 * largest eigenvalue was underestimated; the solver detects this, and eigenvalue=gershgorin avoids
 * it. Source: Saad 2003, §12.3.
 */
template <class Backend>
class Polynomial final : public OperatorPreconditioner<PolynomialOperator<Backend>>
{
public:
  explicit Polynomial(Method &method)
      : OperatorPreconditioner<PolynomialOperator<Backend>>(method, true),
        degree(method.integer("degree", 4, 1, 100)),
        by_estimate(method.word("eigenvalue", "lanczos", {"lanczos", "gershgorin"}) == "lanczos")
  {
    if (method.name() == "chebyshev")
      ratio = method.number("ratio", 30., 1.0001, 1e12);
  }

  void setup(const Matrix &A) override
  {
    this->inverse = std::make_unique<PolynomialOperator<Backend>>(A);
    make_terms();
  }
  void update(const Matrix & /* A */) override
  {
    this->inverse->update();
    make_terms();
  }

private:
  void make_terms()
  {
    const double high = this->inverse->largest_eigenvalue(by_estimate);
    this->inverse->terms =
        ratio > 0. ? chebyshev_terms(degree, high / ratio, high) : neumann_terms(degree, high);
    this->report = {this->inverse->n_nonzeros(), "degree " + std::to_string(degree) +
                                                     ", eigenvalues of D⁻¹A up to " +
                                                     std::to_string(high)};
  }

  int degree;
  bool by_estimate;
  double ratio = 0.; ///< largest / smallest eigenvalue of the interval; 0: Neumann series
};
} // namespace

template <>
std::unique_ptr<Preconditioner> make_on<class PolynomialPreconditioner, ThisBackend>(Method &method)
{
  return std::make_unique<Polynomial<ThisBackend>>(method);
}
} // namespace femgpu::linalg
