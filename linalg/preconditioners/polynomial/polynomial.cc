#include "linalg/base/error.h"
#include "linalg/execution/this_backend.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/preconditioners/operator_preconditioner.h"
#include "linalg/preconditioners/registry.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
namespace
{
struct PowerState : LoopState
{
  double vv = 0., vw = 0., ww = 0.;
  double bad_rows = 0.;
};

struct PowerSums
{
  double vv, vw, ww, bad_rows;
};

/// m_i = 1/A_ii and row sum of |D⁻¹A|; v is made of numbers that no mode is orthogonal to.
struct Begin
{
  CsrView<double> A;
  double *inverse, *row_sum, *v;

  using Contributes = SumList<&PowerSums::bad_rows>;
  FEMGPU_HD
  void operator()(const PowerState & /* s */, const int i, PowerSums &sums) const
  {
    double a_ii = 0., sum = 0.;
    const RowEntries<double> row = A.entries(i);
    for (int k = 0; k < row.length; ++k) {
      sum += fabs(row.values[k]);
      if (row.columns[k] == i)
        a_ii = row.values[k];
    }
    inverse[i] = 1. / a_ii;
    row_sum[i] = sum / fabs(a_ii);
    sums.bad_rows += a_ii > 0. && row_sum[i] - row_sum[i] == 0. ? 0. : 1.;
    const unsigned int hash = (static_cast<unsigned int>(i) + 1U) * 2654435761U;
    v[i] = static_cast<double>(hash >> 8) / (1 << 24) - 0.5;
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(PowerState &s, const PowerSums &sums) const
  {
    s.bad_rows = sums.bad_rows;
  }
};

/// w = D⁻¹A v, with (v, D v), (v, D w) and (w, D w)
struct Multiply
{
  const double *inverse, *v;
  double *w;

  using Contributes = SumList<&PowerSums::vv, &PowerSums::vw, &PowerSums::ww>;
  FEMGPU_HD
  void operator()(const PowerState & /* s */, const int i, const double Av_i, PowerSums &sums) const
  {
    w[i] = inverse[i] * Av_i;
    sums.vv += v[i] * v[i] / inverse[i];
    sums.vw += v[i] * Av_i;
    sums.ww += w[i] * Av_i;
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(PowerState &s, const PowerSums &sums) const
  {
    s.vv = sums.vv;
    s.vw = sums.vw;
    s.ww = sums.ww;
  }
};

/// v = w / ‖w‖
struct Normalise
{
  const double *w;
  double *v;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const PowerState &s, const int i, PowerSums & /* sums */) const
  {
    v[i] = w[i] / sqrt(s.ww);
  }
};

/// The factors a, b of the terms of a polynomial; the first has b alone.
using Terms = std::vector<std::pair<double, double>>;

/// Chebyshev's semi-iteration for eigenvalues from @p low to @p high (Saad 2003, Algorithm 12.1).
Terms chebyshev_terms(const int degree, const double low, const double high)
{
  const double theta = 0.5 * (high + low), delta = 0.5 * (high - low), sigma = theta / delta;
  Terms terms = {{0., 1. / theta}};
  double rho = 1. / sigma;
  for (int k = 1; k < degree; ++k) {
    const double rho_new = 1. / (2. * sigma - rho);
    terms.emplace_back(rho_new * rho, 2. * rho_new / delta);
    rho = rho_new;
  }
  return terms;
}

/// ω Σ (I − ω D⁻¹A)^k D⁻¹ with ω so small that the sum is positive.
Terms neumann_terms(const int degree, const double high)
{
  const double omega = std::min(1., 1.9 / high);
  return Terms(static_cast<std::size_t>(degree), {0., omega});
}

/// z = p(D⁻¹A) D⁻¹ r, where the product with A is that of the format the solver uses.
template <class Backend>
class PolynomialOperator final : public PreconditionerOperator
{
public:
  explicit PolynomialOperator(const Matrix &A)
      : PreconditionerOperator(A.range()), inverse(A.executor(), static_cast<std::size_t>(A.n())),
        A(A), last_term(A.executor(), inverse.size()), z(A.domain()->make_vector()),
        z_new(A.domain()->make_vector())
  {}

  View view() const override
  {
    return StoredView{A.n(), result().data()};
  }

