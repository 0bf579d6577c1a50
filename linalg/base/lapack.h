#ifndef femgpu_linalg_base_lapack_h
#define femgpu_linalg_base_lapack_h

#include <complex>
#include <vector>

/**
 * @file
 * LAPACK for small dense matrices on the host; all are by columns.
 */
namespace femgpu::linalg
{
/// The eigenvalues of the n x n upper Hessenberg matrix @p H, whose columns are @p ld long. Complex
/// ones come in pairs, the one above the real axis first. Empty if they cannot be found.
std::vector<std::complex<double>> hessenberg_eigenvalues(const std::vector<double> &H, int n,
                                                         int ld);

/// σ_max / σ_min of the p x p matrix @p A; infinity if it is singular or not finite.
double condition_number(std::vector<double> A, int p);
} // namespace femgpu::linalg

#endif
