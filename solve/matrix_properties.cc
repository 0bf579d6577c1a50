#include "solve/matrix_properties.h"

#include "linalg/base/atomic.h"
#include "linalg/base/parallel.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace femgpu
{
using linalg::HostCsr;

namespace
{
/// Returns the entry a_ij; 0 if it is not stored.
double entry(const HostCsr &A, const int i, const int j)
{
  const int *const begin = A.columns + A.row_starts[i];
  const int *const end = begin + A.row_starts.length(i);
  const int *const found = std::lower_bound(begin, end, j);
  return found != end && *found == j ? A.values[found - A.columns] : 0.;
}
} // namespace

std::string asymmetry(const HostCsr &A)
{
  double largest = 0.;
  for (std::size_t k = 0; k < A.n_nonzeros; ++k)
    largest = std::max(largest, std::abs(A.values[k]));
  const double tolerance = 1e-12 * largest;
  const auto differs = [&](const int i, const std::size_t k) {
    return !(std::abs(A.values[k] - entry(A, A.columns[k], i)) <= tolerance);
  };
  int first = A.n;
  linalg::parallel_ranges(A.n, [&](const int begin, const int end) {
    for (int i = begin; i < end; ++i)
      for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
        if (differs(i, k))
          return linalg::atomic_min(&first, i);
  });
  if (first == A.n)
    return "";
  std::size_t k = A.row_starts[first];
  while (!differs(first, k))
    ++k;
  const int j = A.columns[k];
  std::ostringstream text;
  text.precision(17);
  text << "entry (" << first + 1 << ", " << j + 1 << ") is " << A.values[k] << " and (" << j + 1
       << ", " << first + 1 << ") is " << entry(A, j, first);
  return text.str();
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
