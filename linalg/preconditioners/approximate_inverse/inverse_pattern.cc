#include "linalg/preconditioners/approximate_inverse/inverse_pattern.h"

#include "linalg/sparse/row_product.h"
#include "linalg/sparse/select_entries.h"

namespace femgpu::linalg
{
namespace
{
/// A selector for select_entries(): selects entries above the limit of their row, and the diagonal.
struct LargeEntries
{
  RowPatternView pattern;
  const double *values, *limits;

  FEMGPU_HD
  int row(const int r) const
  {
    return r;
  }
  template <class Function>
  FEMGPU_HD
  void visit(const int i, const int k, const Function &f) const
  {
    if (pattern.is_insertion_point(i, i, k))
      f(i, -1);
    if (k < pattern.row_starts[i + 1] && (pattern.columns[k] == i || fabs(values[k]) > limits[i]))
      f(pattern.columns[k], k);
  }
};

/// Returns a number, found by bisection, that |a_ij| exceeds for at most @p count off-diagonal
/// entries of row i.
FEMGPU_HD
double size_of_largest(const CsrView<double> &A, const int i, const int count)
{
  constexpr int steps = 60;
  const RowEntries<double> row = A.entries(i);
  double low = 0., high = largest_entry(A, i);
  for (int step = 0; step < steps; ++step) {
    const double middle = 0.5 * (low + high);
    int n_beyond = 0;
    for (int k = 0; k < row.length; ++k)
      n_beyond += row.columns[k] != i && fabs(row.values[k]) > middle ? 1 : 0;
    (n_beyond > count ? low : high) = middle;
  }
  return high;
}
} // namespace

template <class Backend>
RowPattern large_entries(const CsrMatrix &matrix, const double tau, const int longest)
{
  const CsrView<double> A = matrix.csr_view();
  const PatternRef pattern = pattern_of(matrix);
  Buffer<double> row_limits(matrix.executor(), static_cast<std::size_t>(A.n));
  double *const limits = row_limits.data();
  Runner<Backend>(*matrix.executor()).run(rows(A.n, [=] FEMGPU_BODY(const int i) {
    const double limit = (1. - tau) * largest_entry(A, i);
    const bool is_long = longest > 0 && A.entries(i).length > longest;
    limits[i] = is_long ? fmax(limit, size_of_largest(A, i, longest - 1)) : limit;
  }));
  return select_entries<Backend>(pattern, LargeEntries{pattern.view(), A.values, limits}, A.n)
      .pattern;
}

template <class Backend>
RowPattern inverse_pattern(const CsrMatrix &A, const double tau, const int power, const int longest)
{
  RowPattern S = large_entries<Backend>(A, tau, longest);
  if (power == 1)
    return S;
  const PatternRef factor = pattern_of(A.executor(), S);
  RowPattern pattern = multiply<Backend>(factor, factor);
  for (int k = 2; k < power; ++k)
    pattern = multiply<Backend>(pattern_of(A.executor(), pattern), factor);
  return pattern;
}

template RowPattern large_entries<ThisBackend>(const CsrMatrix &, double, int);
template RowPattern inverse_pattern<ThisBackend>(const CsrMatrix &, double, int, int);
} // namespace femgpu::linalg
