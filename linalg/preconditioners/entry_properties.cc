#include "linalg/preconditioners/entry_properties.h"

#include "linalg/execution/this_backend.h"
#include "linalg/memory/buffer.h"
#include "linalg/operators/csr_matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace femgpu::linalg
{
namespace
{
struct SignCounts : LoopState
{
  double n_same_sign = 0., n_nonzeros = 0.;
};

struct SignSums
{
  double n_same_sign, n_nonzeros;
};

/// Counts the off-diagonal nonzeros, and those that have the sign of the diagonal of their row.
struct CountSigns
{
  CsrView<double> A;

  using Contributes = SumList<&SignSums::n_same_sign, &SignSums::n_nonzeros>;
  FEMGPU_HD
  void operator()(const SignCounts & /* state */, const int i, SignSums &sums) const
  {
    const double a_ii = A.diagonal(i);
    const auto entries = A.entries(i);
    int n_same_sign = 0, n_nonzeros = 0;
    for (int k = 0; k < entries.length; ++k) {
      const double a_ij = entries.values[k];
      if (entries.columns[k] == i || a_ij == 0.)
        continue;
      ++n_nonzeros;
      n_same_sign += (a_ij > 0.) == (a_ii > 0.) ? 1 : 0;
    }
    sums.n_same_sign += n_same_sign;
    sums.n_nonzeros += n_nonzeros;
  }

  using Completes = SumList<&SignSums::n_same_sign, &SignSums::n_nonzeros>;
  FEMGPU_HD
  void finish(SignCounts &state, const SignSums &sums) const
  {
    state.n_same_sign = sums.n_same_sign;
    state.n_nonzeros = sums.n_nonzeros;
  }
};
} // namespace

template <class Backend>
double diagonal_contrast(const Matrix &A)
{
  constexpr short none = std::numeric_limits<short>::min(); // exponents are -1074 to 1023
  Buffer<short> exponents(A.executor(), static_cast<std::size_t>(A.n()));
  Runner<Backend>(*A.executor())
      .run(rows(A.n(),
                [A = A.csr().csr_view(), exponents = exponents.data()] FEMGPU_BODY(const int i) {
                  const double a_ii = A.diagonal(i);
                  const bool counts = a_ii != 0. && std::isfinite(a_ii) && A.entries(i).length > 1;
                  exponents[i] = counts ? static_cast<short>(std::ilogb(a_ii)) : none;
                }));
  short largest = none, smallest = std::numeric_limits<short>::max();
  for (const short exponent : exponents.to_host()) {
    largest = std::max(largest, exponent);
    smallest = std::min(smallest, exponent == none ? smallest : exponent);
  }
  const double highest = A.range()->max(largest), lowest = -A.range()->max(-smallest);
  return highest >= lowest ? std::exp2(highest - lowest) : 1.;
}

template <class Backend>
double same_sign_fraction(const Matrix &A)
{
  Iteration<Backend, SignCounts, SignSums> iteration(*A.range());
  iteration.set_state({});
  iteration.once(rows(A.n(), CountSigns{A.csr().csr_view()}));
  const SignCounts counts = iteration.get_state();
  return counts.n_nonzeros > 0. ? counts.n_same_sign / counts.n_nonzeros : 0.;
}

template double diagonal_contrast<ThisBackend>(const Matrix &);
template double same_sign_fraction<ThisBackend>(const Matrix &);
} // namespace femgpu::linalg
