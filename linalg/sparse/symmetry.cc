#include "linalg/sparse/symmetry.h"

#include "linalg/sparse/row_workspace.h"

namespace femgpu::linalg
{
template <class Backend>
bool is_symmetric(const PatternRef &pattern)
{
  if (pattern.n != pattern.n_columns)
    return false;
  Buffer<int> flags(pattern.executor, static_cast<std::size_t>(pattern.n));
  Runner<Backend>(*pattern.executor)
      .run(rows(pattern.n, [A = pattern.view, missing = flags.data()] FEMGPU_BODY(const int i) {
        int is_missing = 0;
        for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
          if (A.find_transposed(i, k) < 0)
            is_missing = 1;
        missing[i] = is_missing;
      }));
  return total_counts<Backend>(pattern.executor, flags.data(), pattern.n).sum == 0;
}

template <class Backend>
int first_unsymmetric_row(const CsrMatrix &matrix)
{
  Buffer<int> flags(matrix.executor(), static_cast<std::size_t>(matrix.n()));
  Runner<Backend>(*matrix.executor())
      .run(rows(matrix.n(),
                [A = matrix.csr_view(), is_unsymmetric = flags.data()] FEMGPU_BODY(const int i) {
                  constexpr double tolerance = 1e-12; // of the largest entry of both rows
                  const RowPatternView pattern{A.row_starts.low, A.columns};
                  int found = 0;
                  for (int k = A.row_starts.low[i]; k < A.row_starts.low[i + 1]; ++k) {
                    const int j = A.columns[k];
                    const int pair = pattern.find_transposed(i, k);
                    const double difference = fabs(A.values[k] - (pair < 0 ? 0. : A.values[pair]));
                    if (difference != 0. &&
                        !(difference <= tolerance * fmax(largest_entry(A, i), largest_entry(A, j))))
                      found = 1;
                  }
                  is_unsymmetric[i] = found;
                }));
  return first_flagged<Backend>(matrix.executor(), flags);
}

template bool is_symmetric<ThisBackend>(const PatternRef &);
template int first_unsymmetric_row<ThisBackend>(const CsrMatrix &);
} // namespace femgpu::linalg
