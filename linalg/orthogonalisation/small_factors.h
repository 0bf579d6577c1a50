#ifndef femgpu_linalg_orthogonalisation_small_factors_h
#define femgpu_linalg_orthogonalisation_small_factors_h

#include "linalg/base/host_device.h"

#include <cstddef>

/**
 * @file
 * Factorisations of small dense p x p matrices, p <= 64, by one team of threads (teams() in
 * steps/steps.h) in its scratch memory. All threads of the team call these functions, and all
 * receive the result.
 */
namespace femgpu::linalg
{
/// A square matrix, stored by columns.
struct SmallMatrix
{
  double *data;
  int p;

  FEMGPU_HD
  double &operator()(const int i, const int j) const
  {
    return data[i + j * p];
  }
  FEMGPU_HD
  double *end() const
  {
    return data + static_cast<std::size_t>(p) * static_cast<std::size_t>(p);
  }
};

constexpr double rounding = 0x1p-53; ///< relative error of one operation

FEMGPU_HD
bool is_finite(const double x)
{
  return x - x == 0.;
}

/// Computes B := S⁻¹ B S⁻¹ with S = diag(s) and s_j = √B_jj, so that the diagonal is one. Zero
/// columns of B have s_j = 1 and do not change. Returns whether B is finite and no diagonal entry
/// is negative.
template <class Team>
FEMGPU_HD
bool scale_to_unit_diagonal(const Team &team, const SmallMatrix &B, double *s)
{
  double n_bad = 0.;
  for (int k = team.rank(); k < B.p * B.p; k += team.size())
    n_bad += is_finite(B.data[k]) ? 0. : 1.;
  for (int j = team.rank(); j < B.p; j += team.size()) {
    n_bad += B(j, j) < 0. ? 1. : 0.;
    s[j] = B(j, j) > 0. ? sqrt(B(j, j)) : 1.;
  }
  n_bad = team.sum(n_bad);
  team.sync();
  for (int k = team.rank(); k < B.p * B.p; k += team.size()) {
    const int i = k % B.p, j = k / B.p;
    if (i != j)
      B.data[k] = B.data[k] / s[i] / s[j];
    else
      B.data[k] = B.data[k] > 0. ? 1. : 0.;
  }
  team.sync();
  return n_bad == 0.;
}

/**
 * Computes R with RᵀR = B for a matrix B with unit diagonal; R overwrites the upper triangle of B.
 * Rounding turns a zero pivot into about p ε, so that the factorisation fails at the first pivot
 * that is not greater than 4 p ε. Returns the column of this pivot, or p if there is none.
 */
template <class Team>
FEMGPU_HD
int cholesky(const Team &team, const SmallMatrix &B)
{
  const int p = B.p;
  const double min_pivot = 4. * p * 2. * rounding;
  for (int k = 0; k < p; ++k) {
    const double pivot = B(k, k);
    if (!(pivot > min_pivot))
      return k;
    team.sync();
    const double root = sqrt(pivot);
    for (int j = k + team.rank(); j < p; j += team.size())
      B(k, j) /= root;
    team.sync();
    const int left = p - k - 1;
    for (int l = team.rank(); left > 0 && l < left * left; l += team.size()) {
      const int i = k + 1 + l % left, j = k + 1 + l / left;
      if (i <= j)
        B(i, j) -= B(k, i) * B(k, j);
    }
    team.sync();
  }
  return p;
}

/// A rotation of two rows, or of two columns, with cosine c and sine s.
struct Rotation
{
  double c, s;

  FEMGPU_HD
  void apply(double &a, double &b) const
  {
    const double old = a;
    a = c * old - s * b;
    b = s * old + c * b;
  }
};

/// Returns the rotation that makes B_ab zero, or the identity if B_ab is too small to affect an
/// eigenvalue of at least @p floor.
FEMGPU_HD
Rotation jacobi_rotation(const SmallMatrix &B, const int a, const int b, const double floor)
{
  const double B_aa = B(a, a), B_ab = B(a, b), B_bb = B(b, b);
  const double product = fabs(B_aa * B_bb), min_pivot = floor * floor;
  if (!(B_ab * B_ab > rounding * rounding * (product > min_pivot ? product : min_pivot)))
    return {1., 0.};
  const double d = B_bb - B_aa, o = 2. * B_ab;
  const double root = sqrt(d * d + o * o);
  const double t = o / (d < 0. ? d - root : d + root); // tangent of the angle, which is at most π/4
  const double c = 1. / sqrt(t * t + 1.);
  return {c, t * c};
}

/**
 * Computes U Σ Uᵀ = B by Jacobi's method (Golub and Van Loan, section 8.5); Σ overwrites the
 * diagonal of B. The p/2 rotations of a round affect different rows and columns and run
 * concurrently; p - 1 rounds, or p for odd p, form a sweep.
 */
template <class Team>
class JacobiEigenvalues
{
public:
  static constexpr int max_sweeps = 40;

  /// @param rotations workspace for (p + 1) / 2 rotations
  FEMGPU_HD
  JacobiEigenvalues(const Team &team, const SmallMatrix &B, const SmallMatrix &U,
                    Rotation *rotations, const double floor)
      : team(team), B(B), U(U), rotations(rotations), floor(floor), n_pairs((B.p + 1) / 2)
  {}

