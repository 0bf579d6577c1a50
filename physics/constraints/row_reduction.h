#ifndef femgpu_physics_row_reduction_h
#define femgpu_physics_row_reduction_h

#include <deal.II/lac/full_matrix.h>

#include <vector>

namespace femgpu
{
/// The order in which row_reduce() eliminates columns.
enum class Pivots
{
  by_size,   ///< the largest entry first, of equal ones the first column's: the best rounding
  by_columns ///< from the first column on: the reduced row echelon form, which is unique
};

/**
 * Gauss-Jordan elimination in the first @p n_columns columns of @p A: row r gets 1 in column
 * pivots[r], where all other rows get 0. Rows that depend on others become zero there.
 * @param tolerance entries of at most this size count as zero
 * @return the pivots' columns, as many as the rank
 */
std::vector<unsigned int> row_reduce(dealii::FullMatrix<double> &A, unsigned int n_columns,
                                     Pivots order, double tolerance);
} // namespace femgpu

#endif
