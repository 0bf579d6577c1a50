#include "linalg/preconditioners/approximate_inverse/inverse_pattern.h"
#include "linalg/preconditioners/approximate_inverse/least_squares.h"
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
 * Computes row k of X, which minimises ‖x B − e_k‖₂ over the pattern J of the row. If I are the
 * columns of the rows J of B, Â = B(J, I)ᵀ is n1 x n2, and modified Gram-Schmidt solves the problem
 * min ‖Â m − ê‖₂ (Dehnavi 2012, chapter 5).
 */
struct SolveInverseRow
{
  static constexpr int min_team_size = 32; // the smallest team, for run_batch()
  ProductView product;
  const double *B_values, *squared_norms; ///< values of B, squared norms of its rows
  double *values;
  int *deficient; ///< for each row: 1 if columns of Â are dependent

  template <class Team, class RowWorkspace>
  FEMGPU_HD
  bool operator()(const Team &team, const RowWorkspace &workspace) const
  {
    const int k = workspace.row, n2 = product.P.length(k);
    int row_limit = LeastSquares::max_rows(workspace.size, n2);
    if (RowWorkspace::in_scratch && row_limit >= 0)
      row_limit = product.bound(team, k, row_limit);
    const int n1 = row_limit >= 0 ? find_rows(team, k, row_limit, workspace.memory) : 1;
    if (n1 > row_limit)
      return false;
    const LeastSquares problem(workspace.memory, n1, n2);
    gather(team, k, problem);
    const int dependent = problem.factorise(team);
    if (team.rank() == 0)
      deficient[k] = dependent > 0 ? 1 : 0;
    problem.substitute(team, values + product.P.row_starts[k]);
    return true;
  }

  /// Stores I, ascending, at the beginning of the workspace. Returns n1; if this exceeds
  /// @p row_limit, stores nothing.
  template <class Team>
  FEMGPU_HD
  int find_rows(const Team &team, const int k, const int row_limit, double *work) const
  {
    int *const I = reinterpret_cast<int *>(work);
    ColumnSet set(I + row_limit, row_limit);
    product.insert_row(team, set, k);
    const int n1 = set.n_columns(team);
    if (n1 <= row_limit)
      set.store_sorted(team, I);
    return n1;
  }

  /// Stores Â with the norms of its columns, and ê.
  template <class Team>
  FEMGPU_HD
  void gather(const Team &team, const int k, const LeastSquares &problem) const
  {
    const RowPatternView &B = product.B;
    const RowColumns row = product.P[k];
    const int *const I = reinterpret_cast<const int *>(problem.row(0));
    problem.clear(team);
    double *const e = problem.column(problem.n2);
    for (int l = team.rank(); l < problem.n1; l += team.size())
      e[l] = I[l] == k ? 1. : 0.;
    for (int c = team.rank(); c < problem.n2; c += team.size())
      problem.squared_norm(c) = squared_norms[row.columns[c]];
    product.for_each_pair(team, k, [&](const int c, const int l) {
      problem.column(c)[lower_bound(I, 0, problem.n1, B.columns[l])] = B_values[l];
    });
    team.sync();
  }
};

/**
 * Sparse approximate inverse (SAI: SPAI with a prescribed pattern; Dehnavi 2012, chapter 5).
 *
 * Use: BiCGStab, for unsymmetric systems; an application costs one product with M, but the set-up
 * is expensive. Needs: workspaces for dense least-squares problems, see row_workspace.h. Options:
 * tau and power define the pattern S^power, where S has the entries of a column (for side=left, of
 * a row) with |a| > (1 − tau) max |a|, at most `longest` of them; side=right minimises ‖AM − I‖_F,
 * side=left ‖MA − I‖_F. Fails: M may be singular; the solver then stagnates or breaks down. M is
 * unsymmetric and unsuitable for conjugate gradients.
 */
template <class Backend>
class SparseApproximateInverse final : public OperatorPreconditioner<FactorisedInverse>
{
public:
  explicit SparseApproximateInverse(Method &method)
      : OperatorPreconditioner<FactorisedInverse>(method, false),
        tau(method.number("tau", 1., 0., 1.)), power(method.integer("power", 1, 1, 3)),
        longest(method.integer("longest", 256, 0, 16777216)),
        is_left(method.word("side", "right", {"right", "left"}) == "left"),
        make_factorised(factorised_maker<Backend>(method))
  {}

