#include "linalg/matrices/multi_product.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/block_algebra.h"
#include "linalg/solvers/block_method.h"
#include "linalg/solvers/krylov.h"
#include "linalg/solvers/registry.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
namespace block_cg
{
namespace
{
/// A column of a block, whose state is on the host.
struct Column
{
  KrylovState state;
  RestartPolicy policy;
  bool is_running = true; ///< whether the next run includes this column
  std::vector<double> history;
};

/// One solve with block conjugate gradients; see BlockCg.
template <class Backend>
class BlockSolve
{
public:
  BlockSolve(const Matrix &A, const Preconditioner &M, const MultiVector<double> &B,
             MultiVector<double> &X, const SolveControl &control)
      : A(A), M(M), B(B), X(X), control(control), n_columns(X.n_columns()), action(M.action()),
        on(A.domain(), n_columns, n_small), P(A.domain(), n_columns), R(A.domain(), n_columns),
        V(A.domain(), n_columns), spare(A.domain(), n_columns), initial_X(A.domain(), n_columns)
  {
    if (is_operator()) {
      Z = MultiVector<double>(A.domain(), n_columns);
      r = A.domain()->make_vector();
      z = A.domain()->make_vector();
    }
  }

  std::vector<SolveReport> solve()
  {
    const auto begin = std::chrono::steady_clock::now();
    prepare();
    while (std::any_of(columns.begin(), columns.end(),
                       [](const Column &column) { return column.is_running; }))
      run();
    std::vector<SolveReport> reports;
    for (Column &column : columns)
      reports.push_back(report_of(column));
    A.executor()->synchronize();
    reports.front().costs.solve_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return reports;
  }

private:
  /// Small matrices.
  enum Small : int
  {
    PAP, ///< PᵀA P
    PR,  ///< PᵀR
    VZ,  ///< VᵀZ with V = A P and Z = M⁻¹R
    RR,  ///< its diagonal contains the squared norms of the residuals
    n_small
  };

  bool is_operator() const
  {
    return std::holds_alternative<const PreconditionerOperator *>(action);
  }
  DiagonalView diagonal() const
  {
    return is_operator() ? DiagonalView() : std::get<DiagonalView>(action);
  }
  /// The block that, multiplied by diagonal(), is M⁻¹R.
  MultiVector<double> &preconditioned()
  {
    return is_operator() ? Z : R;
  }
  std::size_t bytes_of_X() const
  {
    return static_cast<std::size_t>(A.n()) * static_cast<std::size_t>(X.stride()) * sizeof(double);
  }

  /// Sets the number of columns of the blocks of a run.
  void reshape(const int k)
  {
    for (MultiVector<double> *const block : {&P, &R, &V, &spare})
      block->reshape(k);
    if (is_operator())
      Z.reshape(k);
    on.reshape(k);
  }

  /// Computes Z = M⁻¹R column by column unless M is diagonal.
  void precondition()
  {
    if (!is_operator())
      return;
    for (int c = 0; c < R.n_columns(); ++c) {
      R.get_column(c, r);
      apply_on<Backend>(M, *A.executor(), r, z);
      Z.set_column(c, z);
    }
  }

  /// Computes the residuals of all columns, and returns their squared norms.
  std::vector<double> true_residuals()
  {
    reshape(n_columns);
    multiply(A.csr(), X, V);
    on.subtract(B, V, R);
    return squared_norms(R);
  }

  std::vector<double> squared_norms(MultiVector<double> &block)
  {
    on.multiply_transposed(block, {}, block, RR, true);
    on.sum_over_ranks(RR, 1);
    const auto small = on.to_host();
    std::vector<double> norms;
    for (int c = 0; c < n_columns; ++c)
      norms.push_back(small.diagonal_entry(RR, static_cast<std::size_t>(c)));
    return norms;
  }

  /// Computes ‖b‖² of the columns and sets x = 0 where b = 0.
  void prepare()
  {
    A.executor()->copy_within(spare.data(), B.data(), bytes_of_X());
    const std::vector<double> bb = squared_norms(spare);
    columns.resize(bb.size());
    for (std::size_t c = 0; c < bb.size(); ++c) {
      Column &column = columns[c];
      column.state = state_for<KrylovState>(control);
      column.state.bb = bb[c];
      column.history.resize(
          static_cast<std::size_t>(std::min(control.max_iterations, longest_history - 1)) + 1);
      column.state.history = column.history.data();
      column.state.history_size = static_cast<int>(column.history.size());
      if (bb[c] == 0.) {
        Buffer<double> zero = A.domain()->make_vector();
        zero.fill_zero();
        X.set_column(static_cast<int>(c), zero);
      }
    }
  }