  /// Runs sweeps until one finds no rotation to apply. Returns false if max_sweeps do not suffice.
  FEMGPU_HD
  bool run() const
  {
    for (int k = team.rank(); k < U.p * U.p; k += team.size())
      U.data[k] = k % U.p == k / U.p ? 1. : 0.;
    team.sync();
    for (int sweep = 0; sweep < max_sweeps; ++sweep) {
      double n_rotations = 0.;
      for (int round = 0; round < 2 * n_pairs - 1; ++round)
        n_rotations += rotate(round);
      if (team.sum(n_rotations) == 0.)
        return true;
    }
    return false;
  }

private:
  struct Pair
  {
    int a, b; ///< rows; b = p: only row a, no rotation
  };

  /// Returns pair @p number of a round. As in a round-robin tournament, any two rows form a pair
  /// once per sweep.
  FEMGPU_HD
  Pair pair(const int round, const int number) const
  {
    const int last = 2 * n_pairs - 1;
    const int behind = round + number, before = round - number;
    const int x = number == 0 ? last : behind < last ? behind : behind - last;
    const int y = before < 0 ? before + last : before;
    return x < y ? Pair{x, y} : Pair{y, x};
  }

  /// Runs one round. Returns the number of rotations that this thread has computed.
  FEMGPU_HD
  double rotate(const int round) const
  {
    double n_rotations = 0.;
    for (int k = team.rank(); k < n_pairs; k += team.size()) {
      const Pair ab = pair(round, k);
      rotations[k] = ab.b < B.p ? jacobi_rotation(B, ab.a, ab.b, floor) : Rotation{1., 0.};
      n_rotations += rotations[k].s != 0. ? 1. : 0.;
    }
    team.sync();
    for (int k = team.rank(); k < n_pairs * n_pairs; k += team.size())
      if (k % n_pairs <= k / n_pairs)
        rotate_entries(round, k % n_pairs, k / n_pairs);
    for (int k = team.rank(); k < U.p * n_pairs; k += team.size()) {
      const Pair ab = pair(round, k / U.p);
      const int i = k % U.p;
      if (ab.b < B.p)
        rotations[k / U.p].apply(U(i, ab.a), U(i, ab.b));
    }
    team.sync();
    return n_rotations;
  }

  /// Rotates the up to four entries in the rows of one pair and the columns of another, with their
  /// mirror images.
  FEMGPU_HD
  void rotate_entries(const int round, const int row_pair, const int column_pair) const
  {
    const Pair row = pair(round, row_pair), column = pair(round, column_pair);
    const int rows[2] = {row.a, row.b}, columns[2] = {column.a, column.b};
    double e[2][2];
    FEMGPU_UNROLL
    for (int x = 0; x < 2; ++x) {
      FEMGPU_UNROLL
      for (int y = 0; y < 2; ++y)
        e[x][y] = rows[x] < B.p && columns[y] < B.p ? B(rows[x], columns[y]) : 0.;
    }
    const Rotation row_rotation = rotations[row_pair], column_rotation = rotations[column_pair];
    row_rotation.apply(e[0][0], e[1][0]);
    row_rotation.apply(e[0][1], e[1][1]);
    column_rotation.apply(e[0][0], e[0][1]);
    column_rotation.apply(e[1][0], e[1][1]);
    if (row_pair == column_pair && row_rotation.s != 0.)
      e[0][1] = e[1][0] = 0.;
    FEMGPU_UNROLL
    for (int x = 0; x < 2; ++x) {
      FEMGPU_UNROLL
      for (int y = 0; y < 2; ++y)
        if (rows[x] < B.p && columns[y] < B.p) {
          B(rows[x], columns[y]) = e[x][y];
          B(columns[y], rows[x]) = row_pair == column_pair ? e[y][x] : e[x][y];
        }
    }
  }

  const Team &team;
  SmallMatrix B, U;
  Rotation *rotations;
  double floor;
  int n_pairs;
};

/// Computes the upper triangular factor of W by Householder reflections, in place; entries below
/// the diagonal are not cleared.
template <class Team>
FEMGPU_HD
void triangularise(const Team &team, const SmallMatrix &W)
{
  constexpr int lanes = Team::size() > 1 ? 8 : 1; // threads that share a column
  const int p = W.p;
  for (int k = 0; k < p; ++k) {
    double sum = 0.;
    for (int i = k + 1 + team.rank(); i < p; i += team.size())
      sum += W(i, k) * W(i, k);
    const double sigma = team.sum(sum), alpha = W(k, k);
    const double norm = sqrt(alpha * alpha + sigma);
    const double beta = alpha > 0. ? -norm : norm, v_k = alpha - beta;
    const double factor = sigma > 0. ? 1. / (beta * (beta - alpha)) : 0.;
    const int left = p - k - 1, lane = team.rank() % lanes;
    team.sync();
    for (int first = 0; first < left; first += team.size() / lanes) { // all threads call sum()
      const int j = k + 1 + first + team.rank() / lanes;
      double dot = lane == 0 && j < p ? v_k * W(k, j) : 0.;
      for (int i = k + 1 + lane; i < p && j < p; i += lanes)
        dot += W(i, k) * W(i, j);
      dot = factor * team.sum(dot, lanes);
      if (lane == 0 && j < p)
        W(k, j) -= dot * v_k;
      for (int i = k + 1 + lane; i < p && j < p; i += lanes)
        W(i, j) -= dot * W(i, k);
    }
    if (team.rank() == 0 && sigma > 0.)
      W(k, k) = beta;
    team.sync();
  }
}
} // namespace femgpu::linalg

#endif
