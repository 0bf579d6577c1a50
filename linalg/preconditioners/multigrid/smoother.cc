#include "linalg/preconditioners/multigrid/smoother.h"

#include "linalg/base/error.h"
#include "linalg/base/hash.h"
#include "linalg/base/lapack.h"
#include "linalg/execution/steps/row_bodies.h"

#include <algorithm>
#include <limits>

namespace femgpu::linalg
{
namespace
{
constexpr int lanczos_steps = 10;
constexpr double safety = 1.1; // of their eigenvalue, which comes from below

constexpr double most_in_float = std::numeric_limits<float>::max();
/// Of a diagonal: entries that are as nothing beside it may vanish.
constexpr double least_in_float =
    std::numeric_limits<float>::min() / std::numeric_limits<float>::epsilon();

struct LanczosState : LoopState
{
  double bad_rows = 0., wide_rows = 0.;
  int n_steps = 0;
  double alpha[lanczos_steps] = {}, beta[lanczos_steps + 1] = {};

  FEMGPU_HD
  double inverse_beta() const
  {
    return beta[n_steps] > 0. ? 1. / beta[n_steps] : 0.;
  }
};

struct LanczosSums
{
  double bad_rows, wide_rows, vz, zAz;
};

/// A v of numbers that no mode is orthogonal to, and none before it.
struct BeginLanczos
{
  long long first;
  double *v, *before;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const LanczosState & /* s */, const int i, LanczosSums & /* sums */) const
  {
    v[i] =
        static_cast<double>(hash_of(static_cast<unsigned int>(first + i)) >> 8U) / (1 << 24) - 0.5;
    before[i] = 0.;
  }
};

/// D, D⁻¹ and 1/Σ|a_ij|;  z = D⁻¹v;  β_0 = ‖v‖. Counts rows without a positive diagonal, and those
/// whose numbers are beyond what float holds to its last digit.
struct BeginWithDiagonal
{
  BeginLanczos begin;
  CsrView<double> A;
  double *diagonal, *inverse, *inverse_sum, *z;

  using Contributes = SumList<&LanczosSums::bad_rows, &LanczosSums::wide_rows, &LanczosSums::vz>;
  FEMGPU_HD
  void operator()(const LanczosState &s, const int i, LanczosSums &sums) const
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
    sums.wide_rows += a_ii >= least_in_float && sum <= most_in_float ? 0. : 1.;
    begin(s, i, sums);
    z[i] = inverse[i] * begin.v[i];
    sums.vz += begin.v[i] * z[i];
  }

  FEMGPU_HD
  void finish(LanczosState &s, const LanczosSums &sums) const
  {
    s.bad_rows = sums.bad_rows;
    s.wide_rows = sums.wide_rows;
    s.beta[0] = sqrt(sums.vz);
  }
};

/// w = A z/β_k − (β_k/β_{k−1}) v';  α_k = (z, A z)/β_k². w takes the place of v'. Vectors v and z
/// are β_k times those of length 1 in the inner product of M⁻¹.
struct MultiplyLanczos
{
  const double *z;
  double *w;

  using Contributes = SumList<&LanczosSums::zAz>;
  FEMGPU_HD
  void operator()(const LanczosState &s, const int i, const double Az_i, LanczosSums &sums) const
  {
    const double of_before = s.n_steps > 0 ? s.beta[s.n_steps] / s.beta[s.n_steps - 1] : 0.;
    w[i] = s.inverse_beta() * Az_i - of_before * w[i];
    sums.zAz += z[i] * Az_i;
  }

  FEMGPU_HD
  void finish(LanczosState &s, const LanczosSums &sums) const
  {
    s.alpha[s.n_steps] = sums.zAz * s.inverse_beta() * s.inverse_beta();
  }
};

/// w −= α_k v
struct OrthogonaliseLanczos
{
  const double *v;
  double *w;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const LanczosState &s, const int i, LanczosSums & /* sums */) const
  {
    w[i] -= s.alpha[s.n_steps] * s.inverse_beta() * v[i];
  }
};

/// z = M⁻¹w;  the next β = ‖w‖
struct PreconditionLanczos
{
  const double *w;
  double *z;
  int step; ///< whose β it is

  using Contributes = SumList<&LanczosSums::vz>;
  FEMGPU_HD
  void operator()(const LanczosState & /* s */, const int i, const double z_i,
                  LanczosSums &sums) const
  {
    z[i] = z_i;
    sums.vz += w[i] * z_i;
  }

  FEMGPU_HD
  void finish(LanczosState &s, const LanczosSums &sums) const
  {
    s.n_steps = step;
    s.beta[step] = sqrt(sums.vz);
  }
};

/// Both, with the diagonal.
struct OrthogonaliseAndDivide
{
  OrthogonaliseLanczos orthogonalise;
  const double *inverse;
  PreconditionLanczos precondition;

  using Contributes = PreconditionLanczos::Contributes;
  FEMGPU_HD
  void operator()(const LanczosState &s, const int i, LanczosSums &sums) const
  {
    orthogonalise(s, i, sums);
    precondition(s, i, inverse[i] * precondition.w[i], sums);
  }

