#include "linalg/matrices/transpose.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/preconditioners/row_pattern.h"

#include <numeric>

namespace femgpu::linalg
{
namespace
{
/// A column of a least-squares problem is dependent if less than this of it is left.
constexpr double rank_tolerance = 1e-12;

/// Doubles of workspace of one row: Â (n1 x n2, by columns), ê, R, d; ints: I and the set.
FEMGPU_HD
std::size_t real_size(const int n1, const int n2)
{
  return static_cast<std::size_t>(n1) * (n2 + 1) + static_cast<std::size_t>(n2) * (n2 + 1);
}

/// The place of @p column among @p n ascending ones.
FEMGPU_HD
int place(const int *columns, const int n, const int column)
{
  int begin = 0, end = n;
  while (begin < end) {
    const int middle = (begin + end) / 2;
    if (columns[middle] < column)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/**
 * Finds row k of X with ‖x B − e_k‖₂ minimal over the pattern J of the row: with I the columns of
 * the rows J of B, Â = B(J, I)ᵀ is n1 x n2, and min ‖Â m − ê‖₂ is solved by modified Gram-Schmidt
 * of (Â, ê), which is as stable as Householder's method (Björck 1967). (Dehnavi 2012, chapter 5.)
 */
struct SolveRow
{
  static constexpr int team_size = 32, scratch = 0;
  CsrView<double> B;
  RowPatternView pattern;
  Batch batch;
  const int *bounds, *n1s;
  double *values;
  int *n_dependent; ///< of each row: columns of Â that depend on the others

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int item) const
  {
    const int k = batch.first + item;
    const int n1 = n1s[k], n2 = pattern.length(k);
    double *const A_hat = batch.memory + batch.offsets[item];
    double *const e = A_hat + static_cast<std::size_t>(n1) * n2;
    double *const R = e + n1;
    double *const d = R + static_cast<std::size_t>(n2) * n2;
    int *const I = reinterpret_cast<int *>(A_hat + real_size(n1, n2));
    ColumnSet set(I + n1, bounds[k]);
    insert_product_row(team, set, pattern, {B.row_starts, B.columns}, k);
    set.store_sorted(team, I);
    gather(team, k, n1, n2, A_hat, e, I);
    const int dependent = factorise(team, n1, n2, A_hat, e, R, d);
    if (team.rank() == 0)
      n_dependent[k] = dependent;
    substitute(team, n2, R, d, values + pattern.row_starts[k]);
  }

  /// Â and ê as dense arrays.
  template <class Team>
  FEMGPU_HD
  void gather(const Team &team, const int k, const int n1, const int n2, double *A_hat, double *e,
              const int *I) const
  {
    for (std::size_t l = team.rank(); l < static_cast<std::size_t>(n1) * n2; l += team.size())
      A_hat[l] = 0.;
    for (int l = team.rank(); l < n1; l += team.size())
      e[l] = I[l] == k ? 1. : 0.;
    team.sync();
    for (int c = 0; c < n2; ++c) {
      const int j = pattern.columns[pattern.row_starts[k] + c];
      for (int l = B.row_starts[j] + team.rank(); l < B.row_starts[j + 1]; l += team.size())
        A_hat[static_cast<std::size_t>(c) * n1 + place(I, n1, B.columns[l])] = B.values[l];
    }
    team.sync();
  }

  /// Modified Gram-Schmidt: Â = Q R in place of Â, d = Qᵀê. Gives the number of dependent columns.
  template <class Team>
  FEMGPU_HD
  int factorise(const Team &team, const int n1, const int n2, double *A_hat, double *e, double *R,
                double *d) const
  {
    int dependent = 0;
    for (int c = 0; c < n2; ++c) { // R_cc holds the norm of the column as it was
      const double norm = sqrt(dot(team, n1, A_hat + static_cast<std::size_t>(c) * n1,
                                   A_hat + static_cast<std::size_t>(c) * n1));
      if (team.rank() == 0)
        R[static_cast<std::size_t>(c) * n2 + c] = norm;
    }
    team.sync();
    for (int c = 0; c < n2; ++c) {
      double *const q = A_hat + static_cast<std::size_t>(c) * n1;
      const double norm = sqrt(dot(team, n1, q, q));
      const bool is_dependent = !(norm > rank_tolerance * R[static_cast<std::size_t>(c) * n2 + c]);
      dependent += is_dependent ? 1 : 0;
      team.sync();
      for (int l = team.rank(); l < n1; l += team.size())
        q[l] = is_dependent ? 0. : q[l] / norm;
      team.sync();
      if (team.rank() == 0)
        R[static_cast<std::size_t>(c) * n2 + c] = is_dependent ? 0. : norm;
      for (int l = c + 1; l <= n2; ++l) { // the last one is ê
        double *const a = l < n2 ? A_hat + static_cast<std::size_t>(l) * n1 : e;
        const double projection = dot(team, n1, q, a);
        if (team.rank() == 0)
          *(l < n2 ? R + static_cast<std::size_t>(c) * n2 + l : d + c) = projection;
        for (int i = team.rank(); i < n1; i += team.size())
          a[i] -= projection * q[i];
      }
      team.sync();
    }
    return dependent;
  }

  /// m = R⁻¹ d; zero for dependent columns.
  template <class Team>
  FEMGPU_HD
  void substitute(const Team &team, const int n2, const double *R, const double *d, double *m) const
  {
    for (int c = n2 - 1; c >= 0; --c) {
      double sum = 0.;
      for (int l = c + 1 + team.rank(); l < n2; l += team.size())
        sum += R[static_cast<std::size_t>(c) * n2 + l] * m[l];
      sum = team.sum(sum);
      const double R_cc = R[static_cast<std::size_t>(c) * n2 + c];
      if (team.rank() == 0)
        m[c] = R_cc > 0. ? (d[c] - sum) / R_cc : 0.;
      team.sync();
    }
  }

  template <class Team>
  FEMGPU_HD
  double dot(const Team &team, const int n, const double *v, const double *w) const
  {
    const int stride = team.size();
    double sum_0 = 0., sum_1 = 0., sum_2 = 0., sum_3 = 0.; // four, that do not wait for each other
    int i = team.rank();
    for (; i + 3 * stride < n; i += 4 * stride) {
      sum_0 += v[i] * w[i];
      sum_1 += v[i + stride] * w[i + stride];
      sum_2 += v[i + 2 * stride] * w[i + 2 * stride];
      sum_3 += v[i + 3 * stride] * w[i + 3 * stride];
    }
    for (; i < n; i += stride)
      sum_0 += v[i] * w[i];
    return team.sum(sum_0 + sum_1 + (sum_2 + sum_3));
  }
};

/**
 * Sparse approximate inverse (SAI, SPAI with a pattern given before; Dehnavi 2012, chapter 5).
 *
 * Use: BiCGStab, for unsymmetric systems; costs one product with M an application and much setup.
 * Needs: memory for dense least-squares problems, taken in batches. Options: tau and power for the
 * pattern (that of S^power, where S are the entries of a column with |a| > (1 − tau) max |a|);
 * side=right minimises ‖AM − I‖_F, left ‖MA − I‖_F. Fails: M may be singular; the solver then
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
    M.reset();
    if (is_left)
      M = minimise_rows(A.csr());
    else // column by column: the rows of the transposed problem
      M = transpose<Backend>(*minimise_rows(*transpose<Backend>(A.csr())));
  }
  void update(const Matrix &A) override // the pattern follows the values
  {
    setup(A);
  }
  Action action() const override
  {
    return M.get();
  }
  SetupReport setup_report() const override
  {
    std::string remarks = "tau " + std::to_string(tau).substr(0, 4) + ", power " +
                          std::to_string(power) + (is_left ? ", left" : ", right");
    if (rows_with_dependence > 0)
      remarks += ", " + std::to_string(rows_with_dependence) + " of " + std::to_string(M->n()) +
                 " least-squares problems without full rank";
    return {M->n_nonzeros(), remarks};
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
    return M->bytes();
  }

private:
  /// X with ‖X B − I‖_F minimal, row by row.
  std::unique_ptr<CsrMatrix> minimise_rows(const CsrMatrix &B)
  {
    const ExecutorPtr owner = B.executor();
    Runner<Backend> runner(*owner);
    RowPattern pattern = inverse_pattern<Backend>(B, tau, power);
    const CsrView<double> view = B.csr_view();
    const ProductLengths sizes =
        product_lengths<Backend>(owner, B.n(), pattern.view(), {view.row_starts, view.columns});
    const Buffer<int> n1s(owner, sizes.lengths.data(), sizes.lengths.size());
    Buffer<double> values(owner, pattern.columns.size());
    Buffer<int> n_dependent(owner, static_cast<std::size_t>(B.n()));
    const auto workspace = [&](const int k) {
      const auto n1 = static_cast<std::size_t>(sizes.lengths[k]);
      const int n2 = pattern.host_row_starts[k + 1] - pattern.host_row_starts[k];
      return real_size(sizes.lengths[k], n2) + doubles_for_ints(n1) + sizes.set_size(k) + 1;
    };
    for_batches(owner, B.n(), workspace, [&](const Batch &batch, const int n_rows) {
      runner.run(teams(n_rows, SolveRow{view, pattern.view(), batch, sizes.bounds.data(),
                                        n1s.data(), values.data(), n_dependent.data()}));
    });
    rows_with_dependence = 0;
    for (const int dependent : n_dependent.to_host())
      rows_with_dependence += dependent > 0 ? 1 : 0;
    return std::make_unique<CsrMatrix>(owner, std::move(pattern.row_starts),
                                       std::move(pattern.columns), std::move(values));
  }

  double tau;
  int power;
  bool is_left;
  int rows_with_dependence = 0;
  std::unique_ptr<CsrMatrix> M;
};
} // namespace

template <class Backend>
std::unique_ptr<Preconditioner> make_sai(Method &method)
{
  return std::make_unique<SparseApproximateInverse<Backend>>(method);
}

template std::unique_ptr<Preconditioner> make_sai<ThisBackend>(Method &);
} // namespace femgpu::linalg
