#ifndef femgpu_tests_linalg_test_matrices_h
#define femgpu_tests_linalg_test_matrices_h

#include "linalg/base/host_matrix.h"

#include <vector>

namespace femgpu::linalg::test
{
/// Returns the sparse matrix with the nonzero entries of the dense matrix @p rows.
HostMatrix dense(const std::vector<std::vector<double>> &rows);
HostMatrix diagonal(const std::vector<double> &entries);

/// Return the Laplacian on a line, a rectangle and a box with Dirichlet values on all sides. The
/// diagonal entries are 2, 4 and 6; the off-diagonal entries are -1.
HostMatrix laplacian_1d(int n);
HostMatrix laplacian_2d(int nx, int ny);
HostMatrix laplacian_3d(int nx, int ny, int nz);

/// Returns a matrix with 26 on the diagonal and -1 for each of up to 26 neighbours in a box: rows
/// have 8 to 27 entries.
HostMatrix box_27(int nx, int ny, int nz);

/// Discretises -Δu + (wx, wy)·∇u by upwind differences in a rectangle with unit spacing;
/// unsymmetric.
HostMatrix convection_diffusion(int nx, int ny, double wx, double wy);

/// Returns an unsymmetric, strictly diagonally dominant matrix with the pattern of random_spd().
HostMatrix random_dominant(int n, int per_row, unsigned int seed);

/// Returns the singular Laplacian on a line with Neumann ends, whose kernel contains the constants.
HostMatrix neumann_1d(int n);

/// Returns a symmetric, strictly diagonally dominant matrix with about @p per_row off-diagonal
/// entries per row.
HostMatrix random_spd(int n, int per_row, unsigned int seed);

/// Returns a symmetric positive definite matrix with a full first row and column and a diagonal.
HostMatrix arrow(int n);

/// Returns a matrix with 4 on the diagonal and -1 in column 10000 (i mod (last + 1)) of row i:
/// neighbouring rows have entries in @p last + 1 distant ranges of columns.
HostMatrix far_diagonal(int n, int last);

/// Returns a matrix in which every third row is empty and the other rows have one to four entries
/// with small integers.
HostMatrix with_empty_rows(int n);

/// Returns a matrix with the pattern of @p pattern and integers from -8 to 8, so that sums are
/// exact in any order.
HostMatrix with_integer_values(HostMatrix pattern, unsigned int seed);

/// Returns numbers in [-1, 1), the same on every machine.
std::vector<double> random_vector(int n, unsigned int seed);
std::vector<double> integer_vector(int n, unsigned int seed);

/// Returns A v, summed row by row from left to right.
std::vector<double> multiply(const HostMatrix &A, const std::vector<double> &v);

double norm(const std::vector<double> &v);
double residual_norm(const HostMatrix &A, const std::vector<double> &b,
                     const std::vector<double> &x);
/// Returns max |a_i - b_i| / max |b_i|.
double relative_difference(const std::vector<double> &a, const std::vector<double> &b);
} // namespace femgpu::linalg::test

#endif
