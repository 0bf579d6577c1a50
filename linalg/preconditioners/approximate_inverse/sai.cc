#include "linalg/preconditioners/approximate_inverse/inverse_pattern.h"
#include "linalg/preconditioners/approximate_inverse/least_squares.h"
#include "linalg/preconditioners/factorised_operator.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/sparse/pattern_product.h"
#include "linalg/sparse/row_product.h"
#include "linalg/sparse/transpose.h"

namespace femgpu::linalg
{
namespace
{
/**
 * Finds row k of X with ‖x B − e_k‖₂ minimal over the pattern J of the row: with I the columns of
 * the rows J of B, Â = B(J, I)ᵀ is n1 x n2, and min ‖Â m − ê‖₂ is solved by modified Gram-Schmidt.
 * (Dehnavi 2012, chapter 5.)
 */
template <class Workspaces>
struct SolveRow
{
  static constexpr int team_size = Workspaces::team_size, scratch = 0;
  ProductView product;
  const double *B_values, *squared_norms; ///< of the rows of B
  Workspaces workspaces;
  double *values;
  int *deficient; ///< of each row: there are columns of Â that depend on the others
  int *unfit;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int item) const
  {
    const int k = workspaces.row(item), n2 = product.P.length(k);
    double *const work = workspaces.begin(team, item);
    int most = LeastSquares::most_rows(workspaces.size(item), n2);
    if (Workspaces::in_scratch && most >= 0)
      most = product.bound(team, k, most);
    const int n1 = most >= 0 ? find_rows(team, k, most, work) : 1;
    if (team.rank() == 0)
      unfit[k] = n1 > most ? 1 : 0;
    if (n1 > most)
      return;
    const LeastSquares problem(work, n1, n2);
    gather(team, k, problem);
    const int dependent = problem.factorise(team);
    if (team.rank() == 0)
      deficient[k] = dependent > 0 ? 1 : 0;
    problem.substitute(team, values + product.P.row_starts[k]);
  }

  /// I, ascending, from the beginning of the workspace on. Gives n1, and if that is more than @p
  /// most nothing else.
  template <class Team>
  FEMGPU_HD
  int find_rows(const Team &team, const int k, const int most, double *work) const
  {
    int *const I = reinterpret_cast<int *>(work);
    ColumnSet set(I + most, most);
    product.insert_row(team, set, k);
    const int n1 = set.n_columns(team);
    if (n1 <= most)
      set.store_sorted(team, I);
    return n1;
  }

  /// Â with the norms of its columns, and ê.
  template <class Team>
  FEMGPU_HD
  void gather(const Team &team, const int k, const LeastSquares &problem) const
  {
    const RowPatternView &P = product.P, &B = product.B;
    const int *const I = reinterpret_cast<const int *>(problem.row(0));
    problem.clear(team);
    double *const e = problem.column(problem.n2);
    for (int l = team.rank(); l < problem.n1; l += team.size())
      e[l] = I[l] == k ? 1. : 0.;
    for (int c = team.rank(); c < problem.n2; c += team.size())
      problem.squared_norm(c) = squared_norms[P.columns[P.row_starts[k] + c]];
    product.for_pairs(team, k, [&](const int c, const int l) {
      problem.column(c)[lower_bound(I, 0, problem.n1, B.columns[l])] = B_values[l];
    });
    team.sync();
  }
};

struct SquaredNorm
{
  CsrView<double> A;
  double *squared_norms;

  FEMGPU_HD
  void operator()(const int i) const
  {
    double sum = 0.;
    for (int k = A.row_starts.low[i]; k < A.row_starts.low[i + 1]; ++k)
      sum += A.values[k] * A.values[k];
    squared_norms[i] = sum;
  }
};

/**
 * Sparse approximate inverse (SAI, SPAI with a pattern given before; Dehnavi 2012, chapter 5).
 *
 * Use: BiCGStab, for unsymmetric systems; costs one product with M an application and much setup.
 * Needs: workspaces for dense least-squares problems, see row_workspace.h. Options: tau and power
 * for the pattern (that of S^power, where S are the entries of a column with |a| > (1 − tau) max
 * |a|); side=right minimises ‖AM − I‖_F, left ‖MA − I‖_F. Fails: M may be singular; the solver then
 * stagnates or breaks down. Not symmetric: not for conjugate gradients.
 */
template <class Backend>
class SparseApproximateInverse final : public Preconditioner
{
public:
  explicit SparseApproximateInverse(Method &method)
      : tau(method.number("tau", 1., 0., 1.)), power(method.integer("power", 1, 1, 3)),
        is_left(method.word("side", "right", {"right", "left"}) == "left")
  {}

