#include "linalg/powers/scaled_matrix.h"

#include "linalg/execution/this_backend.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/sparse/overlapping_rows.h"

#include <utility>

namespace femgpu::linalg
{
namespace
{
HostMatrix host_matrix(const CsrMatrix &A)
{
  HostMatrix result;
  result.n = A.n();
  result.row_starts = A.host_row_starts();
  result.columns = A.host_columns();
  result.values.resize(result.columns.size());
  A.executor()->copy_to_host(result.values.data(), A.csr_view().values,
                             result.values.size() * sizeof(double));
  return result;
}

/// Renumbers a matrix from global order, with own rows from @p first on, to the order of a rank:
/// own rows, then ghosts.
HostMatrix own_rows_first(const HostMatrix &A, const int first, const int n_own)
{
  const auto old_number = [&](const int i) {
    return i < n_own ? first + i : i < n_own + first ? i - n_own : i;
  };
  const auto new_number = [&](const int i) {
    return i < first ? n_own + i : i < first + n_own ? i - first : i;
  };
  const RowStarts row_starts = A.csr().row_starts;
  HostMatrix result;
  result.columns.reserve(A.columns.size());
  result.values.reserve(A.values.size());
  for (int i = 0; i < A.n; ++i) {
    const int row = old_number(i);
    for (std::size_t k = row_starts[row]; k < row_starts[row + 1]; ++k)
      result.add(new_number(A.columns[k]), A.values[k]);
    result.end_row();
  }
  return result;
}
} // namespace

template <>
std::shared_ptr<const HostCopy> copy_to_host<ThisBackend>(const Matrix &A, const DiagonalView &m,
                                                          const int depth)
{
  std::shared_ptr<HostCopy> copy;
  if (A.domain()->communicator() != nullptr) {
    const OverlappingRows<ThisBackend> overlapping_rows(A.csr(), depth);
    copy = std::make_shared<HostCopy>(
        own_rows_first(host_matrix(overlapping_rows.matrix()), overlapping_rows.first(), A.n()),
        std::make_shared<RowSpace>(*A.range(), overlapping_rows.overlap_rows()));
  }
  else if (A.csr().is_on_host())
    copy = std::make_shared<HostCopy>(A.csr().view_on_host(), A.domain());
  else
    copy = std::make_shared<HostCopy>(host_matrix(A.csr()), A.domain());
  ScaledMatrix &scaled = copy->scaled;
  scaled.uniform = m.is_uniform() ? m.uniform : 1.;
  if (copy->space->max(m.is_uniform() ? 0. : 1.) > 0.) // a rank without rows has a uniform m
    scaled.m = copy->space->with_ghosts(m.inverse).to_host();
  return copy;
}
} // namespace femgpu::linalg
