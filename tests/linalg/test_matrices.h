#ifndef femgpu_tests_linalg_test_matrices_h
#define femgpu_tests_linalg_test_matrices_h

#include "linalg/base/host_matrix.h"

#include <vector>

namespace femgpu::linalg::test
{
/// The non-zero entries of @p rows.
HostMatrix dense(const std::vector<std::vector<double>> &rows);
HostMatrix diagonal(const std::vector<double> &entries);

/// (2, -1) on a line, (4, -1) in a rectangle, (6, -1) in a box: Dirichlet values on all sides.
HostMatrix laplacian_1d(int n);
HostMatrix laplacian_2d(int nx, int ny);
HostMatrix laplacian_3d(int nx, int ny, int nz);

/// 26 on the diagonal, -1 for each of the up to 26 neighbours in a box: rows of 8 to 27 entries.
HostMatrix box_27(int nx, int ny, int nz);

/// Unsymmetric: -Δu + (wx, wy)·∇u in a rectangle with unit spacing, upwind differences.
HostMatrix convection_diffusion(int nx, int ny, double wx, double wy);

/// Unsymmetric, strictly diagonally dominant: the pattern of random_spd().
HostMatrix random_dominant(int n, int per_row, unsigned int seed);

/// Singular: the Laplacian on a line with Neumann ends, whose kernel are the constants.
HostMatrix neumann_1d(int n);

/// Symmetric, strictly diagonally dominant; about @p per_row entries beside the diagonal.
HostMatrix random_spd(int n, int per_row, unsigned int seed);

/// Symmetric positive definite: a full first row and column, else only a diagonal.
HostMatrix arrow(int n);

/// 4 on the diagonal, -1 in column 10000 (i mod (last + 1)) of row i: neighbouring rows have
/// entries in so many distant places, and one more.
HostMatrix far_diagonal(int n, int last);

/// Every third row has no entry at all, the others one to four with small integer values.
HostMatrix with_empty_rows(int n);

/// Integers from -8 to 8 where @p pattern has entries: any order of summation is exact.
HostMatrix with_integer_values(HostMatrix pattern, unsigned int seed);

/// In [-1, 1), the same on every machine.
std::vector<double> random_vector(int n, unsigned int seed);
std::vector<double> integer_vector(int n, unsigned int seed);

/// A v, row by row, left to right.
std::vector<double> multiply(const HostMatrix &A, const std::vector<double> &v);

double norm(const std::vector<double> &v);
double residual_norm(const HostMatrix &A, const std::vector<double> &b,
                     const std::vector<double> &x);
/// max |a_i - b_i| / max |b_i|
double relative_difference(const std::vector<double> &a, const std::vector<double> &b);
} // namespace femgpu::linalg::test

#endif
