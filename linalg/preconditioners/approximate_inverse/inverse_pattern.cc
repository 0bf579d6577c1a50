#include "linalg/preconditioners/approximate_inverse/inverse_pattern.h"

#include "linalg/sparse/pattern_product.h"

namespace femgpu::linalg
{
namespace
{
/// Calls f(column) for the entries of row i of A that count, with the diagonal, in their order.
template <class Function>
FEMGPU_HD
void for_large_entries(const CsrView<double> &A, const double tau, const int i, const Function &f)
{
  double largest = 0.;
  for (int k = A.row_starts.low[i]; k < A.row_starts.low[i + 1]; ++k)
    largest = fmax(largest, fabs(A.values[k]));
  bool needs_diagonal = true;
  for (int k = A.row_starts.low[i]; k < A.row_starts.low[i + 1]; ++k) {
    const int column = A.columns[k];
    if (needs_diagonal && column >= i) {
      needs_diagonal = false;
      f(i);
    }
    if (column != i && fabs(A.values[k]) > (1. - tau) * largest)
      f(column);
  }
  if (needs_diagonal)
    f(i);
}

struct CountLargeEntries
{
  CsrView<double> A;
  double tau;
  int *lengths;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int length = 0;
    for_large_entries(A, tau, i, [&](int) { ++length; });
    lengths[i] = length;
  }
};

struct StoreLargeEntries
{
  CsrView<double> A;
  double tau;
  const int *row_starts;
  int *columns;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int at = row_starts[i];
    for_large_entries(A, tau, i, [&](const int column) { columns[at++] = column; });
  }
};
} // namespace

template <class Backend>
RowPattern large_entries(const CsrMatrix &A, const double tau)
{
  Runner<Backend> runner(*A.executor());
  Buffer<int> lengths(A.executor(), static_cast<std::size_t>(A.n()));
  runner.run(rows(A.n(), CountLargeEntries{A.csr_view(), tau, lengths.data()}));
  RowPattern pattern = make_rows<Backend>(A.executor(), lengths);
  runner.run(rows(A.n(), StoreLargeEntries{A.csr_view(), tau, pattern.row_starts.data(),
                                           pattern.columns.data()}));
  return pattern;
}

template <class Backend>
RowPattern inverse_pattern(const CsrMatrix &A, const double tau, const int power)
{
  RowPattern S = large_entries<Backend>(A, tau);
  if (power == 1)
    return S;
  const PatternRef factor = pattern_of(A.executor(), S);
  RowPattern pattern = multiply<Backend>(factor, factor);
  for (int k = 2; k < power; ++k)
    pattern = multiply<Backend>(pattern_of(A.executor(), pattern), factor);
  return pattern;
}

template RowPattern large_entries<ThisBackend>(const CsrMatrix &, double);
template RowPattern inverse_pattern<ThisBackend>(const CsrMatrix &, double, int);
} // namespace femgpu::linalg
