#include "linalg/base/host_matrix.h"

#include "linalg/base/error.h"

#include <string>

namespace femgpu::linalg
{
RowStarts::RowStarts(const int *const low, const int n, const std::size_t n_entries) : low(low)
{
  if (n_entries >> 32U == 0)
    return;
  if (n_entries > max_entries)
    throw ParameterError("A matrix with " + std::to_string(n_entries) +
                         " entries is too large: the limit is " + std::to_string(max_entries) +
                         " entries. Use fewer unknowns.");
  for (int i = 0, found = 0; i < n && found < n_crossings; ++i)
    if (static_cast<unsigned int>(low[i + 1]) < static_cast<unsigned int>(low[i]))
      crossings[found++] = i + 1;
}

void check_csr(const HostCsr &A)
{
  if (A.n < 0 || (A.n > 0 && A.row_starts[0] != 0))
    throw InputError("The row starts of a CSR matrix with " + std::to_string(A.n) +
                     " rows must begin with 0.");
  if (A.n > 0 && A.row_starts[A.n] != A.n_nonzeros)
    throw InputError("The row starts of a CSR matrix end at " + std::to_string(A.row_starts[A.n]) +
                     ", but it has " + std::to_string(A.n_nonzeros) + " entries.");
  for (int i = 0; i < A.n; ++i) {
    if (A.row_starts.length(i) < 0)
      throw InputError("Row " + std::to_string(i) + " of a CSR matrix has a negative length.");
    if (A.row_starts[i + 1] > A.n_nonzeros)
      throw InputError("Row " + std::to_string(i) + " of a CSR matrix ends at entry " +
                       std::to_string(A.row_starts[i + 1]) + ", but there are only " +
                       std::to_string(A.n_nonzeros) + ".");
    const RowEntries<double> row = A.entries(i);
    for (int k = 0; k < row.length; ++k)
      if (row.columns[k] < 0 || row.columns[k] >= A.n ||
          (k > 0 && row.columns[k] <= row.columns[k - 1]))
        throw InputError("Row " + std::to_string(i) + " of a CSR matrix with " +
                         std::to_string(A.n) + " columns has column " +
                         std::to_string(row.columns[k]) +
                         " out of range or not in ascending order.");
  }
}

void HostMatrix::add(const int column, const double value)
{
  columns.push_back(column);
  values.push_back(value);
}

void HostMatrix::end_row()
{
  row_starts.push_back(low_bits(columns.size()));
  ++n;
}

HostCsr HostMatrix::csr() const
{
  const std::size_t n_coordinates = unknowns->coordinates.size();
  if (n_coordinates > 0 && n_coordinates != static_cast<std::size_t>(n) * unknowns->dimension)
    throw InputError("A matrix with " + std::to_string(n) + " rows has " +
                     std::to_string(n_coordinates) + " coordinates, but each row needs " +
                     std::to_string(unknowns->dimension) + ".");
  if (unknowns->near_null.size() != static_cast<std::size_t>(n) * unknowns->n_near_null)
    throw InputError("A matrix with " + std::to_string(n) + " rows has near-null vectors with " +
                     std::to_string(unknowns->near_null.size()) + " numbers, but each row needs " +
                     std::to_string(unknowns->n_near_null) + ".");
  return {n,
          columns.size(),
          {row_starts.data(), n, columns.size()},
          columns.data(),
          values.data(),
          unknowns};
}
} // namespace femgpu::linalg