  FEMGPU_HD
  void finish(LanczosState &s, const LanczosSums &sums) const
  {
    precondition.finish(s, sums);
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
/// d = a d + b M⁻¹ (r − A x);  x += d
struct SmoothByM
{
  double a, b;
  bool from_zero;
  double *x, *step;

  FEMGPU_HD
  void operator()(const int i, const double Mt_i) const
  {
    const double d = (a != 0. ? a * step[i] : 0.) + b * Mt_i;
    step[i] = d;
    x[i] = from_zero ? d : x[i] + d;
  }
};

const PreconditionerOperator *operator_of(const Preconditioner &M)
{
  return std::get<const PreconditionerOperator *>(M.action());
}
} // namespace

template <class Backend>
Smoother<Backend>::Smoother(const Matrix &A, const SmootherChoice &choice)
    : A(A), choice(choice), diagonal_of_A(A.executor(), static_cast<std::size_t>(A.n())),
      inverse(A.executor(), diagonal_of_A.size()), inverse_sums(A.executor(), diagonal_of_A.size())
{
  if (choice.is_of_registry()) {
    M = make_preconditioner(choice.name, Backend::kind);
    M->setup(A);
  }
  make_terms();
}

template <class Backend>
void Smoother<Backend>::update()
{
  if (M)
    M->update(A);
  make_terms();
}

template <class Backend>
void Smoother<Backend>::make_terms()
{
  eigenvalue = estimate(nullptr);
  terms.clear();
  if (choice.name == "l1-jacobi" || (M && !M->is_symmetric())) {
    terms.assign(static_cast<std::size_t>(choice.degree), {0., 1.});
    return;
  }
  if (M)
    eigenvalue_of_M = estimate(operator_of(*M));
  for (int k = 1; k <= choice.degree; ++k)
    terms.emplace_back(k == 1 ? 0. : (2. * k - 3.) / (2. * k + 1.),
                       (8. * k - 4.) / (2. * k + 1.) / (safety * largest_smoothed_eigenvalue()));
}

/// The largest eigenvalue of M⁻¹A, or of D⁻¹A, whose D is made first.
template <class Backend>
double Smoother<Backend>::estimate(const PreconditionerOperator *const inverse_of_M)
{
  Iteration<Backend, LanczosState, LanczosSums> iteration(*A.range());
  Buffer<double> first = A.domain()->make_vector(), second = A.domain()->make_vector(),
                 image = A.domain()->make_vector();
  double *v = first.data(), *w = second.data(), *const z = image.data();
  const BeginLanczos begin{A.range()->first(), v, w};
  iteration.set_state({});
  if (inverse_of_M == nullptr) {
    iteration.once(rows(A.n(), BeginWithDiagonal{begin, A.csr().csr_view(), diagonal_of_A.data(),
                                                 inverse.data(), inverse_sums.data(), z}));
    if (choice.rounds)
      round(iteration.get_state().wide_rows == 0.);
  }
  else
    iteration.once(rows(A.n(), begin), product(*inverse_of_M, v, PreconditionLanczos{v, z, 0}));
  for (int k = 0; k < lanczos_steps; ++k, std::swap(v, w)) {
    const OrthogonaliseLanczos orthogonalise{v, w};
    const PreconditionLanczos precondition{w, z, k + 1};
    iteration.once(product(matrix(), z, MultiplyLanczos{z, w}));
    if (inverse_of_M == nullptr)
      iteration.once(
          rows(A.n(), OrthogonaliseAndDivide{orthogonalise, inverse.data(), precondition}));
    else
      iteration.once(rows(A.n(), orthogonalise), product(*inverse_of_M, w, precondition));
  }
  const LanczosState state = iteration.get_state();
  if (state.bad_rows > 0.)
    throw SolverError(
        "Multigrid cannot be made: " + std::to_string(static_cast<long long>(state.bad_rows)) +
        " of " + std::to_string(A.n()) +
        " rows have no positive number on the diagonal. Use another preconditioner.");
  const double largest = largest_ritz_value(state);
  return largest > 0. ? largest : 1.; // no rows, or NaN, which the solver will see
}

/// @param fits can float hold the values of A?
template <class Backend>
void Smoother<Backend>::round(const bool fits)
{
  if (fits && rounded)
    rounded->update();
  else {
    rounded.reset();
    if (fits && !is_rounded())
      rounded = std::make_unique<RoundedFormat<Backend>>(A);
  }
}

template <class Backend>
SmoothedVector Smoother<Backend>::smooth(Runner<Backend> &run, double *r, SmoothedVector v,
                                         const bool from_zero) const
{
  const double *const m = choice.name == "l1-jacobi" ? inverse_sums.data() : inverse.data();
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const auto [a, b] = terms[k];
    const bool is_zero = k == 0 && from_zero;
    if (M) {
      if (!is_zero)
        run.run(product(matrix(), v.x, StoreResidual{r, v.other}));
      run.run(
          product(*operator_of(*M), is_zero ? r : v.other, SmoothByM{a, b, is_zero, v.x, v.step}));
    }
    else if (is_zero)
      run.run(rows(A.n(), SmoothZero{r, m, b, v.x, v.step}));
    else {
      run.run(product(matrix(), v.x, SmoothRow{r, m, a, b, v.x, v.step, v.other}));
      std::swap(v.x, v.other);
    }
  }
  return v;
}

/// Each term with A three vectors or five besides, with M four; the first from zero no A.
template <class Backend>
std::size_t Smoother<Backend>::bytes(const bool from_zero) const
{
  const std::size_t vector = inverse.bytes();
  if (M)
    return n_products(from_zero) * (matrix().bytes() + 3 * vector) +
           terms.size() * (M->bytes() + 4 * vector);
  return n_products(from_zero) * (matrix().bytes() + 5 * vector) + (from_zero ? 4 * vector : 0);
}

template class Smoother<ThisBackend>;
} // namespace femgpu::linalg
