#include "linalg/execution/host_runner.h"
#include "linalg/matrices/transpose.h"

namespace femgpu::linalg
{
template <class Backend>
std::unique_ptr<CsrMatrix> transpose(const CsrMatrix &A)
{
  const CsrView<double> view = A.csr_view();
  const auto n = static_cast<std::size_t>(A.n());
  Buffer<int> row_starts(A.executor(), n + 1), columns(A.executor(), A.n_nonzeros());
  Buffer<double> values(A.executor(), A.n_nonzeros());
  int *const starts = row_starts.data();
  row_starts.fill_zero();
  for (std::size_t k = 0; k < A.n_nonzeros(); ++k)
    ++starts[view.columns[k] + 1];
  for (std::size_t i = 0; i < n; ++i)
    starts[i + 1] += starts[i];
  std::vector<int> next(starts, starts + n);
  for (int i = 0; i < A.n(); ++i)
    for (int k = view.row_starts[i]; k < view.row_starts[i + 1]; ++k) {
      const int at = next[view.columns[k]]++;
      columns.data()[at] = i;
      values.data()[at] = view.values[k];
    }
  return std::make_unique<CsrMatrix>(A.executor(), std::move(row_starts), std::move(columns),
                                     std::move(values));
}

template std::unique_ptr<CsrMatrix> transpose<HostBackend>(const CsrMatrix &);
} // namespace femgpu::linalg
