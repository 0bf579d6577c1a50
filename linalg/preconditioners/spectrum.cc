#include "linalg/preconditioners/spectrum.h"

#include "linalg/base/error.h"
#include "linalg/base/hash.h"
#include "linalg/base/lapack.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace femgpu::linalg
{
namespace
{
constexpr double max_float = std::numeric_limits<float>::max();
/// The smallest diagonal entry that float represents well enough: the entries of its row that
/// underflow are negligible relative to it.
constexpr double min_float =
    std::numeric_limits<float>::min() / std::numeric_limits<float>::epsilon();

struct DiagonalState : LoopState
{
  double bad_rows = 0., out_of_range_rows = 0.;
};

struct DiagonalSums
{
  double bad_rows, out_of_range_rows;
};

/// Stores a_ii, 1/a_ii and 1/Σ_j |a_ij| of row i; counts rows without a positive diagonal, and rows
/// that float cannot represent.
struct ExtractDiagonal
{
  CsrView<double> A; ///< without rows if the entries are not stored
  double *diagonal;  ///< if A has no rows, is read instead of written
  double *inverse, *inverse_sum;

  using Contributes = SumList<&DiagonalSums::bad_rows, &DiagonalSums::out_of_range_rows>;
  FEMGPU_HD
  void operator()(const DiagonalState & /* s */, const int i, DiagonalSums &sums) const
  {
    double a_ii = 0., sum = 0.;
    if (i < A.n) {
      const RowEntries<double> row = A.entries(i);
      for (int k = 0; k < row.length; ++k) {
        sum += fabs(row.values[k]);
        if (row.columns[k] == i)
          a_ii = row.values[k];
      }
      diagonal[i] = a_ii;
    }
    else
      a_ii = diagonal[i];
    inverse[i] = 1. / a_ii;
    inverse_sum[i] = i < A.n ? 1. / sum : 0.;
    sums.bad_rows += a_ii > 0. && sum - sum == 0. ? 0. : 1.;
    sums.out_of_range_rows += a_ii >= min_float && sum <= max_float ? 0. : 1.;
  }

  FEMGPU_HD
  void finish(DiagonalState &s, const DiagonalSums &sums) const
  {
    s.bad_rows = sums.bad_rows;
    s.out_of_range_rows = sums.out_of_range_rows;
  }
};

constexpr int min_lanczos_steps = 10, max_lanczos_steps = 40;

struct LanczosState : LoopState
{
  int n_steps = 0;
  double alpha[max_lanczos_steps] = {}, beta[max_lanczos_steps + 1] = {};

  FEMGPU_HD
  double inverse_beta() const
  {
    return beta[n_steps] > 0. ? 1. / beta[n_steps] : 0.;
  }
};

struct LanczosSums
{
  double vz, zAz;
};

/// Sets v = D^(1/2) u, where u is pseudo-random and hence not orthogonal to any eigenvector, and
/// the previous vector to 0.
struct BeginLanczos
{
  long long first;
  const double *inverse_diagonal;
  double *v, *previous;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const LanczosState & /* s */, const int i, LanczosSums & /* sums */) const
  {
    const double u_i =
        static_cast<double>(hash_of(static_cast<unsigned int>(first + i)) >> 8U) / (1 << 24) - 0.5;
    v[i] = u_i / sqrt(inverse_diagonal[i]);
    previous[i] = 0.;
  }
};

/// Computes w = A z/β_k − (β_k/β_{k−1}) v' and α_k = (z, A z)/β_k², where v' is the previous v; w
/// overwrites v'. Here z = M⁻¹v, and v has the length β_k in the norm of M⁻¹.
struct MultiplyLanczos
{
  const double *z;
  double *w;

  using Contributes = SumList<&LanczosSums::zAz>;
  FEMGPU_HD
  void operator()(const LanczosState &s, const int i, const double Az_i, LanczosSums &sums) const
  {
    const double beta_ratio = s.n_steps > 0 ? s.beta[s.n_steps] / s.beta[s.n_steps - 1] : 0.;
    w[i] = s.inverse_beta() * Az_i - beta_ratio * w[i];
    sums.zAz += z[i] * Az_i;
  }

  FEMGPU_HD
  void finish(LanczosState &s, const LanczosSums &sums) const
  {
    s.alpha[s.n_steps] = sums.zAz * s.inverse_beta() * s.inverse_beta();
  }
};

/// Computes w −= α_k v.
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

/// Stores z = M⁻¹w, and computes the next β, the norm of w in the inner product of M⁻¹.
struct PreconditionLanczos
{
  const double *w;
  double *z;
  int step; ///< index of β

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

/// Computes z = M⁻¹w for a diagonal M, and then runs PreconditionLanczos.
struct DivideLanczos
{
  const double *inverse;
  PreconditionLanczos precondition;

  using Contributes = PreconditionLanczos::Contributes;
  FEMGPU_HD
  void operator()(const LanczosState &s, const int i, LanczosSums &sums) const
  {
    precondition(s, i, inverse[i] * precondition.w[i], sums);
  }

  FEMGPU_HD
  void finish(LanczosState &s, const LanczosSums &sums) const
  {
    precondition.finish(s, sums);
  }
};

/// The largest eigenvalue θ of the tridiagonal matrix T of Lanczos steps, and ρ = ‖A y − θ M y‖ in
/// the norm of M⁻¹, where y is the Ritz vector of θ, of length 1.
struct RitzPair
{
  double value = 0., residual = 0.;

  /// Returns whether the safety factor covers the residual: θ + ρ <= eigenvalue_safety θ.
  bool is_accurate() const
  {
    return !(residual > (eigenvalue_safety - 1.) * value);
  }
};

/// Returns the last component |s_n| of the eigenvector T s = θ s with ‖s‖ = 1, by recurrence from
/// the first row.
double last_component(const LanczosState &s, const int n, const double theta)
{
  double previous = 0., component = 1., sum = 1.;
  for (int k = 0; k + 1 < n; ++k) {
    const double next =
        ((theta - s.alpha[k]) * component - (k > 0 ? s.beta[k] * previous : 0.)) / s.beta[k + 1];
    previous = component;
    component = next;
    sum += component * component;
  }
  return std::fabs(component) / std::sqrt(sum);
}

RitzPair largest_ritz_pair(const LanczosState &s)
{
  constexpr double min_ratio = 1e-10; // below this the previous vectors span an invariant subspace
  const auto size = static_cast<std::size_t>(s.n_steps);
  std::vector<double> T(size * size);
  int n = 0;
  for (; n < s.n_steps && (n == 0 || s.beta[n] > min_ratio * s.alpha[0]); ++n) {
    const auto k = static_cast<std::size_t>(n);
    T[k * size + k] = s.alpha[n];
    if (n > 0)
      T[(k - 1) * size + k] = T[k * size + k - 1] = s.beta[n];
  }
  RitzPair largest;
  for (const std::complex<double> &value : hessenberg_eigenvalues(T, n, s.n_steps))
    largest.value = std::max(largest.value, value.real());
  largest.residual = s.beta[n] * last_component(s, n, largest.value);
  return largest;
}

/// Implements largest_eigenvalue().
/// @param divide divide(w, body) returns a step that computes z = M⁻¹w and runs body, which is a
/// PreconditionLanczos
template <class Backend, class Divide>
double lanczos(const Matrix &A, const double *const inverse_diagonal, const Divide &divide)
{
  Buffer<double> first = A.domain()->make_vector(), second = A.domain()->make_vector(),
                 image = A.domain()->make_vector();
  double *v = first.data(), *w = second.data(), *const z = image.data();
  Iteration<Backend, LanczosState, LanczosSums> iteration(*A.range());
  iteration.set_state({});
  iteration.once(rows(A.n(), BeginLanczos{A.range()->first(), inverse_diagonal, v, w}),
                 divide(v, PreconditionLanczos{v, z, 0}));
  RitzPair largest;
  for (int k = 1; k <= max_lanczos_steps; ++k, std::swap(v, w)) {
    iteration.once(product(A, z, MultiplyLanczos{z, w}), rows(A.n(), OrthogonaliseLanczos{v, w}),
                   divide(w, PreconditionLanczos{w, z, k}));
    if (k % min_lanczos_steps != 0)
      continue;
    largest = largest_ritz_pair(iteration.get_state());
    if (largest.is_accurate())
      break;
  }
  if (!(largest.value > 0.))
    return 1.; // no rows, or NaN, which the solver detects
  return largest.is_accurate() ? largest.value
                               : (largest.value + largest.residual) / eigenvalue_safety;
}
} // namespace

template <class Backend>
Diagonal<Backend>::Diagonal(const Matrix &A, std::string owner)
    : A(A), owner(std::move(owner)), values(A.range()), inverse_values(A.executor(), values.size()),
      inverse_row_sums(A.executor(), values.size())
{
  update();
}

template <class Backend>
void Diagonal<Backend>::update()
{
  const CsrMatrix *const stored = A.find_csr();
  if (stored == nullptr && !A.get_diagonal(values))
    throw SolverError(owner + " cannot be set up, because the operator does not know its diagonal. "
                              "Implement get_diagonal(), or use another preconditioner.");
  Iteration<Backend, DiagonalState, DiagonalSums> iteration(*A.range());
  iteration.set_state({});
  const CsrView<double> entries = stored ? stored->csr_view() : CsrView<double>{};
  iteration.once(rows(A.n(), ExtractDiagonal{entries, values.data(), inverse_values.data(),
                                             inverse_row_sums.data()}));
  const DiagonalState state = iteration.get_state();
  if (state.bad_rows > 0.)
    throw SolverError(
        owner + " cannot be set up: " + std::to_string(static_cast<long long>(state.bad_rows)) +
        " of " + std::to_string(A.range()->n_global()) +
        " rows have no positive diagonal entry. Use another preconditioner.");
  fits = state.out_of_range_rows == 0.;
}

template <class Backend>
double Diagonal<Backend>::gershgorin_bound() const
{
  Buffer<double> ratios(A.executor(), values.size());
  Runner<Backend>(*A.executor())
      .run(rows(A.n(),
                [to = ratios.data(), inverse = inverse(), inverse_sum = inverse_sums()] FEMGPU_BODY(
                    const int i) { to[i] = inverse[i] / inverse_sum[i]; }));
  const std::vector<double> all = ratios.to_host();
  return A.range()->max(all.empty() ? 1. : *std::max_element(all.begin(), all.end()));
}

template <class Backend>
double largest_eigenvalue(const Matrix &A, const double *const inverse_diagonal)
{
  return lanczos<Backend>(A, inverse_diagonal,
                          [&](double * /* w */, const PreconditionLanczos &body) {
                            return rows(A.n(), DivideLanczos{inverse_diagonal, body});
                          });
}

template <class Backend>
double largest_eigenvalue(const Matrix &A, const double *const inverse_diagonal,
                          const PreconditionerOperator &M)
{
  return lanczos<Backend>(
      A, inverse_diagonal,
      [&](double *const w, const PreconditionLanczos &body) { return product(M, w, body); });
}

template class Diagonal<ThisBackend>;
template double largest_eigenvalue<ThisBackend>(const Matrix &A, const double *inverse_diagonal);
template double largest_eigenvalue<ThisBackend>(const Matrix &A, const double *inverse_diagonal,
                                                const PreconditionerOperator &M);
} // namespace femgpu::linalg