  /// Iterates until the recurrence of each running column has ended, and judges the true residuals.
  void run()
  {
    A.executor()->copy_within(initial_X.data(), X.data(), bytes_of_X());
    begin(true_residuals());
    if (!active.empty()) {
      if (active.size() < columns.size()) {
        on.select(R, {}, active, spare);
        std::swap(R, spare);
      }
      reshape(static_cast<int>(active.size()));
      precondition();
      std::vector<int> all(active.size());
      for (std::size_t c = 0; c < all.size(); ++c)
        all[c] = static_cast<int>(c);
      on.select(preconditioned(), diagonal(), all, P);
      while (!active.empty())
        iterate();
    }
    end(true_residuals());
  }

  /// Begins a run with squared residual norms @p rr.
  void begin(const std::vector<double> &rr)
  {
    active.clear();
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (columns[c].is_running) {
        KrylovState &s = columns[c].state;
        columns[c].policy.prepare(s);
        s.begin(rr[c], s.bb);
        if (s.running)
          s.check(rr[c]);
        if (s.running)
          active.push_back(static_cast<int>(c));
      }
  }

  void end(const std::vector<double> &rr)
  {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      Column &column = columns[c];
      if (!column.is_running)
        continue;
      column.state.true_rr = rr[c];
      column.is_running = column.policy.needs_restart(column.state);
      if (!column.policy.keeps_x) {
        MultiVector<double> &saved = initial_X;
        A.executor()->run_steps([&](StepRunner &steps) {
          steps.copy_strided(saved.data() + c, saved.stride(), A.n(), X.data() + c, X.stride());
        });
      }
    }
  }

  /// One iteration of all active columns.
  void iterate()
  {
    const ColumnMap all = identity_map(static_cast<int>(active.size()));
    ColumnMap to_X = identity_map(0);
    for (std::size_t c = 0; c < active.size(); ++c)
      to_X.base[c] = to_X.result[c] = static_cast<short>(active[c]);

    multiply(A, P, V); // V = A P
    on.multiply_transposed(P, {}, V, PAP);
    on.multiply_transposed(P, {}, R, PR);
    on.sum_over_ranks(PAP, 2);
    on.solve(PAP, 1., PR);            // α = (PᵀV)⁻¹ PᵀR
    on.update(X, {}, P, 1., X, to_X); // X += P α
    on.update(R, {}, V, -1., R, all); // R −= V α
    precondition();                   // Z = M⁻¹R
    on.multiply_transposed(V, diagonal(), preconditioned(), VZ);
    on.multiply_transposed(R, {}, R, RR, true);
    on.sum_over_ranks(VZ, 2);
    on.solve(PAP, -1., VZ);                                     // β = −(PᵀV)⁻¹ VᵀZ
    on.update(preconditioned(), diagonal(), P, 1., spare, all); // P = Z + P β
    std::swap(P, spare);

    const std::vector<int> kept = check();
    if (kept.size() < active.size())
      keep(kept);
  }

  /// Checks all active columns, and returns the positions of those that continue. This is the only
  /// synchronisation of an iteration on one rank.
  std::vector<int> check()
  {
    const auto small = on.to_host();
    std::vector<int> kept;
    double largest_rr = 0.;
    for (std::size_t c = 0; c < active.size(); ++c) {
      KrylovState &s = columns[static_cast<std::size_t>(active[c])].state;
      s.check_spd(s.rr, small.diagonal_entry(PR, c), small.diagonal_entry(PAP, c));
      if (s.running && !small.is_semidefinite)
        s.stop(Outcome::indefinite_matrix);
      if (s.running) {
        ++s.iteration;
        s.check(small.diagonal_entry(RR, c));
      }
      if (s.running) {
        kept.push_back(static_cast<int>(c));
        largest_rr = std::max(largest_rr, s.rr);
      }
    }
    report_progress(kept, largest_rr);
    return kept;
  }

  /// Removes the other columns from the blocks.
  void keep(const std::vector<int> &kept)
  {
    std::vector<int> still_active;
    for (const int c : kept)
      still_active.push_back(active[static_cast<std::size_t>(c)]);
    active = std::move(still_active);
    if (active.empty())
      return;
    on.select(P, {}, kept, spare);
    std::swap(P, spare);
    on.select(R, {}, kept, spare);
    std::swap(R, spare);
    reshape(static_cast<int>(kept.size()));
  }

