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
 * A view of a square CSR matrix in host memory, from which matrix formats are built. Columns are in
 * ascending order within each row. If the matrix is distributed, the view has the rows of one rank.
 */
struct HostCsr
{
  int n = 0;
  std::size_t n_nonzeros = 0;
  RowStarts row_starts;           ///< n + 1 row starts
  const int *columns = nullptr;   ///< n_nonzeros columns
  const double *values = nullptr; ///< n_nonzeros values; nullptr: pattern only

  UnknownsPtr unknowns = default_unknowns; ///< properties of the rows; never nullptr

  /// The plan that updates the ghosts: the columns from n on, which belong to rows of other ranks.
  /// It is nullptr if all rows are on this rank.
  const GhostPlan *ghosts = nullptr;

  /// Returns the number of rows per node; 1 if it is unknown or does not divide n.
  int node_size() const
  {
    const int b = unknowns->per_node;
    return b > 1 && n % b == 0 ? b : 1;
  }

  /// Returns the entries of row @p i; the values are nullptr if the matrix has no values.
  RowEntries<double> entries(const int i) const
  {
    const std::size_t begin = row_starts[i];
    return {row_starts.length(i), columns + begin, values == nullptr ? nullptr : values + begin};
  }
};

/**
 * Throws InputError if @p A is not a valid CSR matrix, that is, if its row starts decrease, do not
 * begin with 0 or do not end with n_nonzeros, or if its columns are out of range or not ascending.
 * If a single row is invalid, the message gives its number. Reads all of A once.
 */
void check_csr(const HostCsr &A);

/// A square CSR matrix that owns its host memory.
struct HostMatrix
{
  int n = 0;
  std::vector<int> row_starts = {0}; ///< low 32 bits of the n + 1 row starts
  std::vector<int> columns;          ///< ascending within each row
  std::vector<double> values;
  UnknownsPtr unknowns = default_unknowns;

  /// Appends an entry to the current row.
  void add(int column, double value);
  void end_row();

  /// Returns a view of this matrix.
  /// @throws InputError if the number of coordinates is not the dimension times the number of rows,
  /// or the size of the near-null vectors not their number times the number of rows
  HostCsr csr() const;
};
} // namespace femgpu::linalg

#endif
