#ifndef femgpu_physics_row_reduction_h
#define femgpu_physics_row_reduction_h

#include <deal.II/lac/full_matrix.h>

#include <vector>

namespace femgpu
{
/// The order in which row_reduce() eliminates columns.
enum class Pivots
{
  by_size,   ///< the column with the largest remaining entry first, for small rounding errors
  by_columns ///< from the first column to the last: the reduced row echelon form, which is unique
};

/**
 * Performs Gauss-Jordan elimination in the first @p n_columns columns of @p A. On return, the r-th
 * pivot column has 1 in row r and 0 in all other rows, and the rows beyond the rank are 0 in the
 * first @p n_columns columns.
 * @param tolerance entries of at most this magnitude count as zero
 * @return the pivot columns; their number is the rank
 */
std::vector<unsigned int> row_reduce(dealii::FullMatrix<double> &A, unsigned int n_columns,
                                     Pivots order, double tolerance);
} // namespace femgpu

#endif