  void report_progress(const std::vector<int> &kept, const double largest_rr)
  {
    const auto now = std::chrono::steady_clock::now();
    if (!control.progress || kept.empty() ||
        std::chrono::duration<double>(now - last_progress).count() < watch_interval)
      return;
    last_progress = now;
    control.progress(
        columns[static_cast<std::size_t>(active[static_cast<std::size_t>(kept.front())])]
            .state.iteration,
        std::sqrt(largest_rr));
  }

  SolveReport report_of(Column &column) const
  {
    const IterationCost cost = is_operator() ? IterationCost{1, 22, 1} : IterationCost{1, 18, 2};
    const KrylovState &s = column.state;
    const std::size_t vector_bytes = static_cast<std::size_t>(A.n()) * sizeof(double);
    SolveReport report = report_of_method(A, M, "block-cg", cost, vector_bytes * n_columns);
    report.outcome = column.policy.outcome;
    report.restarts = column.policy.restarts;
    report.rhs_norm = std::sqrt(s.bb);
    report.initial_residual = std::sqrt(s.initial_rr);
    report.target = s.target;
    report.iterations = s.iteration;
    report.true_residual = std::sqrt(column.policy.best_rr);
    column.history.resize(
        std::min<std::size_t>(column.history.size(), static_cast<std::size_t>(s.iteration) + 1));
    report.history = std::move(column.history);
    for (double &norm : report.history)
      norm = std::sqrt(norm);
    report.history.front() = report.initial_residual;
    report.method.norm = name_of_norm(control);
    report.method.execution = "block of " + std::to_string(n_columns) + " right-hand sides";
    describe(report);
    return report;
  }

  const Matrix &A;
  const Preconditioner &M;
  const MultiVector<double> &B;
  MultiVector<double> &X;
  const SolveControl &control;
  int n_columns;
  Preconditioner::Action action;
  BlockAlgebra<Backend> on;
  MultiVector<double> P, R, V, spare, initial_X;
  MultiVector<double> Z; // if M is not diagonal
  Buffer<double> r, z;   // a column of R and of Z
  std::vector<Column> columns;
  std::vector<int> active; // the columns of the current blocks
  std::chrono::steady_clock::time_point last_progress = std::chrono::steady_clock::now();
};

/**
 * Preconditioned conjugate gradients for several right-hand sides, which share their search
 * directions: the breakdown-free block method of Ji and Li (2017, BFBCG). The directions are not
 * orthonormalised; instead, the k x k systems with PᵀA P are solved with diagonal pivots, and
 * directions that depend on others are not used in the current iteration. Columns whose residuals
 * have met their targets leave the block. A single right-hand side is solved by `cg`.
 *
 * Use: several right-hand sides with one matrix; with more columns, iterations become fewer, and a
 * product reads A once for all columns. Needs: A and M symmetric positive definite. Cost per
 * iteration for k columns: one product, 5 products of k x k entries over all rows, and 3 updates of
 * 2 k² operations per row, which together read and write A once and 18 k vectors (22 k and k
 * applications of M⁻¹ if M is not diagonal); one copy of 5 k² numbers to the host, on several ranks
 * three. Memory: 5 k vectors (6 k). Fails: PᵀA P indefinite or (r, M⁻¹r) <= 0, both reported.
 * If right-hand sides differ by less than 1e-4 of their norm but are not equal, the method can take
 * more iterations than `cg`.
 */
template <class Backend>
class BlockMethodCg final : public BlockMethod
{
public:
  std::vector<SolveReport> solve(const Matrix &A, const Preconditioner &M,
                                 const MultiVector<double> &B, MultiVector<double> &X,
                                 const SolveControl &control) const override
  {
    require_symmetric("block-cg", M);
    return BlockSolve<Backend>(A, M, B, X, control).solve();
  }
};

/// Block conjugate gradients for several right-hand sides, and `cg` for one.
template <class Backend>
class BlockCg final : public Solver
{
public:
  explicit BlockCg(std::unique_ptr<Solver> single) : single(std::move(single))
  {}

  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &x, const SolveControl &control) const override
  {
    SolveReport report = single->solve(A, M, b, x, control);
    report.method.solver = "block-cg";
    describe(report);
    return report;
  }
  std::shared_ptr<const BatchMethod> batch() const override
  {
    return single->batch();
  }
  std::shared_ptr<const BlockMethod> block() const override
  {
    return std::make_shared<BlockMethodCg<Backend>>();
  }

private:
  std::unique_ptr<Solver> single;
};
} // namespace
} // namespace block_cg

template <>
std::unique_ptr<Solver> make_on<class BlockCgSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<block_cg::BlockCg<ThisBackend>>(make_solver("cg", ThisBackend::kind));
}
} // namespace femgpu::linalg
