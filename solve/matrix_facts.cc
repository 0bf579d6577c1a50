#include "solve/matrix_facts.h"

#include "linalg/base/atomic.h"
#include "linalg/base/parallel.h"

#include <algorithm>
#include <cmath>

namespace femgpu
{
using linalg::HostCsr;

namespace
{
/// a_ij; 0 if there is no such entry.
double entry(const HostCsr &A, const int i, const int j)
{
  const int *const begin = A.columns + A.row_starts[i];
  const int *const end = begin + A.row_starts.length(i);
  const int *const found = std::lower_bound(begin, end, j);
  return found != end && *found == j ? A.values[found - A.columns] : 0.;
}

UnsymmetricPair first_pair_of_row(const HostCsr &A, const int i, const double tolerance)
{
  for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k) {
    const double across = entry(A, A.columns[k], i);
    if (!(std::abs(A.values[k] - across) <= tolerance))
      return {i, A.columns[k], A.values[k], across};
  }
  return {};
}
} // namespace

UnsymmetricPair first_unsymmetric_pair(const HostCsr &A)
{
  double largest = 0.;
  for (std::size_t k = 0; k < A.n_nonzeros; ++k)
    largest = std::max(largest, std::abs(A.values[k]));
  const double tolerance = 1e-12 * largest;
  int first = A.n;
  linalg::parallel_ranges(A.n, [&](const int begin, const int end) {
    for (int i = begin; i < end; ++i)
      if (first_pair_of_row(A, i, tolerance).exists())
        return linalg::lower_to(&first, i);
  });
  return first == A.n ? UnsymmetricPair() : first_pair_of_row(A, first, tolerance);
}

DiagonalSigns diagonal_signs(const HostCsr &A, const int first)
{
  DiagonalSigns signs;
  for (int i = 0; i < A.n; ++i) {
    const double a_ii = entry(A, i, first + i);
    signs.n_zeros += a_ii == 0. ? 1 : 0;
    signs.n_negative += a_ii < 0. ? 1 : 0;
  }
  return signs;
}

bool has_zero_row(const HostCsr &A)
{
  for (int i = 0; i < A.n; ++i) {
    const double *const values = A.values + A.row_starts[i];
    if (std::all_of(values, values + A.row_starts.length(i),
                    [](const double value) { return value == 0.; }))
      return true;
  }
  return false;
}

RowLengths row_lengths(const HostCsr &A)
{
  if (A.n == 0)
    return {};
  RowLengths lengths{A.row_starts.length(0), 0, static_cast<double>(A.n_nonzeros) / A.n};
  for (int i = 0; i < A.n; ++i) {
    const int length = A.row_starts.length(i);
    lengths.min = std::min(lengths.min, length);
    lengths.max = std::max(lengths.max, length);
  }
  return lengths;
}
} // namespace femgpu