  void setup(const Matrix &A) override
  {
    this->inverse.reset();
    // A row of X has unknowns within `power` connections, and the rows of B reach one connection
    // further; a row of Xᵀ has entries of rows of X that are up to `power` connections away.
    const OverlappingRows<Backend> rows(A.csr(), is_left ? power + 1 : 2 * power + 1);
    std::shared_ptr<const CsrMatrix> M;
    if (is_left)
      M = minimise_rows(rows.matrix());
    else // the columns of M are the rows of the solution of the transposed problem
      M = transposed<Backend>(*minimise_rows(*transposed<Backend>(rows.matrix()).matrix()))
              .matrix();
    M = rows.owned_rows(M);
    const auto rows_with_dependence = static_cast<int>(A.range()->sum(
        total_counts<Backend>(A.executor(), deficient.data() + rows.first(), A.n()).sum));
    this->inverse = make_factorised(A.domain(), nullptr, M);
    this->report = {M->n_nonzeros(), "tau " + std::to_string(tau).substr(0, 4) + ", power " +
                                         std::to_string(power) + (is_left ? ", left" : ", right")};
    if (rows_with_dependence > 0)
      this->report.remarks += ", " + std::to_string(rows_with_dependence) + " of " +
                              std::to_string(A.range()->n_global()) +
                              " least-squares problems rank-deficient";
  }

  /// Computes the X that minimises ‖X B − I‖_F, row by row, where B is @p matrix.
  std::shared_ptr<const CsrMatrix> minimise_rows(const CsrMatrix &matrix)
  {
    const ExecutorPtr &owner = matrix.executor();
    const int n = matrix.n();
    const auto n_rows = static_cast<std::size_t>(n);
    const CsrView<double> B = matrix.csr_view();
    const PatternRef B_pattern = pattern_of(matrix);
    const auto X = make_matrix(owner, inverse_pattern<Backend>(matrix, tau, power, longest), n);
    const PatternRef rows_of_X = pattern_of(*X);
    Buffer<double> norms(owner, n_rows);
    deficient = Buffer<int>(owner, n_rows);
    Runner<Backend>(*owner).run(rows(n, [B, squared_norms = norms.data()] FEMGPU_BODY(const int i) {
      double sum = 0.;
      const RowEntries<double> row = B.entries(i);
      for (int k = 0; k < row.length; ++k)
        sum += row.values[k] * row.values[k];
      squared_norms[i] = sum;
    }));
    const auto sizes = [&](const RowList &list) {
      return problem_sizes(rows_of_X, B_pattern, list);
    };
    run_rows<Backend>(owner, n,
                      SolveInverseRow{make_product<Backend>(rows_of_X, B_pattern), B.values,
                                      norms.data(), X->mutable_values(), deficient.data()},
                      sizes, sizes);
    return X;
  }

private:
  /// Returns the workspace sizes of the rows of a list.
  static std::vector<std::size_t> problem_sizes(const PatternRef &X, const PatternRef &B,
                                                const RowList &list)
  {
    const std::vector<int> n1s = product_lengths<Backend>(X, B, list);
    const std::vector<int> n2s = counts_to_host<Backend>(X.executor, list, RowLength{X.view()});
    std::vector<std::size_t> sizes;
    for (std::size_t item = 0; item < n1s.size(); ++item)
      sizes.push_back(LeastSquares::size(n1s[item], n2s[item]));
    return sizes;
  }

  double tau;
  int power;
  int longest; ///< maximum length of the rows of S; 0: unlimited
  bool is_left;
  MakeFactorised make_factorised;
  Buffer<int> deficient; ///< for each row of the last X: 1 if columns of Â were dependent
};
} // namespace

template <>
std::unique_ptr<Preconditioner> make_on<class SaiPreconditioner, ThisBackend>(Method &method)
{
  return std::make_unique<SparseApproximateInverse<ThisBackend>>(method);
}
} // namespace femgpu::linalg
