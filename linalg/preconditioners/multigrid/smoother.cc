#include "linalg/preconditioners/multigrid/smoother.h"

#include "linalg/base/error.h"
#include "linalg/base/hash.h"
#include "linalg/base/lapack.h"

#include <algorithm>

namespace femgpu::linalg
{
namespace
{
constexpr int lanczos_steps = 10;
constexpr double safety = 1.1; // of their eigenvalue, which comes from below

struct LanczosState : LoopState
{
  double bad_rows = 0.;
  int n_steps = 0;
  double alpha[lanczos_steps] = {}, beta[lanczos_steps + 1] = {};
};

struct LanczosSums
{
  double bad_rows, vv, vAv;
};

/// D, D⁻¹, 1/Σ|a_ij|, and a v of numbers that no mode is orthogonal to; β_0 = ‖v‖_D.
struct BeginLanczos
{
  CsrView<double> A;
  long long first;
  double *diagonal, *inverse, *inverse_sum, *v, *before;

  using Contributes = SumList<&LanczosSums::bad_rows, &LanczosSums::vv>;
  FEMGPU_HD
  void operator()(const LanczosState & /* s */, const int i, LanczosSums &sums) const
  {
    double a_ii = 0., sum = 0.;
    const RowEntries<double> row = A.entries(i);
    for (int k = 0; k < row.length; ++k) {
      sum += fabs(row.values[k]);
      if (row.columns[k] == i)
        a_ii = row.values[k];
    }
    diagonal[i] = a_ii;
    inverse[i] = 1. / a_ii;
    inverse_sum[i] = 1. / sum;
    sums.bad_rows += a_ii > 0. && sum - sum == 0. ? 0. : 1.;
    v[i] =
        static_cast<double>(hash_of(static_cast<unsigned int>(first + i)) >> 8U) / (1 << 24) - 0.5;
    before[i] = 0.;
    sums.vv += a_ii * v[i] * v[i];
  }

  FEMGPU_HD
  void finish(LanczosState &s, const LanczosSums &sums) const
  {
    s.bad_rows = sums.bad_rows;
    s.beta[0] = sqrt(sums.vv);
  }
};

/// v = v / β_k
struct NormaliseLanczos
{
  double *v;

  FEMGPU_HD
  void operator()(const LanczosState &s, const int i, LanczosSums & /* sums */) const
  {
    const double beta = s.beta[s.n_steps];
    v[i] = beta > 0. ? v[i] / beta : 0.;
  }
};

/// w = D⁻¹A v − β_k v';  α_k = (v, A v). w takes the place of v'.
struct MultiplyLanczos
{
  const double *inverse, *v;
  double *w;

  using Contributes = SumList<&LanczosSums::vAv>;
  FEMGPU_HD
  void operator()(const LanczosState &s, const int i, const double Av_i, LanczosSums &sums) const
  {
    const double beta = s.n_steps > 0 ? s.beta[s.n_steps] : 0.;
    w[i] = inverse[i] * Av_i - beta * w[i];
    sums.vAv += v[i] * Av_i;
  }

  FEMGPU_HD
  void finish(LanczosState &s, const LanczosSums &sums) const
  {
    s.alpha[s.n_steps] = sums.vAv;
  }
};

/// w −= α_k v;  β_{k+1} = ‖w‖_D
struct OrthogonaliseLanczos
{
  const double *diagonal, *v;
  double *w;

  using Contributes = SumList<&LanczosSums::vv>;
  FEMGPU_HD
  void operator()(const LanczosState &s, const int i, LanczosSums &sums) const
  {
    w[i] -= s.alpha[s.n_steps] * v[i];
    sums.vv += diagonal[i] * w[i] * w[i];
  }