  void setup(const Matrix &A) override
  {
    inverse.reset();
    std::unique_ptr<CsrMatrix> M;
    if (is_left)
      M = minimise_rows(A.csr());
    else // column by column: the rows of the transposed problem
      M = transpose<Backend>(*minimise_rows(*transpose<Backend>(A.csr())));
    inverse = std::make_unique<FactorisedOperator<Backend>>(nullptr, std::move(M));
  }
  void update(const Matrix &A) override // the pattern follows the values
  {
    setup(A);
  }
  Action action() const override
  {
    return inverse.get();
  }
  SetupReport setup_report() const override
  {
    const CsrMatrix &M = inverse->second();
    std::string remarks = "tau " + std::to_string(tau).substr(0, 4) + ", power " +
                          std::to_string(power) + (is_left ? ", left" : ", right");
    if (rows_with_dependence > 0)
      remarks += ", " + std::to_string(rows_with_dependence) + " of " + std::to_string(M.n()) +
                 " least-squares problems without full rank";
    return {M.n_nonzeros(), remarks};
  }
  bool is_symmetric() const override
  {
    return false;
  }
  std::string name() const override
  {
    return "sai";
  }
  std::size_t bytes() const override
  {
    return inverse->bytes();
  }

private:
  /// X with ‖X B − I‖_F minimal, row by row.
  std::unique_ptr<CsrMatrix> minimise_rows(const CsrMatrix &B)
  {
    const ExecutorPtr owner = B.executor();
    const int n = B.n();
    const auto n_rows = static_cast<std::size_t>(n);
    Runner<Backend> runner(*owner);
    const CsrView<double> view = B.csr_view();
    RowPattern pattern = inverse_pattern<Backend>(B, tau, power);
    const PatternRef rows_of_X = pattern_of(owner, pattern);
    const ProductView product = make_product<Backend>(rows_of_X, pattern_of(B));
    Buffer<double> values(owner, pattern.columns.size()), squared_norms(owner, n_rows);
    Buffer<int> deficient(owner, n_rows), unfit(owner, n_rows);
    runner.run(rows(n, SquaredNorm{view, squared_norms.data()}));
    const auto solve = [&](const RowBatch &batch, const int n_items) {
      with_workspaces<Backend>(batch, [&](const auto &workspaces) {
        const SolveRow<std::decay_t<decltype(workspaces)>> body{
            product,       view.values,      squared_norms.data(), workspaces,
            values.data(), deficient.data(), unfit.data()};
        runner.run(teams(n_items, body, workspaces.scratch));
      });
    };
    const auto sizes = [&](const RowList &list) {
      return problem_sizes(rows_of_X, pattern_of(B), list);
    };
    run_rows<Backend>(owner, n, unfit, solve, sizes, sizes);
    rows_with_dependence = static_cast<int>(total_counts<Backend>(owner, deficient.data(), n).sum);
    return std::make_unique<CsrMatrix>(owner, std::move(pattern.row_starts),
                                       std::move(pattern.columns), std::move(values));
  }

  /// The workspaces of the rows of a list.
  static std::vector<std::size_t> problem_sizes(const PatternRef &X, const PatternRef &B,
                                                const RowList &list)
  {
    const std::vector<int> n1s = product_lengths<Backend>(X, B, list);
    const std::vector<int> n2s = counts_to_host<Backend>(X.executor, list, RowLength{X.view});
    std::vector<std::size_t> sizes;
    for (std::size_t item = 0; item < n1s.size(); ++item)
      sizes.push_back(LeastSquares::size(n1s[item], n2s[item]));
    return sizes;
  }

  double tau;
  int power;
  bool is_left;
  int rows_with_dependence = 0;
  std::unique_ptr<FactorisedOperator<Backend>> inverse;
};
} // namespace

template <>
std::unique_ptr<Preconditioner> make_on<class SaiPreconditioner, ThisBackend>(Method &method)
{
  return std::make_unique<SparseApproximateInverse<ThisBackend>>(method);
}
} // namespace femgpu::linalg
