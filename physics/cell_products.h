#ifndef femgpu_physics_cell_products_h
#define femgpu_physics_cell_products_h

#include <cstddef>

/**
 * @file
 * Kernels that compute cell matrices and values at points, vectorised for the CPU that runs the
 * program. Matrices are stored by rows. The matrices B and R have padded() columns.
 */
namespace femgpu
{
/// Returns @p n rounded up to a multiple of 4. Columns from @p n on are padding and contain zeros.
constexpr int padded(const int n)
{
  return (n + 3) / 4 * 4;
}

/// Computes R += A B with the n_rows x n_terms matrix A, whose rows start @p stride numbers apart.
void add_product(std::ptrdiff_t n_rows, std::ptrdiff_t n_columns, std::ptrdiff_t n_terms,
                 const double *A, std::ptrdiff_t stride, const double *B, double *R);

/// Computes R, whose row (r, q) is Σ_t c_rtq times row (t, q) of B, for n_points values of q.
void combine_rows(std::ptrdiff_t n_rows, std::ptrdiff_t n_columns, std::ptrdiff_t n_terms,
                  std::ptrdiff_t n_points, const double *c, const double *B, double *R);

/// Computes y_r = Σ_t M_rt x_t at n points, for r, t < dim. The n values of M_rt start at
/// M + r * row + t * term, those of x_t at x + t * x_stride, and those of y_r at y + r * y_stride.
void transform(std::ptrdiff_t n, std::ptrdiff_t dim, const double *M, std::ptrdiff_t row,
               std::ptrdiff_t term, const double *x, std::ptrdiff_t x_stride, double *y,
               std::ptrdiff_t y_stride);

/// Inverts n Jacobians. The n values of J_ab = ∂x_a/∂ξ_b start at J + a * stride + b * n. Stores
/// the n values of ∂ξ_b/∂x_a from inverses + (b * dim + a) * n on, and the determinants.
void invert_jacobians(std::ptrdiff_t n, std::ptrdiff_t dim, const double *J, std::ptrdiff_t stride,
                      double *inverses, double *determinants);
} // namespace femgpu

#endif
