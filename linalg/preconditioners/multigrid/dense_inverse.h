#ifndef femgpu_linalg_preconditioners_multigrid_dense_inverse_h
#define femgpu_linalg_preconditioners_multigrid_dense_inverse_h

#include "linalg/operators/csr_matrix.h"
#include "linalg/preconditioners/multigrid/dense_panel.h"

#include <optional>

namespace femgpu::linalg
{
/// Consecutive rows of a dense matrix. The vector that they multiply starts with its entries in
/// these rows; the entries in all other rows follow.
struct DenseView
{
  int n, n_columns, first, lanes;
  const double *values; ///< n x n_columns

  FEMGPU_HD
  int row(const int position) const
  {
    return position;
  }
  FEMGPU_HD
  double row_product(const int i, const int lane, const int n_lanes, const double *v) const
  {
    const double *const row = values + static_cast<std::size_t>(i) * n_columns;
    double sum = 0.;
    for (int j = lane; j < n_columns; j += n_lanes)
      sum += row[j] * v[j < first ? n + j : j < first + n ? j - first : j];
    return sum;
  }
};

/// A⁻¹ as a dense matrix. If A is distributed, each rank stores all of A⁻¹ and multiplies its own
/// rows; the other rows of the vector are ghosts.
template <class Backend>
class DenseInverse final : public ViewedOperator<DenseView>
{
public:
  /**
   * Inverts A. Collective over all ranks.
   * @param A should have at most a few hundred rows, because its inverse takes n² entries and n³
   * operations
   * @param is_symmetric whether A is symmetric up to rounding; A⁻¹ is then exactly symmetric
   */
  DenseInverse(const CsrMatrix &A, bool is_symmetric);

  View view() const override
  {
    const auto first = static_cast<int>(range()->first());
    return DenseView{n(), n_all, first, threads_for_rows(*executor(), n_all),
                     entries.data() + static_cast<std::size_t>(first) * n_all};
  }
  const double *prepare(StepRunner &runner, double *v) const override;
  std::size_t bytes() const
  {
    return entries.bytes();
  }

  /**
   * Replaces A by a matrix of the same size and inverts it. A symmetric positive semidefinite A is
   * inverted by Cholesky factors (cholesky_inverse.h), any other A by elimination with partial
   * pivoting (pivoted_inverse.h). If A counts as singular (see singular_pivot in dense_panel.h),
   * the result is a generalised inverse. Collective over all ranks.
   */
  void update(const CsrMatrix &A);

  /// Returns the rank deficiency of A: the number of pivots that counted as zero.
  int rank_deficiency() const
  {
    return deficiency;
  }

  Buffer<double> entries; ///< entries of A⁻¹, n_all x n_all, row by row

private:
  void fill(const CsrMatrix &A, DensePanel X) const;
  void gather_rows(DensePanel X) const;
  bool invert_by_cholesky(DensePanel X);

  int n_all; ///< global number of rows
  bool symmetric;
  int deficiency = 0;
  std::optional<RowSpace> all_rows; ///< if distributed: all rows, with other ranks' rows as ghosts
  mutable Buffer<double> gathered;  ///< a vector of all_rows; used by one solver at a time
};
} // namespace femgpu::linalg

#endif
