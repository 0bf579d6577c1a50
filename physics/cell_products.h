#ifndef femgpu_physics_cell_products_h
#define femgpu_physics_cell_products_h

/**
 * @file
 * The loops in which cell matrices are made: for the vector instructions of the CPU.
 */
namespace femgpu
{
/// row_j += factor x_j, j < n
void add_multiple(int n, double factor, const double *x, double *row);

/// block_ij += left_i right_j, i, j < n, by rows
void add_outer_product(int n, const double *left, const double *right, double *block);
} // namespace femgpu

#endif
