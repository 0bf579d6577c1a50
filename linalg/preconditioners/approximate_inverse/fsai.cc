#include "linalg/preconditioners/approximate_inverse/inverse_pattern.h"
#include "linalg/preconditioners/factorised_operator.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/sparse/pattern_product.h"
#include "linalg/sparse/row_workspace.h"
#include "linalg/sparse/subset.h"
#include "linalg/sparse/transpose.h"

namespace femgpu::linalg
{
namespace
{
/**
 * Finds row i of G: with J its pattern, whose last column is i, A(J, J) y = e_i and
 * g = y / √y_i, by a dense Cholesky factorisation of A(J, J) (Kolotilina and Yeremin 1993).
 */
template <class Workspaces>
struct SolveRow
{
  static constexpr int team_size = Workspaces::team_size, scratch = 0;
  CsrView<double> A;
  RowPatternView pattern;
  Workspaces workspaces;
  double *values;
  int *failed; ///< of each row: A(J, J) is not positive definite
  int *unfit;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int item) const
  {
    const int i = workspaces.row(item);
    const int size = pattern.length(i);
    const bool fits = doubles_of_square(size) <= workspaces.size(item);
    if (team.rank() == 0)
      unfit[i] = fits ? 0 : 1;
    if (!fits)
      return;
    double *const L = workspaces.begin(team, item); // by columns
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
        if (column > J[r]) // the upper triangle, and so are the rest
          break;
        int c = 0;
        for (int end = r + 1; c < end;) { // the place of the column in J, if it is there
          const int middle = (c + end) / 2;
          if (J[middle] < column)
            c = middle + 1;
          else
            end = middle;
        }
        if (c <= r && J[c] == column)
          L[static_cast<std::size_t>(c) * size + r] = A.values[k];
      }
    team.sync();
  }

  /// L Lᵀ = A(J, J), column by column from the left, in place of the lower triangle.
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

  /// From row c on: column −= Σ_s L_cs L(:, s), s < c; four at a time, to write the column less
  /// often.
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

  /// g = L_ii y, where Lᵀ y = e_i / L_ii
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
 * Yeremin 1993): symmetric positive definite whatever the pattern.
 *
 * Use: PCG; costs two products with triangles an application. Options: tau and power for the
 * pattern, the lower part of that of S^power, where S are the entries of a row with
 * |a| > (1 − tau) max |a|. With grow=K the pattern adapts itself in K rounds: the entries of G with
 * |g| > drop max |g| of a row, times S, make the next pattern; the last round drops the others.
 * Needs: A symmetric positive definite; where a local matrix is not, the row is that of Jacobi, and
 * counted.
 */
template <class Backend>
class FactorisedApproximateInverse final : public Preconditioner
{
public:
  explicit FactorisedApproximateInverse(Method &method)
      : tau(method.number("tau", 1., 0., 1.)), power(method.integer("power", 1, 1, 3)),
        rounds(method.integer("grow", 0, 0, 10)), drop(method.number("drop", 0.05, 0., 1.))
  {}

  void setup(const Matrix &A_) override
  {
    const CsrMatrix &A = A_.csr();
    const ExecutorPtr &owner = A.executor();
    factors.reset();
    auto G = compute(A, lower_part(inverse_pattern<Backend>(A, tau, power), owner));
    if (rounds > 0) {
      const RowPattern S = large_entries<Backend>(A, tau);
      for (int round = 0; round < rounds; ++round) {
        const RowPattern kept = large_entries<Backend>(*G, 1. - drop);
        G = compute(
            A, lower_part(multiply<Backend>(pattern_of(owner, kept), pattern_of(owner, S)), owner));
      }
      G = compute(A, large_entries<Backend>(*G, 1. - drop));
    }
    auto G_transposed = transpose<Backend>(*G);
    factors = std::make_unique<FactorisedOperator<Backend>>(std::move(G), std::move(G_transposed));
  }
  void update(const Matrix &A) override // the pattern follows the values
  {
    setup(A);
  }
  Action action() const override
  {
    return factors.get();
  }
  SetupReport setup_report() const override
  {
    std::string remarks =
        "tau " + std::to_string(tau).substr(0, 4) + ", power " + std::to_string(power);
    if (rounds > 0)
      remarks += ", grown " + std::to_string(rounds) + " times with drop tolerance " +
                 std::to_string(drop).substr(0, 6);
    if (n_failed > 0)
      remarks += ", " + std::to_string(n_failed) +
                 " rows as Jacobi because their local matrix is not positive definite";
    return {factors->first().n_nonzeros(), remarks};
  }
  bool is_symmetric() const override
  {
    return true;
  }
  std::string name() const override
  {
    return "fsai";
  }
  std::size_t bytes() const override
  {
    return factors->bytes();
  }

  static RowPattern lower_part(const RowPattern &pattern, const ExecutorPtr &owner)
  {
    return triangle_pattern<Backend>(pattern_of(owner, pattern), TrianglePart::lower).pattern;
  }

private:
  std::unique_ptr<CsrMatrix> compute(const CsrMatrix &A, RowPattern pattern)
  {
    const ExecutorPtr &owner = A.executor();
    Runner<Backend> runner(*owner);
    Buffer<double> values(owner, pattern.columns.size());
    Buffer<int> failed(owner, static_cast<std::size_t>(A.n()));
    Buffer<int> unfit(owner, static_cast<std::size_t>(A.n()));
    const auto solve = [&](const RowBatch &batch, const int n_items) {
      with_workspaces<Backend>(batch, [&](const auto &workspaces) {
        const SolveRow<std::decay_t<decltype(workspaces)>> body{
            A.csr_view(), pattern.view(), workspaces, values.data(), failed.data(), unfit.data()};
        runner.run(teams(n_items, body, workspaces.scratch));
      });
    };
    const auto sizes = [&](const RowList &list) {
      std::vector<std::size_t> squares;
      for (const int length : counts_to_host<Backend>(owner, list, RowLength{pattern.view()}))
        squares.push_back(static_cast<std::size_t>(length) * static_cast<std::size_t>(length));
      return squares;
    };
    run_rows<Backend>(owner, A.n(), unfit, solve, sizes, sizes);
    n_failed = static_cast<int>(total_counts<Backend>(owner, failed.data(), A.n()).sum);
    return std::make_unique<CsrMatrix>(owner, std::move(pattern.row_starts),
                                       std::move(pattern.columns), std::move(values));
  }

  double tau;
  int power, rounds;
  double drop;
  int n_failed = 0;
  std::unique_ptr<FactorisedOperator<Backend>> factors;
};
} // namespace

template <>
std::unique_ptr<Preconditioner> make_on<class FsaiPreconditioner, ThisBackend>(Method &method)
{
  return std::make_unique<FactorisedApproximateInverse<ThisBackend>>(method);
}
} // namespace femgpu::linalg
