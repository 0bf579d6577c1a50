#ifndef femgpu_linalg_orthogonalisation_gram_schmidt_h
#define femgpu_linalg_orthogonalisation_gram_schmidt_h

#include "linalg/orthogonalisation/small_factors.h"
#include "linalg/orthogonalisation/tall_skinny.h"

/**
 * @file
 * Gram-Schmidt orthogonalisation of the columns of a block, modified and classical (Yamazaki 2014,
 * V.A and V.B). If only rounding errors are left of a column, this column of Q and its diagonal
 * entry of R become zero; V = QR still holds.
 */
namespace femgpu::linalg
{
/// Returns the tolerance for linear dependence: if a column depends on the p − 1 columns before it,
/// at most this fraction of its norm is left, due to rounding, after those columns have been
/// projected out.
FEMGPU_HD
double dependence_tolerance(const int p)
{
  return 16. * p * rounding;
}

/// Computes row k of R from products of column k, after the columns before it have been projected
/// out: R_kk is the root of the first product, and R_kj = product_j / R_kk for j > k.
struct ComputeRowOfR
{
  static constexpr int team_size = 32, scratch = 0;
  int p;                  ///< number of columns; leading dimension of R
  int k, n_products;      ///< row of R; number of products
  const double *products; ///< products of column k with columns k to k + n_products − 1
  double *R;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, int /* item */) const
  {
    const double left = products[0];
    double before = 0.;
    for (int i = team.rank(); i < k; i += team.size())
      before += R[i + k * p] * R[i + k * p];
    before = team.sum(before);
    const double tolerance = dependence_tolerance(p);
    const bool is_dependent = is_finite(left) && left <= tolerance * tolerance * (before + left);
    const double root = sqrt(left);
    for (int l = team.rank(); l < n_products; l += team.size())
      R[k + (k + l) * p] = is_dependent ? 0. : l == 0 ? root : products[l] / root;
  }
};

/// Computes q = v_k / R_kk, and v_j −= R_kj q for the later columns j, in row i.
struct ProjectOutColumn
{
  int k, n_later;
  std::size_t entry_stride; ///< distance between entries of a row of R
  Columns V;
  const double *R;

  FEMGPU_HD
  void operator()(const int i) const
  {
    const double *const row = R + k;
    const double R_kk = row[k * entry_stride];
    const double q = R_kk == 0. ? 0. : V[k][i] / R_kk;
    V[k][i] = q;
    for (int j = k + 1; j <= k + n_later; ++j)
      V[j][i] -= row[j * entry_stride] * q;
  }
};

/**
 * Computes V = Q R for p columns by modified Gram-Schmidt: a completed column is projected out of
 * all later columns. Costs p reductions; reads about p² columns and writes about p²/2.
 * ‖I − QᵀQ‖ = O(ε κ) with the condition number κ of V.
 * @param R receives the upper triangle, by columns: R_ij is R[i + j * V.count]
 * @param products workspace for V.count doubles
 */
template <class Backend>
void modified_gram_schmidt(TallSkinny<Backend> &columns, const int n, const Columns &V, double *R,
                           double *products)
{
  const auto entry_stride = static_cast<std::size_t>(V.count);
  for (int k = 0; k < V.count; ++k) {
    const int n_products = V.count - k;
    columns.gram(n, {V[k], V.stride, 1}, {V[k], V.stride, n_products}, products);
    columns.steps().run(teams(1, ComputeRowOfR{V.count, k, n_products, products, R}));
    columns.steps().run(rows(n, ProjectOutColumn{k, n_products - 1, entry_stride, V, R}));
  }
}

/**
 * Computes V = Q R for p columns by classical Gram-Schmidt: all previous columns are projected out
 * of a column at once, @p passes times. Costs 1 + passes reductions per column; each pass reads
 * about p² columns in total. ‖I − QᵀQ‖ = O(ε κ^{p-1}) with one pass, O(ε) with two as long as
 * ε κ < 1, where κ is the condition number of V.
 */
template <class Backend>
void classical_gram_schmidt(TallSkinny<Backend> &columns, const int n, const Columns &V, double *R,
                            double *products, const int passes)
{
  const auto entry_stride = static_cast<std::size_t>(V.count);
  for (int k = 0; k < V.count; ++k) {
    const Columns Q{V.data, V.stride, k}, v{V[k], V.stride, 1};
    for (int pass = 0; pass < passes && k > 0; ++pass)
      columns.project_out(n, Q, v, products, R + k * entry_stride, 1, pass == 0);
    columns.gram(n, v, v, products);
    columns.steps().run(teams(1, ComputeRowOfR{V.count, k, 1, products, R}));
    columns.steps().run(rows(n, ProjectOutColumn{k, 0, entry_stride, V, R}));
  }
}
} // namespace femgpu::linalg

#endif
