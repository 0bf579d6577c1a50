#ifndef femgpu_linalg_base_lapack_h
#define femgpu_linalg_base_lapack_h

#include <complex>
#include <vector>

/**
 * @file
 * LAPACK for small dense matrices on the host, stored in column-major order.
 */
namespace femgpu::linalg
{
/// Returns the eigenvalues of the n x n upper Hessenberg matrix @p H with leading dimension @p ld.
/// Complex eigenvalues come in conjugate pairs, positive imaginary part first. The result is empty
/// if LAPACK does not converge.
std::vector<std::complex<double>> hessenberg_eigenvalues(const std::vector<double> &H, int n,
                                                         int ld);

/// Returns σ_max / σ_min of the p x p matrix @p A; infinity if A is singular or not finite, or if
/// LAPACK does not converge.
double condition_number(std::vector<double> A, int p);
} // namespace femgpu::linalg

#endif
