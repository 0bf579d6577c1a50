#include "linalg/preconditioners/approximate_inverse/inverse_pattern.h"
#include "linalg/preconditioners/factorised_operator.h"
#include "linalg/preconditioners/operator_preconditioner.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/sparse/overlapping_rows.h"
#include "linalg/sparse/row_product.h"

namespace femgpu::linalg
{
namespace
{
/**
 * Computes row i of G. J is the pattern of the row, whose last column is i; A(J, J) y = e_i is
 * solved by a dense Cholesky factorisation of A(J, J), and g = y / √y_i (Kolotilina and Yeremin
 * 1993).
 */
struct SolveFactorRow
{
  static constexpr int min_team_size = 32; // the smallest team, for run_batch()
  CsrView<double> A;
  RowPatternView pattern;
  double *values;
  int *failed; ///< for each row: 1 if A(J, J) is not positive definite

  template <class Team, class RowWorkspace>
  FEMGPU_HD
  bool operator()(const Team &team, const RowWorkspace &workspace) const
  {
    const int i = workspace.row, size = pattern.length(i);
    if (doubles_of_square(size) > workspace.size)
      return false;
    double *const L = workspace.memory; // stored by columns
    double *const g = values + pattern.row_starts[i];
    gather(team, i, size, L);
    const double a_ii = L[doubles_of_square(size) - 1];
    team.sync();
    const bool is_positive = factorise(team, size, L);
    if (team.rank() == 0)
      failed[i] = is_positive ? 0 : 1;
    if (is_positive)
      substitute(team, size, L, g);
    else
      for (int k = team.rank(); k < size; k += team.size())
        g[k] = k < size - 1 ? 0. : a_ii != 0. ? 1. / sqrt(fabs(a_ii)) : 1.;
    return true;
  }

  template <class Team>
  FEMGPU_HD
  void gather(const Team &team, const int i, const int size, double *L) const
  {
    const int *const J = pattern.columns + pattern.row_starts[i];
    for (std::size_t k = team.rank(); k < doubles_of_square(size); k += team.size())
      L[k] = 0.;
    team.sync();
    for (int r = 0; r < size; ++r)
      for (int k = A.row_starts.low[J[r]] + team.rank(); k < A.row_starts.low[J[r] + 1];
           k += team.size()) {
        const int column = A.columns[k];
        if (column > J[r]) // this entry and the next ones are in the upper triangle
          break;
        const int c = lower_bound(J, 0, r + 1, column); // position of the column in J, if present
        if (c <= r && J[c] == column)
          L[static_cast<std::size_t>(c) * size + r] = A.values[k];
      }
    team.sync();
  }

  /// Factorises A(J, J) = L Lᵀ, left-looking, in place of the lower triangle. Returns false if a
  /// pivot is not positive or not finite.
  template <class Team>
  FEMGPU_HD
  bool factorise(const Team &team, const int size, double *L) const
  {
    for (int c = 0; c < size; ++c) {
      double *const column = L + static_cast<std::size_t>(c) * size;
      subtract_columns_before(team, size, c, L, column);
      team.sync();
      const double pivot = column[c];
      if (!(pivot > 0.) || pivot - pivot != 0.)
        return false;
      team.sync();
      const double root = sqrt(pivot);
      for (int r = c + team.rank(); r < size; r += team.size())
        column[r] /= root;
      team.sync();
    }
    return true;
  }

  /// Subtracts Σ_s L_cs L(:, s), s < c, from rows r >= c of column c. Four terms are subtracted at
  /// a time, so that the column is written less often.
  template <class Team>
  FEMGPU_HD
  void subtract_columns_before(const Team &team, const int size, const int c, const double *L,
                               double *column) const
  {
    int s = 0;
    for (; s + 3 < c; s += 4) {
      const double *const L_0 = L + static_cast<std::size_t>(s) * size;
      const double *const L_1 = L_0 + size, *const L_2 = L_1 + size, *const L_3 = L_2 + size;
      const double l_0 = L_0[c], l_1 = L_1[c], l_2 = L_2[c], l_3 = L_3[c];
      for (int r = c + team.rank(); r < size; r += team.size())
        column[r] -= l_0 * L_0[r] + l_1 * L_1[r] + (l_2 * L_2[r] + l_3 * L_3[r]);
    }
    for (; s < c; ++s) {
      const double *const L_s = L + static_cast<std::size_t>(s) * size;
      const double l = L_s[c];
      for (int r = c + team.rank(); r < size; r += team.size())
        column[r] -= l * L_s[r];
    }
  }

