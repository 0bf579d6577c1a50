#include "linalg/base/host_matrix.h"

#include "linalg/base/error.h"

#include <string>

namespace femgpu::linalg
{
void check_csr(const HostCsr &A)
{
  if (A.n < 0 || (A.n > 0 && A.row_starts[0] != 0))
    throw InputError("The row starts of a CSR matrix with " + std::to_string(A.n) +
                     " rows must begin with 0.");
  if (A.n > 0 && static_cast<std::size_t>(A.row_starts[A.n]) != A.n_nonzeros)
    throw InputError("The row starts of a CSR matrix end at " + std::to_string(A.row_starts[A.n]) +
                     ", but it has " + std::to_string(A.n_nonzeros) + " entries.");
  for (int i = 0; i < A.n; ++i) {
    if (A.row_starts[i + 1] < A.row_starts[i])
      throw InputError("Row " + std::to_string(i) + " of a CSR matrix has a negative length.");
    if (static_cast<std::size_t>(A.row_starts[i + 1]) > A.n_nonzeros)
      throw InputError("Row " + std::to_string(i) + " of a CSR matrix ends at entry " +
                       std::to_string(A.row_starts[i + 1]) + ", but there are only " +
                       std::to_string(A.n_nonzeros) + ".");
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      if (A.columns[k] < 0 || A.columns[k] >= A.n ||
          (k > A.row_starts[i] && A.columns[k] <= A.columns[k - 1]))
        throw InputError("Row " + std::to_string(i) + " of a CSR matrix with " +
                         std::to_string(A.n) + " columns has column " +
                         std::to_string(A.columns[k]) +
                         " where the columns must ascend within the matrix.");
  }
}

void HostMatrix::add(const int column, const double value)
{
  columns.push_back(column);
  values.push_back(value);
}

void HostMatrix::end_row()
{
  row_starts.push_back(static_cast<int>(columns.size()));
  ++n;
}
} // namespace femgpu::linalg
