#ifndef femgpu_linalg_orthogonalisation_gram_factors_h
#define femgpu_linalg_orthogonalisation_gram_factors_h

#include "linalg/orthogonalisation/small_factors.h"

/**
 * @file
 * Upper triangular factors R with RᵀR = B of a p x p Gram matrix B = VᵀV. One team of threads
 * (teams() in steps/steps.h) computes a factor.
 */
namespace femgpu::linalg
{
/// The result of a small factorisation.
struct FactorStatus
{
  int has_factor; ///< 1 if R was computed, else 0
  int is_finite;
  int failed_column; ///< column at which Cholesky's factorisation failed; p: none; -1: B is not
                     ///< finite or a diagonal entry is negative
  int n_floored;     ///< number of eigenvalues raised to their floor, see SingularValueFactor
};

/// Computes R by Cholesky's factorisation; R does not change if the factorisation fails.
struct CholeskyFactor
{
  static constexpr int team_size = 256, scratch = 0;
  int p;
  const double *B;
  double *R;
  FactorStatus *status;

  static int scratch_size(const int p)
  {
    return p * p + p;
  }

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, int /* item */) const
  {
    const SmallMatrix M{team.scratch(), p};
    double *const s = M.end();
    for (int k = team.rank(); k < p * p; k += team.size())
      M.data[k] = B[k];
    team.sync();
    const bool is_good = scale_to_unit_diagonal(team, M, s);
    const int failed = is_good ? cholesky(team, M) : -1;
    for (int k = team.rank(); failed == p && k < p * p; k += team.size())
      R[k] = k % p <= k / p ? M.data[k] * s[k / p] : 0.;
    if (team.rank() == 0)
      *status = {failed == p ? 1 : 0, is_good ? 1 : 0, failed, 0};
  }
};

/**
 * Computes R from the eigenvalues of B after scaling to unit diagonal, U Σ Uᵀ = S⁻¹ B S⁻¹: R is the
 * triangular factor in the QR factorisation of Σ^{1/2} Uᵀ S (Stathopoulos and Wu 2002; Yamazaki
 * 2014, V.D). Eigenvalues that are smaller than the rounding error of a zero eigenvalue are raised
 * to this floor. The diagonal of R is positive.
 */
struct SingularValueFactor
{
  static constexpr int team_size = 256, scratch = 0;
  int p;
  const double *B;
  double *R;
  FactorStatus *status;

  static int scratch_size(const int p)
  {
    return 2 * p * p + 3 * p + 2;
  }

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, int /* item */) const
  {
    const SmallMatrix M{team.scratch(), p}, U{M.end(), p};
    double *const s = U.end(), *const sigma = s + p;
    auto *const rotations = reinterpret_cast<Rotation *>(sigma + p);
    const double floor = 2. * p * 2. * rounding;
    for (int k = team.rank(); k < p * p; k += team.size()) {
      const int i = k % p, j = k / p;
      M(i, j) = i < j ? B[i + j * p] : B[j + i * p]; // symmetric to the last bit
    }
    team.sync();
    const bool is_good = scale_to_unit_diagonal(team, M, s);
    const bool has_converged =
        is_good && JacobiEigenvalues<Team>(team, M, U, rotations, floor).run();
    double floored = 0.;
    for (int k = team.rank(); k < p; k += team.size()) {
      floored += M(k, k) > floor ? 0. : 1.;
      sigma[k] = M(k, k) > floor ? M(k, k) : floor;
    }
    floored = team.sum(floored);
    team.sync();
    store_factor(team, M, U, s, sigma, is_good);
    if (team.rank() == 0)
      *status = {has_converged ? 1 : 0, is_good ? 1 : 0, p, static_cast<int>(floored)};
  }

private:
  template <class Team>
  FEMGPU_HD
  void store_factor(const Team &team, const SmallMatrix &W, const SmallMatrix &U, const double *s,
                    const double *sigma, const bool is_good) const
  {
    for (int k = team.rank(); k < p * p; k += team.size()) {
      const int i = k % p, j = k / p;
      W(i, j) = sqrt(sigma[i]) * U(j, i);
    }
    team.sync();
    triangularise(team, W);
    for (int k = team.rank(); is_good && k < p * p; k += team.size()) {
      const int i = k % p, j = k / p;
      R[k] = i > j ? 0. : W(i, i) < 0. ? -W(i, j) * s[j] : W(i, j) * s[j];
    }
  }
};

/// Computes R := R_2 R, where R is the factor of the first pass, V = Q R, and R_2 is the factor of
/// the second pass, Q = Q_2 R_2.
struct MultiplyTriangles
{
  static constexpr int team_size = 256, scratch = 0;
  int p;
  const double *R_2;
  double *R;

  static int scratch_size(const int p)
  {
    return p * p;
  }

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, int /* item */) const
  {
    const SmallMatrix old{team.scratch(), p};
    for (int k = team.rank(); k < p * p; k += team.size())
      old.data[k] = R[k];
    team.sync();
    for (int k = team.rank(); k < p * p; k += team.size()) {
      const int i = k % p, j = k / p;
      double sum = 0.;
      for (int l = i; l <= j; ++l)
        sum += R_2[i + l * p] * old(l, j);
      R[k] = sum;
    }
  }
};
} // namespace femgpu::linalg

#endif
