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
 * A square CSR matrix in host memory that somebody else owns: what formats are built from.
 * Columns ascend within each row. Of a matrix in parts these may be the rows of one part.
 */
struct HostCsr
{
  int n = 0;
  std::size_t n_nonzeros = 0;
  RowStarts row_starts;           ///< n+1
  const int *columns = nullptr;   ///< n_nonzeros
  const double *values = nullptr; ///< n_nonzeros

  UnknownsPtr unknowns = nothing_known; ///< of its rows; never nullptr

  /// Of one part: columns from n on are ghosts, rows of others; nullptr: all rows are here.
  const GhostPlan *ghosts = nullptr;

  /// Rows that belong to a node; 1 where nodes are not known.
  int node_size() const
  {
    const int b = unknowns->per_node;
    return b > 1 && n % b == 0 ? b : 1;
  }

  /// Of row @p i; without values where the matrix has none.
  RowEntries<double> entries(const int i) const
  {
    const std::size_t begin = row_starts[i];
    return {row_starts.length(i), columns + begin, values == nullptr ? nullptr : values + begin};
  }
};

/**
 * Throws InputError that names the row if @p A is no CSR matrix: row starts that do not begin at 0,
 * fall, or do not end at n_nonzeros; columns out of range or not ascending. Reads all of A once.
 */
void check_csr(const HostCsr &A);

/// A square CSR matrix that owns its host memory.
struct HostMatrix
{
  int n = 0;
  std::vector<int> row_starts = {0}; ///< n+1, their low 32 bits
  std::vector<int> columns;          ///< ascending in each row
  std::vector<double> values;
  UnknownsPtr unknowns = nothing_known;

  /// Appends an entry to the row that is being filled.
  void add(int column, double value);
  void end_row();

  /// @throws InputError for coordinates that are not dimension numbers a row
  HostCsr csr() const;
};
} // namespace femgpu::linalg

#endif
