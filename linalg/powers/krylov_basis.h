#ifndef femgpu_linalg_powers_krylov_basis_h
#define femgpu_linalg_powers_krylov_basis_h

#include "linalg/powers/matrix_powers.h"

#include <complex>
#include <vector>

namespace femgpu::linalg
{
/**
 * Returns the first @p count values in Leja order: the value of largest modulus first, then always
 * the one with the largest product of distances from the previous ones. Complex pairs stay
 * together, the value above the real axis first (Bai, Hu and Reichel 1994; Yamazaki et al. 2014,
 * §IV.A); hence the result may have one value more than @p count.
 * @param values from hessenberg_eigenvalues()
 */
std::vector<std::complex<double>> leja_order(std::vector<std::complex<double>> values, int count);

/// Returns @p n_steps steps of the Newton basis with the Ritz values @p ritz as shifts, in Leja
/// order. The steps of a shorter basis are a prefix of these steps. Without Ritz values the basis
/// is monomial.
std::vector<BasisStep> newton_basis(const std::vector<std::complex<double>> &ritz, int n_steps);

/// Returns @p n_steps steps of the monomial basis. Each step divides by the largest modulus of @p
/// ritz to prevent overflow.
std::vector<BasisStep> monomial_basis(const std::vector<std::complex<double>> &ritz, int n_steps);
} // namespace femgpu::linalg

#endif
