#ifndef femgpu_physics_cell_products_h
#define femgpu_physics_cell_products_h

#include <cstddef>

/**
 * @file
 * The loops in which cell matrices and values at points are made: for the vector instructions of
 * the CPU that the program runs on.
 */
namespace femgpu
{
/// row_j += Σ_k factors_k x_kj, j < n, k < n_terms; row k of x begins at x + k stride.
void add_combination(int n, int n_terms, const double *factors, const double *x,
                     std::ptrdiff_t stride, double *row);

/// block_ij += left_i right_j, i, j < n, by rows
void add_outer_product(int n, const double *left, const double *right, double *block);
} // namespace femgpu

#endif