  /// Solves Lᵀ g = e_i, so that g = y / √y_i.
  template <class Team>
  FEMGPU_HD
  void substitute(const Team &team, const int size, const double *L, double *g) const
  {
    for (int c = size - 1; c >= 0; --c) {
      const double *const column = L + static_cast<std::size_t>(c) * size;
      double sum = 0.;
      for (int r = c + 1 + team.rank(); r < size; r += team.size())
        sum += column[r] * g[r];
      sum = team.sum(sum);
      if (team.rank() == 0)
        g[c] = ((c == size - 1 ? 1. : 0.) - sum) / column[c];
      team.sync();
    }
  }
};

/**
 * Factorised sparse approximate inverse, M⁻¹ = Gᵀ G ≈ A⁻¹ with lower triangular G (Kolotilina and
 * Yeremin 1993): symmetric positive definite for any pattern.
 *
 * Use: PCG; an application costs two products with triangular matrices. Options: tau and power
 * define the pattern, the lower triangle of S^power, where S has the entries of a row with
 * |a| > (1 − tau) max |a|. With grow=K the pattern adapts in K rounds: the next pattern is that of
 * G S, with only those entries of G for which |g| > drop max |g| in their row; after the last
 * round, the other entries of G are dropped. Needs: A symmetric positive definite. If a local
 * matrix A(J, J) is not positive definite, row i of G has only the entry 1/√|a_ii|, as for Jacobi,
 * and the report counts such rows.
 */
template <class Backend>
class FactorisedApproximateInverse final : public OperatorPreconditioner<FactorisedInverse>
{
public:
  explicit FactorisedApproximateInverse(Method &method)
      : OperatorPreconditioner<FactorisedInverse>(method, true),
        tau(method.number("tau", 1., 0., 1.)), power(method.integer("power", 1, 1, 3)),
        rounds(method.integer("grow", 0, 0, 10)), drop(method.number("drop", 0.05, 0., 1.)),
        make_factorised(factorised_maker<Backend>(method))
  {}

  void setup(const Matrix &A_) override
  {
    // A row of G has unknowns within `reach` connections; a row of Gᵀ has entries of rows of G that
    // are themselves up to `reach` connections away.
    const int reach = power + rounds;
    const OverlappingRows<Backend> rows(A_.csr(), 2 * reach);
    const CsrMatrix &A = rows.matrix();
    const ExecutorPtr &owner = A.executor();
    this->inverse.reset();
    auto G = compute(A, lower_part(inverse_pattern<Backend>(A, tau, power), owner));
    if (rounds > 0) {
      const RowPattern S = large_entries<Backend>(A, tau);
      for (int round = 0; round < rounds; ++round) {
        const RowPattern large_of_G = large_entries<Backend>(*G, 1. - drop);
        G = compute(
            A, lower_part(multiply<Backend>(pattern_of(owner, large_of_G), pattern_of(owner, S)),
                          owner));
      }
      G = compute(A, large_entries<Backend>(*G, 1. - drop));
    }
    const auto owned_G = rows.owned_rows(G);
    this->inverse =
        make_factorised(A_.domain(), owned_G, rows.owned_rows(transposed<Backend>(*G).matrix()));
    const auto n_failed = static_cast<int>(
        A_.range()->sum(total_counts<Backend>(owner, failed.data() + rows.first(), A_.n()).sum));
    this->report = {owned_G->n_nonzeros(), remarks(n_failed)};
  }

private:
  static RowPattern lower_part(const RowPattern &pattern, const ExecutorPtr &owner)
  {
    return triangle_pattern<Backend>(pattern_of(owner, pattern), TrianglePart::lower).pattern;
  }

  std::shared_ptr<const CsrMatrix> compute(const CsrMatrix &A, RowPattern pattern)
  {
    const ExecutorPtr &owner = A.executor();
    const auto G = make_matrix(owner, std::move(pattern), A.n());
    const RowPatternView rows_of_G = pattern_of(*G).view();
    failed = Buffer<int>(owner, static_cast<std::size_t>(A.n()));
    const auto sizes = [&](const RowList &list) {
      std::vector<std::size_t> squares;
      for (const int length : counts_to_host<Backend>(owner, list, RowLength{rows_of_G}))
        squares.push_back(doubles_of_square(length));
      return squares;
    };
    run_rows<Backend>(owner, A.n(),
                      SolveFactorRow{A.csr_view(), rows_of_G, G->mutable_values(), failed.data()},
                      sizes, sizes);
    return G;
  }

  std::string remarks(const int n_failed) const
  {
    std::string text =
        "tau " + std::to_string(tau).substr(0, 4) + ", power " + std::to_string(power);
    if (rounds > 0)
      text += ", grown " + std::to_string(rounds) + " times with drop tolerance " +
              std::to_string(drop).substr(0, 6);
    if (n_failed > 0)
      text += ", " + std::to_string(n_failed) +
              " rows as in Jacobi because their local matrices are not positive definite";
    return text;
  }

  double tau;
  int power, rounds;
  double drop;
  MakeFactorised make_factorised;
  Buffer<int> failed; ///< for each row of the last G: 1 if A(J, J) was not positive definite
};
} // namespace

template <>
std::unique_ptr<Preconditioner> make_on<class FsaiPreconditioner, ThisBackend>(Method &method)
{
  return std::make_unique<FactorisedApproximateInverse<ThisBackend>>(method);
}
} // namespace femgpu::linalg
