#ifndef femgpu_linalg_powers_krylov_basis_h
#define femgpu_linalg_powers_krylov_basis_h

#include "linalg/powers/matrix_powers.h"

#include <complex>
#include <vector>

namespace femgpu::linalg
{
/**
 * The first @p count values in the order of Leja: the value of largest modulus first, then always
 * the one whose product of distances from those before is largest. The two of a complex pair stay
 * together, the one above the real axis first (Bai, Hu and Reichel 1994; Yamazaki et al. 2014,
 * §IV.A): so there may be one more.
 * @param values as hessenberg_eigenvalues() gives them
 */
std::vector<std::complex<double>> leja_order(std::vector<std::complex<double>> values, int count);

/// Newton's basis of @p n_steps vectors with the Ritz values @p ritz as shifts, in Leja's order. A
/// shorter basis is its beginning. Monomials where there are no values.
std::vector<BasisStep> newton_basis(const std::vector<std::complex<double>> &ritz, int n_steps);

/// Monomials, divided by the largest modulus of @p ritz each, so that they do not overflow.
std::vector<BasisStep> monomial_basis(const std::vector<std::complex<double>> &ritz, int n_steps);
} // namespace femgpu::linalg

#endif