  const double *prepare(StepRunner &runner, double *r) const override
  {
    auto &steps = static_cast<Runner<Backend> &>(runner);
    double *const d = last_term.data(), *from = z.data(), *to = z_new.data();
    const double *const m = inverse.data();
    steps.run(rows(A.n(), [=, first = terms.front().second] FEMGPU_BODY(const int i) {
      d[i] = first * m[i] * r[i]; // d = first D⁻¹ r;  z = d
      from[i] = d[i];
    }));
    for (std::size_t k = 1; k < terms.size(); ++k, std::swap(from, to)) {
      const double a = terms[k].first, b = terms[k].second;
      steps.run(product(A, from, [=] FEMGPU_BODY(const int i, const double Az_i) {
        d[i] = a * d[i] + b * m[i] * (r[i] - Az_i); // d = a d + b D⁻¹(r − A z);  z' = z + d
        to[i] = from[i] + d[i];
      }));
    }
    return r;
  }
  bool is_capturable() const override
  {
    return A.is_capturable();
  }
  std::size_t bytes() const // with the vectors of the terms
  {
    return 4 * inverse.bytes() + (terms.size() - 1) * (A.bytes() + 6 * inverse.bytes());
  }

  /// Inverts the diagonal and gives an upper bound of the eigenvalues of D⁻¹A, safe or estimated.
  double largest_eigenvalue(const bool by_power_iteration);

  Buffer<double> inverse;
  Terms terms;

private:
  const Buffer<double> &result() const
  {
    return terms.size() % 2 == 1 ? z : z_new;
  }

  const Matrix &A;
  mutable Buffer<double> last_term, z, z_new; // a preconditioner is used by one solver at a time
};

template <class Backend>
double PolynomialOperator<Backend>::largest_eigenvalue(const bool by_power_iteration)
{
  constexpr int steps = 20;
  constexpr double safety = 1.1; // the power iteration comes from below

  Iteration<Backend, PowerState, PowerSums> iteration(*A.range());
  iteration.set_state({});
  iteration.once(
      rows(A.n(), Begin{A.csr().csr_view(), inverse.data(), last_term.data(), z.data()}));
  const double bad_rows = iteration.get_state().bad_rows;
  if (bad_rows > 0.)
    throw SolverError("The polynomial preconditioner cannot be made: " +
                      std::to_string(static_cast<long long>(bad_rows)) + " of " +
                      std::to_string(A.n()) +
                      " rows have no positive number on the diagonal. Use another preconditioner.");
  const std::vector<double> row_sums = last_term.to_host();
  const double gershgorin =
      A.range()->max(row_sums.empty() ? 1. : *std::max_element(row_sums.begin(), row_sums.end()));
  if (!by_power_iteration || A.range()->n_global() == 0)
    return gershgorin;
  PowerState state;
  for (int step = 0; step < steps; ++step) {
    iteration.once(product(A, z.data(), Multiply{inverse.data(), z.data(), z_new.data()}),
                   rows(A.n(), Normalise{z_new.data(), z.data()}));
  }
  state = iteration.get_state();
  const double estimate = safety * std::sqrt(state.ww / state.vv);
  return estimate > 0. ? std::min(estimate, gershgorin) : gershgorin; // NaN: the solver will see
}

/**
 * M⁻¹ = p(D⁻¹A) D⁻¹ with D = diag(A): no more than products with A.
 *
 * Use: symmetric positive definite systems where setup must cost nothing and sums are dear; one
 * application costs degree - 1 products. Needs: a positive diagonal. Fails: M is indefinite if the
 * largest eigenvalue was estimated too small; the solver finds that, and eigenvalue=gershgorin is
 * the cure. Source: Saad 2003, §12.3.
 */
template <class Backend>
class Polynomial final : public OperatorPreconditioner<PolynomialOperator<Backend>>
{
public:
  explicit Polynomial(Method &method)
      : OperatorPreconditioner<PolynomialOperator<Backend>>(method, true),
        degree(method.integer("degree", 4, 1, 100)),
        by_power(method.word("eigenvalue", "power", {"power", "gershgorin"}) == "power")
  {
    if (method.name() == "chebyshev")
      ratio = method.number("ratio", 30., 1.0001, 1e12);
  }

  void setup(const Matrix &A) override
  {
    this->inverse = std::make_unique<PolynomialOperator<Backend>>(A);
    update(A);
  }
  void update(const Matrix & /* A */) override
  {
    const double high = this->inverse->largest_eigenvalue(by_power);
    this->inverse->terms =
        ratio > 0. ? chebyshev_terms(degree, high / ratio, high) : neumann_terms(degree, high);
    this->report = {this->inverse->inverse.size(), "degree " + std::to_string(degree) +
                                                       ", eigenvalues of D⁻¹A up to " +
                                                       std::to_string(high)};
  }

private:
  int degree;
  bool by_power;
  double ratio = 0.; ///< of the ends of Chebyshev's interval; 0: Neumann's series
};
} // namespace

template <>
std::unique_ptr<Preconditioner> make_on<class PolynomialPreconditioner, ThisBackend>(Method &method)
{
  return std::make_unique<Polynomial<ThisBackend>>(method);
}
} // namespace femgpu::linalg
