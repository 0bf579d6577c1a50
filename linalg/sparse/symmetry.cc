#include "linalg/sparse/symmetry.h"

#include <algorithm>
#include <vector>

namespace femgpu::linalg
{
namespace
{
struct FindMissingPair
{
  RowPatternView pattern;
  int *missing;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int is_missing = 0;
    for (int k = pattern.row_starts[i]; k < pattern.row_starts[i + 1]; ++k)
      if (pattern.find(pattern.columns[k], i) < 0)
        is_missing = 1;
    missing[i] = is_missing;
  }
};

/// Finds the rows with entries a_ij that differ from a_ji by more than rounding.
struct FindUnsymmetricRow
{
  CsrView<double> A;
  int *is_unsymmetric;

  FEMGPU_HD
  void operator()(const int i) const
  {
    constexpr double tolerance = 1e-12; // of the largest entry of both rows
    const RowPatternView pattern{A.row_starts.low, A.columns};
    int found = 0;
    for (int k = A.row_starts.low[i]; k < A.row_starts.low[i + 1]; ++k) {
      const int j = A.columns[k];
      const int pair = j == i ? k : pattern.find(j, i);
      const double difference = fabs(A.values[k] - (pair < 0 ? 0. : A.values[pair]));
      if (difference != 0. && !(difference <= tolerance * fmax(largest_of(i), largest_of(j))))
        found = 1;
    }
    is_unsymmetric[i] = found;
  }

  FEMGPU_HD
  double largest_of(const int i) const
  {
    double largest = 0.;
    for (int k = A.row_starts.low[i]; k < A.row_starts.low[i + 1]; ++k)
      largest = fmax(largest, fabs(A.values[k]));
    return largest;
  }
};
} // namespace

template <class Backend>
bool is_symmetric(const PatternRef &pattern)
{
  if (pattern.n != pattern.n_columns)
    return false;
  Buffer<int> missing(pattern.executor, static_cast<std::size_t>(pattern.n));
  Runner<Backend>(*pattern.executor)
      .run(rows(pattern.n, FindMissingPair{pattern.view, missing.data()}));
  return total_counts<Backend>(pattern.executor, missing.data(), pattern.n).sum == 0;
}

template <class Backend>
int first_unsymmetric_row(const CsrMatrix &A)
{
  Buffer<int> unsymmetric(A.executor(), static_cast<std::size_t>(A.n()));
  Runner<Backend>(*A.executor())
      .run(rows(A.n(), FindUnsymmetricRow{A.csr_view(), unsymmetric.data()}));
  const std::vector<int> found = unsymmetric.to_host();
  const auto first = std::find(found.begin(), found.end(), 1);
  return first == found.end() ? -1 : static_cast<int>(first - found.begin());
}

template bool is_symmetric<ThisBackend>(const PatternRef &);
template int first_unsymmetric_row<ThisBackend>(const CsrMatrix &);
} // namespace femgpu::linalg
