#ifndef femgpu_linalg_preconditioners_multigrid_dense_inverse_h
#define femgpu_linalg_preconditioners_multigrid_dense_inverse_h

#include "linalg/operators/csr_matrix.h"

namespace femgpu::linalg
{
/// A full matrix with n columns, row by row.
struct DenseView
{
  int n, lanes;
  const double *values; ///< n²

  FEMGPU_HD
  int row(const int position) const
  {
    return position;
  }
  FEMGPU_HD
  double row_product(const int i, const int lane, const int n_lanes, const double *v) const
  {
    const double *const row = values + static_cast<std::size_t>(i) * n;
    double sum = 0.;
    for (int j = lane; j < n; j += n_lanes)
      sum += row[j] * v[j];
    return sum;
  }
};

/// A⁻¹ as a full matrix.
template <class Backend>
class DenseInverse final : public ViewedOperator<DenseView>
{
public:
  /// @param A some hundred rows: n² entries and n³ operations
  explicit DenseInverse(const CsrMatrix &A);

  View view() const override
  {
    return DenseView{n(), threads_for_rows(*executor(), n()), entries.data()};
  }
  std::size_t bytes() const
  {
    return entries.bytes();
  }

  /**
   * Inverts by sweeps (Gauss-Jordan, in place) of some pivots at a time, without an exchange of
   * rows, as symmetric positive definite matrices need none. A pivot of which less than 1e-12 is
   * left is that of a singular A: its row and column are 0 then, which makes a generalised inverse
   * that is symmetric as A is.
   */
  void update(const CsrMatrix &A);

  /// Rows of which A is singular.
  int n_singular() const
  {
    return defects;
  }

  Buffer<double> entries; ///< n², row by row

private:
  int defects = 0;
};
} // namespace femgpu::linalg

#endif
