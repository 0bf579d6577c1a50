#include "linalg/powers/scaled_matrix.h"

#include "linalg/operators/csr_matrix.h"

namespace femgpu::linalg
{
HostCopy::HostCopy(const Matrix &A, const DiagonalView &m)
{
  const CsrMatrix &csr = A.csr();
  const Executor &executor = *csr.executor();
  matrix.n = csr.n();
  matrix.row_starts = csr.host_row_starts();
  matrix.columns = csr.host_columns();
  matrix.values.resize(matrix.columns.size());
  executor.copy_to_host(matrix.values.data(), csr.csr_view().values,
                        matrix.values.size() * sizeof(double));
  copy.A = matrix.csr();
  copy.uniform = m.is_uniform() ? m.uniform : 1.;
  if (m.is_uniform())
    return;
  copy.m.resize(static_cast<std::size_t>(csr.n()));
  executor.copy_to_host(copy.m.data(), m.inverse, copy.m.size() * sizeof(double));
}
} // namespace femgpu::linalg
