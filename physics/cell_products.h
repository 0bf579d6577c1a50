#ifndef femgpu_physics_cell_products_h
#define femgpu_physics_cell_products_h

#include <cstddef>

/**
 * @file
 * Kernels that compute cell matrices and values at points, vectorised for the CPU that runs the
 * program. Matrices are stored by rows. Factors and results have padded() columns.
 */
namespace femgpu
{
/// Returns @p n rounded up to a multiple of 4. Columns from @p n on are padding and contain zeros.
constexpr int padded(const int n)
{
  return (n + 3) / 4 * 4;
}

/// Computes R += A B with the n_rows x n_terms matrix A, whose rows are @p stride apart.
void add_product(std::ptrdiff_t n_rows, std::ptrdiff_t n_columns, std::ptrdiff_t n_terms,
                 const double *A, std::ptrdiff_t stride, const double *B, double *R);

/// Computes R, whose row (r, q) is Σ_t c_rtq times row (t, q) of B, for n_points values of q.
void combine_rows(std::ptrdiff_t n_rows, std::ptrdiff_t n_columns, std::ptrdiff_t n_terms,
                  std::ptrdiff_t n_points, const double *c, const double *B, double *R);

/// Computes y_r = Σ_t M_rt x_t at n points, r, t < dim. The values at the points start at
/// M + r row + t term for M_rt, at x + t x_stride for x_t and at y + r y_stride for y_r.
void transform(std::ptrdiff_t n, std::ptrdiff_t dim, const double *M, std::ptrdiff_t row,
               std::ptrdiff_t term, const double *x, std::ptrdiff_t x_stride, double *y,
               std::ptrdiff_t y_stride);

/// Inverts n Jacobians. J_ab = ∂x_a/∂ξ_b is at J + a stride + b n. Stores the entries ∂ξ_b/∂x_a of
/// the inverses at (b dim + a) n, and the determinants.
void invert_jacobians(std::ptrdiff_t n, std::ptrdiff_t dim, const double *J, std::ptrdiff_t stride,
                      double *inverses, double *determinants);
} // namespace femgpu

#endif
