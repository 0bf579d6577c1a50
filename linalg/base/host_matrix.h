#ifndef femgpu_linalg_base_host_matrix_h
#define femgpu_linalg_base_host_matrix_h

#include "linalg/base/row_starts.h"
#include "linalg/base/unknowns.h"

#include <cstddef>
#include <vector>

namespace femgpu::linalg
{
struct GhostPlan;

/**
 * A square CSR matrix in host memory, owned by the caller, from which formats are built. Columns
 * are in ascending order within each row. Of a distributed matrix these are the rows of one rank.
 */
struct HostCsr
{
  int n = 0;
  std::size_t n_nonzeros = 0;
  RowStarts row_starts;           ///< n+1
  const int *columns = nullptr;   ///< n_nonzeros
  const double *values = nullptr; ///< n_nonzeros

  UnknownsPtr unknowns = default_unknowns; ///< of the rows; never nullptr

  /// On several ranks: columns from n on are ghosts, rows of other ranks; nullptr: all rows are
  /// here.
  const GhostPlan *ghosts = nullptr;

  /// Returns the number of rows per node; 1 if nodes are not known.
  int node_size() const
  {
    const int b = unknowns->per_node;
    return b > 1 && n % b == 0 ? b : 1;
  }

  /// Returns the entries of row @p i; their values are nullptr if the matrix has none.
  RowEntries<double> entries(const int i) const
  {
    const std::size_t begin = row_starts[i];
    return {row_starts.length(i), columns + begin, values == nullptr ? nullptr : values + begin};
  }
};

/**
 * Throws InputError, which names the row, if @p A is not a valid CSR matrix: row starts do not
 * begin at 0, decrease, or do not end at n_nonzeros; columns are out of range or not ascending.
 * Reads all of A once.
 */
void check_csr(const HostCsr &A);

/// A square CSR matrix that owns its host memory.
struct HostMatrix
{
  int n = 0;
  std::vector<int> row_starts = {0}; ///< n+1; low 32 bits
  std::vector<int> columns;          ///< ascending within each row
  std::vector<double> values;
  UnknownsPtr unknowns = default_unknowns;

  /// Appends an entry to the current row.
  void add(int column, double value);
  void end_row();

  /// @throws InputError if the number of coordinates is not the dimension times the number of rows
  HostCsr csr() const;
};
} // namespace femgpu::linalg

#endif
