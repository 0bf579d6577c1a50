#ifndef femgpu_physics_cell_products_h
#define femgpu_physics_cell_products_h

#include <cstddef>

/**
 * @file
 * The loops in which cell matrices and values at points are made: for the vector instructions of
 * the CPU that the program runs on. Matrices are stored by rows, and those that results are made of
 * have padded() columns.
 */
namespace femgpu
{
/// A number of columns, of which those behind the first @p n have zeros.
constexpr int padded(const int n)
{
  return (n + 3) / 4 * 4;
}

/// R += A B with the n_rows x n_terms matrix A, the rows of which are @p stride apart.
void add_product(std::ptrdiff_t n_rows, std::ptrdiff_t n_columns, std::ptrdiff_t n_terms,
                 const double *A, std::ptrdiff_t stride, const double *B, double *R);

/// Row (r, q) of R = Σ_t c_rtq times row (t, q) of B, for n_points q.
void combine_rows(std::ptrdiff_t n_rows, std::ptrdiff_t n_columns, std::ptrdiff_t n_terms,
                  std::ptrdiff_t n_points, const double *c, const double *B, double *R);

/// y_r = Σ_t M_rt x_t at n points, r, t < dim; M_rt begins at r row + t term, x_t at t x_stride,
/// y_r at r y_stride.
void transform(std::ptrdiff_t n, std::ptrdiff_t dim, const double *M, std::ptrdiff_t row,
               std::ptrdiff_t term, const double *x, std::ptrdiff_t x_stride, double *y,
               std::ptrdiff_t y_stride);

/// The inverses of n Jacobians, J_ab = ∂x_a/∂ξ_b at J + a stride + b n, their entries ∂ξ_b/∂x_a at
/// (b dim + a) n, and their determinants.
void invert_jacobians(std::ptrdiff_t n, std::ptrdiff_t dim, const double *J, std::ptrdiff_t stride,
                      double *inverses, double *determinants);
} // namespace femgpu

#endif