  FEMGPU_HD
  void finish(LanczosState &s, const LanczosSums &sums) const
  {
    s.beta[++s.n_steps] = sqrt(sums.vv);
  }
};

/// The largest eigenvalue of the tridiagonal matrix of the Lanczos steps.
double largest_ritz_value(const LanczosState &s)
{
  constexpr double least = 1e-10; // the vectors before it are an invariant space
  const auto size = static_cast<std::size_t>(lanczos_steps);
  std::vector<double> T(size * size);
  int n = 0;
  for (; n < lanczos_steps && (n == 0 || s.beta[n] > least * s.alpha[0]); ++n) {
    const auto k = static_cast<std::size_t>(n);
    T[k * size + k] = s.alpha[n];
    if (n > 0)
      T[(k - 1) * size + k] = T[k * size + k - 1] = s.beta[n];
  }
  double largest = 0.;
  for (const std::complex<double> &value : hessenberg_eigenvalues(T, n, lanczos_steps))
    largest = std::max(largest, value.real());
  return largest;
}

/// x = d = b D⁻¹ r
struct SmoothZero
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
struct SmoothRow
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
} // namespace

template <class Backend>
Smoother<Backend>::Smoother(const Matrix &A, const SmootherChoice &choice)
    : A(A), choice(choice), diagonal_of_A(A.executor(), static_cast<std::size_t>(A.n())),
      inverse(A.executor(), diagonal_of_A.size()), inverse_sums(A.executor(), diagonal_of_A.size())
{
  update();
}

template <class Backend>
void Smoother<Backend>::update()
{
  estimate();
  terms.clear();
  if (choice.kind == SmootherChoice::l1_jacobi) {
    terms.assign(static_cast<std::size_t>(choice.degree), {0., 1.});
    return;
  }
  for (int k = 1; k <= choice.degree; ++k)
    terms.emplace_back(k == 1 ? 0. : (2. * k - 3.) / (2. * k + 1.),
                       (8. * k - 4.) / (2. * k + 1.) / (safety * eigenvalue));
}

template <class Backend>
void Smoother<Backend>::estimate()
{
  Iteration<Backend, LanczosState, LanczosSums> iteration(*A.range());
  Buffer<double> first = A.domain()->make_vector(), second = A.domain()->make_vector();
  double *v = first.data(), *w = second.data();
  iteration.set_state({});
  iteration.once(
      rows(A.n(), BeginLanczos{A.csr().csr_view(), A.range()->first(), diagonal_of_A.data(),
                               inverse.data(), inverse_sums.data(), v, w}));
  for (int k = 0; k < lanczos_steps; ++k, std::swap(v, w))
    iteration.once(rows(A.n(), NormaliseLanczos{v}),
                   product(A.csr(), v, MultiplyLanczos{inverse.data(), v, w}),
                   rows(A.n(), OrthogonaliseLanczos{diagonal_of_A.data(), v, w}));
  const LanczosState state = iteration.get_state();
  if (state.bad_rows > 0.)
    throw SolverError(
        "Multigrid cannot be made: " + std::to_string(static_cast<long long>(state.bad_rows)) +
        " of " + std::to_string(A.n()) +
        " rows have no positive number on the diagonal. Use another preconditioner.");
  eigenvalue = largest_ritz_value(state);
  if (!(eigenvalue > 0.))
    eigenvalue = 1.; // no rows, or NaN, which the solver will see
}

template <class Backend>
SmoothedVector Smoother<Backend>::smooth(Runner<Backend> &run, const double *r, SmoothedVector v,
                                         const bool from_zero) const
{
  const double *const m =
      choice.kind == SmootherChoice::l1_jacobi ? inverse_sums.data() : inverse.data();
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const auto [a, b] = terms[k];
    if (k == 0 && from_zero) {
      run.run(rows(A.n(), SmoothZero{r, m, b, v.x, v.step}));
      continue;
    }
    run.run(product(A, v.x, SmoothRow{r, m, a, b, v.x, v.step, v.other}));
    std::swap(v.x, v.other);
  }
  return v;
}

template class Smoother<ThisBackend>;
} // namespace femgpu::linalg
