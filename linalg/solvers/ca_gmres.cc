#include "linalg/base/lapack.h"
#include "linalg/orthogonalisation/orthogonalisation.h"
#include "linalg/orthogonalisation/tall_skinny.h"
#include "linalg/powers/arnoldi_matrix.h"
#include "linalg/powers/krylov_basis.h"
#include "linalg/powers/matrix_powers.h"
#include "linalg/solvers/gmres.h"
#include "linalg/solvers/registry.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace femgpu::linalg
{
namespace gmres
{
namespace
{
/// Computes r = b − A x.
struct StoreResidual
{
  const double *b;
  double *r;

  FEMGPU_HD
  void operator()(const int i, const double Ax_i) const
  {
    r[i] = b[i] - Ax_i;
  }
};

/// Multiplies v by a factor.
struct Scale
{
  double *v;
  double factor;

  FEMGPU_HD
  void operator()(const int i) const
  {
    v[i] *= factor;
  }
};

/// Computes x += M⁻¹ Σ_k y_k q_k or, if M⁻¹ is not fused into this step, t = Σ_k y_k q_k.
template <bool fused>
struct Combine
{
  Columns Q;
  const double *y;
  DiagonalView m;
  double *x; ///< x, or t if M⁻¹ is not fused

  FEMGPU_HD
  void operator()(const int i) const
  {
    const double sum = combination(Q, Q.count, y, i);
    x[i] = fused ? x[i] + m(i) * sum : sum;
  }
};

constexpr int n_other_vectors = 3; // work vectors in addition to the basis

/// The options that a user sets.
struct CaOptions
{
  int restart, s;
  bool is_newton, measures_errors;
  std::string borth, tsqr;
  MatrixPowersOptions powers;

  explicit CaOptions(Method &method)
      : restart(method.integer("restart", 60, 1, max_columns)),
        s(method.integer("s", 10, 1, Tsqr::max_columns)),
        is_newton(method.word("basis", "newton", {"newton", "monomial"}) == "newton"),
        measures_errors(method.word("errors", "no", {"no", "yes"}) == "yes"),
        borth(method.word("borth", "cgs", {"cgs", "mgs"})),
        tsqr(method.word("tsqr", "cholqr", {"mgs", "cgs", "cholqr", "svqr", "caqr"}))
  {
    const std::string passes = " passes=" + std::to_string(method.integer("passes", 2, 1, 2));
    borth += passes;
    tsqr += passes;
    powers.kind =
        powers_kind_of(method.word("powers", "plain", {"auto", "plain", "blocked", "streamed"}));
    powers.depth = method.integer("depth", 0, 0, MatrixPowers::max_depth);
    powers.block = method.integer("block", 0, 0, 1 << 30);
    powers.memory = static_cast<std::size_t>(method.number("memory", 0., 0., 1e9) * 1e6);
    powers.steps = s;
  }

  int longest_basis(const Matrix &A) const
  {
    return static_cast<int>(
        std::clamp<long long>(restart, 1, std::max(A.range()->n_global(), 1LL)));
  }
};

/// The worst values that occurred in a solve, for the report.
struct CaStatistics
{
  double condition = 0., orthogonality = 0., factorisation = 0.;
  int n_fallbacks = 0, n_truncated = 0, n_shortened = 0;
  int s = 0; ///< block length at the end

  void record_worst(double &worst, const double value) const
  {
    worst = std::isnan(value) ? value : std::max(worst, value);
  }

  std::string text(const CaOptions &options) const
  {
    char number[200];
    std::snprintf(number, sizeof number, "basis condition %.2g", condition);
    std::string text = number;
    if (options.measures_errors) {
      std::snprintf(number, sizeof number, ", orthogonality error %.2g, factorisation error %.2g",
                    orthogonality, factorisation);
      text += number;
    }
    const auto append_count = [&](const int count, const std::string &what) {
      if (count > 0)
        text += "; " + std::to_string(count) + (count == 1 ? " block " : " blocks ") + what;
    };
    append_count(n_fallbacks, "factorised by a safer variant");
    append_count(n_truncated, "cut at linearly dependent vectors");
    if (n_shortened > 0)
      text += "; s reduced from " + std::to_string(options.s) + " to " + std::to_string(s) +
              ", because the true residual differed from the residual of the basis";
    return text;
  }
};

/// One solve: owns the vectors and runs the cycles.
template <class Backend>
class CaGmresSolve
{
public:
  CaGmresSolve(const CaOptions &options, const Matrix &A, const Preconditioner &M,
               const MatrixPowers &powers, const Buffer<double> &b, Buffer<double> &x,
               const SolveControl &control)
      : options(options), A(A), n(A.n()), b(b), x(x), control(control),
        size(options.longest_basis(A)), runner(*A.executor()), action(M.action()), powers(powers),
        vectors(*powers.space(), size + 1 + n_other_vectors), V(vectors.columns(0, size + 1)),
        t(vectors[size + 1]), x_before(vectors[size + 2]), initial_x(vectors[size + 3]),
        C(A.executor(), static_cast<std::size_t>(size + 1) * Tsqr::max_columns),
        R(A.executor(), static_cast<std::size_t>(Tsqr::max_columns) * Tsqr::max_columns),
        weights(A.executor(), static_cast<std::size_t>(size)), dot(A.executor(), 1),
        dot_memory(A.executor(), 1, A.range()->communicator()),
        borth(make_block_orthogonalisation(options.borth, A.executor(), A.range()->communicator())),
        tsqr(make_tsqr(options.tsqr, A.executor(), A.range()->communicator()))
  {
    statistics.s = std::min(options.s, size);
    steps.resize(1);
  }

  KrylovState run(const KrylovState &start)
  {
    State s;
    static_cast<KrylovState &>(s) = start;
    A.executor()->copy_within(initial_x, x.data(), x.bytes());
    s.bb = square(b.data());
    measure_residual(s);
    s.begin(s.true_rr, s.bb);
    if (s.bb == 0.) // x = 0
      s.stop(Outcome::converged);
    if (s.running && s.iteration >= s.max_iterations)
      s.stop(Outcome::iteration_limit);
    while (s.running)
      run_cycle(s);
    return s;
  }

  /// Restores the x from which the last run started.
  void restore()
  {
    A.executor()->copy_within(x.data(), initial_x, x.bytes());
  }

  std::string remarks() const
  {
    return statistics.text(options);
  }
  std::string execution() const
  {
    return "blocks of " + std::to_string(statistics.s) + " vectors; " + powers.description();
  }

private:
  /// Stores r = b − A x in V_0 and computes its squared norm.
  void measure_residual(State &s)
  {
    runner.run(product(ExactProduct(A), x.data(), StoreResidual{b.data(), V[0]}));
    s.true_rr = square(V[0]);
  }

  double square(const double *v)
  {
    const Columns column{const_cast<double *>(v), V.stride, 1};
    runner.run(gram(n, column, column, StoreGramProducts{1, dot.data()}, dot_memory));
    return dot.to_host().front();
  }

  void run_cycle(State &s)
  {
    const double beta = std::sqrt(s.rr);
    ArnoldiMatrix H(size, beta);
    runner.run(rows(n, Scale{V[0], 1. / beta}));
    const bool is_first = !has_ritz_values; // the first cycle computes one vector at a time
    while (s.running && H.columns() < size) {
      const int max_steps = is_first ? 1 : statistics.s;
      append_block(s, H, std::min(max_steps, size - H.columns()));
      if (control.progress)
        control.progress(s.iteration, std::sqrt(s.rr));
    }
    if (options.measures_errors)
      statistics.record_worst(statistics.orthogonality,
                              tsqr->orthogonality_error(n, V.columns(0, H.columns())));
    if (is_first && H.columns() > 0) {
      const std::vector<std::complex<double>> ritz_values = H.ritz_values();
      steps = options.is_newton ? newton_basis(ritz_values, statistics.s)
                                : monomial_basis(ritz_values, statistics.s);
      has_ritz_values = true;
    }
    s.columns = H.rotated();
    finish_cycle(s, H);
  }

  /// Appends up to @p p vectors to the basis and rotates their columns of H.
  void append_block(State &s, ArnoldiMatrix &H, int p)
  {
    const int k = H.columns();
    for (;; p = (p + 1) / 2) {
      const std::vector<BasisStep> block_steps(steps.begin(), steps.begin() + p);
      const Columns block = V.columns(k + 1, p);
      powers.compute(V.columns(k, p + 1), block_steps);
      borth->orthogonalise(n, V.columns(0, k + 1), block, C.data());
      const TsqrReport report = factorise(block);
      if (!report.is_done && p > 1) {
        ++statistics.n_truncated;
        continue; // V_k has not changed
      }
      if (!report.is_done) {
        s.stop(report.is_finite ? Outcome::breakdown : Outcome::not_finite);
        return;
      }
      const int n_used = p == 1 ? 1 : std::min(p, report.first_dependent);
      if (n_used < p)
        ++statistics.n_truncated;
      if (n_used == 0)
        continue;
      statistics.record_worst(statistics.condition, condition_number(report.R, p));
      H.append(C.to_host(static_cast<std::size_t>(k + 1) * static_cast<std::size_t>(p)), report.R,
               block_steps, p, n_used);
      rotate_columns(s, H);
      if (s.running && p == 1 && report.first_dependent == 0)
        s.stop(Outcome::breakdown);
      return;
    }
  }

  TsqrReport factorise(const Columns &block)
  {
    Buffer<double> before;
    if (options.measures_errors) {
      before = Buffer<double>(A.executor(), V.stride * static_cast<std::size_t>(block.count));
      A.executor()->copy_within(before.data(), block.data, before.bytes());
    }
    TsqrReport report = tsqr->factorise(n, block, R.data());
    if (report.failed_column >= 0 || report.variant.rfind(first_word(options.tsqr), 0) != 0)
      ++statistics.n_fallbacks;
    if (options.measures_errors && report.is_done)
      statistics.record_worst(
          statistics.factorisation,
          tsqr->factorisation_error(n, {before.data(), V.stride, block.count}, block, R.data()));
    return report;
  }

  static std::string first_word(const std::string &text)
  {
    return text.substr(0, text.find(' '));
  }

  void rotate_columns(State &s, ArnoldiMatrix &H)
  {
    while (s.running && H.rotated() < H.columns()) {
      if (!H.rotate_next()) {
        s.stop(Outcome::breakdown);
        return;
      }
      ++s.iteration;
      s.check(H.residual() * H.residual());
    }
  }

  /// Updates x += M⁻¹ Q y and computes the residual of x. If the residual is larger than the basis
  /// predicted, halves the block length; if it has grown, also restores x.
  void finish_cycle(State &s, const ArnoldiMatrix &H)
  {
    A.executor()->copy_within(x_before, x.data(), x.bytes());
    std::vector<double> y = H.solve();
    y.resize(weights.size());
    weights.copy_from_host(y.data());
    add_combination(V.columns(0, H.rotated()));
    measure_residual(s);
    const double expected = std::max(H.residual() * H.residual(), 0.01 * s.target_rr);
    const bool is_inaccurate = !(s.true_rr <= 4. * expected);
    if (!is_inaccurate || statistics.s == 1 || s.columns == 0) {
      s.end_cycle(s.true_rr, s.bb);
      return;
    }
    if (!(s.true_rr < s.start_rr)) {
      A.executor()->copy_within(x.data(), x_before, x.bytes());
      measure_residual(s);
    }
    statistics.s = std::max(statistics.s / 2, 1);
    ++statistics.n_shortened;
    const bool is_at_limit = s.iteration >= s.max_iterations;
    s.columns = 0;
    s.running = true;
    ++s.restarts;
    s.begin(s.true_rr, s.bb);
    if (s.running && is_at_limit)
      s.stop(Outcome::iteration_limit);
  }

  /// Computes x += M⁻¹ Q y, where y is stored in `weights`.
  void add_combination(const Columns &Q)
  {
    if (const auto *const m = std::get_if<DiagonalView>(&action)) {
      runner.run(rows(n, Combine<true>{Q, weights.data(), *m, x.data()}));
      return;
    }
    runner.run(rows(n, Combine<false>{Q, weights.data(), {}, t}));
    runner.run(product(*std::get<const PreconditionerOperator *>(action), t, AddProduct{x.data()}));
  }

  const CaOptions &options;
  const Matrix &A;
  int n;
  const Buffer<double> &b;
  Buffer<double> &x;
  const SolveControl &control;
  int size;
  Runner<Backend> runner;
  Preconditioner::Action action;
  const MatrixPowers &powers;
  WorkVectors vectors;
  Columns V;
  double *t, *x_before, *initial_x;
  Buffer<double> C, R, weights, dot;
  GramMemory dot_memory;
  std::unique_ptr<BlockOrthogonalisation> borth;
  std::unique_ptr<Tsqr> tsqr;
  std::vector<BasisStep> steps; ///< the steps that compute a block of s vectors
  bool has_ritz_values = false;
  CaStatistics statistics;
};

/// Stores the history of a method whose epilogues run on the host.
class HostHistory
{
public:
  double *allocate_numbers(const int count)
  {
    numbers.resize(static_cast<std::size_t>(count));
    return numbers.data();
  }
  std::vector<double> get_numbers(const int count) const
  {
    return {numbers.begin(), numbers.begin() + count};
  }

private:
  std::vector<double> numbers;
};

/**
 * Communication-avoiding GMRES(s, m) (Yamazaki et al. 2014; Hoemmen 2010): the matrix powers kernel
 * computes s vectors, which are orthogonalised together, against the basis (BOrth) and among
 * themselves (TSQR). The first cycle computes one vector at a time; its Ritz values are the shifts
 * of the Newton basis.
 *
 * Use: systems for which GMRES is dominated by long bases, or by reading A in products. Options:
 * restart=m, s=S, basis=newton|monomial, borth=cgs|mgs, tsqr=mgs|cgs|cholqr|svqr|caqr, passes=1|2
 * for borth and tsqr, powers=auto|plain|blocked|streamed with depth=K, block=ROWS and memory=MB
 * (see MatrixPowers), errors=yes for ‖I − QᵀQ‖ and ‖V − QR‖. Needs: no properties of A or M; if M⁻¹
 * is not fused, powers are plain; m + 4 vectors. Cost of s iterations: A is read between once and s
 * times, the basis twice per pass, the block about six times; the host reads small matrices once
 * per block. Fails: as GMRES. If a basis with blocks of s vectors is too ill-conditioned, the true
 * residual differs from the residual of the recurrence. Then s is halved; the remarks report this,
 * and the condition number of the worst block.
 */
template <class Backend>
class CaGmres final : public Solver
{
public:
  explicit CaGmres(Method &method) : options(method), chosen(options.powers)
  {}

  void set_up(const Matrix &A, const Preconditioner &M, const bool only_values) override
  {
    if (!only_values)
      chosen = options.powers;
    powers.reset(); // frees the memory of the old object before a new one is made
    powers = make_powers(A, M);
    chosen = powers->choice();
    matrix = &A;
  }

  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &x, const SolveControl &control) const override
  {
    const bool is_set_up = powers != nullptr && matrix == &A;
    const auto own = is_set_up ? nullptr : make_powers(A, M);
    CaGmresSolve<Backend> ca_solve(options, A, M, is_set_up ? *powers : *own, b, x, control);
    HostHistory history;
    SolveReport report = solve_to_true_residual<State>(
        history, A, control,
        report_of_method(A, M, "ca-gmres", {1, vectors_per_iteration(), 1}, x.bytes()),
        [&](const KrylovState &start) {
          return run_from(x, start, [&](const KrylovState &from) { return ca_solve.run(from); });
        },
        [&] { ca_solve.restore(); });
    report.method.norm = name_of_norm(control);
    report.method.execution = ca_solve.execution();
    report.method.solver_remarks = ca_solve.remarks();
    describe(report);
    return report;
  }

private:
  std::size_t vectors_per_iteration() const
  {
    const auto m = static_cast<std::size_t>(options.restart);
    const auto s = static_cast<std::size_t>(options.s);
    return 2 + 2 * (m / s + 6); // on average half of the basis exists, and a pass reads it twice
  }

  std::unique_ptr<MatrixPowers> make_powers(const Matrix &A, const Preconditioner &M) const
  {
    const PowersKind kind = options.powers.kind;
    if ((kind == PowersKind::blocked || kind == PowersKind::streamed) &&
        !std::holds_alternative<DiagonalView>(M.action()))
      throw ParameterError("Solver 'ca-gmres' with powers=" + to_string(kind) +
                           " needs preconditioner identity or jacobi, but the preconditioner is '" +
                           M.name() + "'. Use powers=plain.");
    MatrixPowersOptions powers_options = chosen;
    const auto n_vectors =
        static_cast<std::size_t>(options.longest_basis(A)) + 1 + n_other_vectors + 1;
    powers_options.reserved = n_vectors * A.domain()->n_with_ghosts() * sizeof(double);
    return make_matrix_powers(A, M.action(), powers_options);
  }

  CaOptions options;
  MatrixPowersOptions chosen; ///< options for `powers`; after trials, those of the fastest form
  std::unique_ptr<MatrixPowers> powers;
  const Matrix *matrix = nullptr; ///< matrix for which `powers` was set up
};
} // namespace
} // namespace gmres

template <>
std::unique_ptr<Solver> make_on<class CaGmresSolver, ThisBackend>(Method &method)
{
  return std::make_unique<gmres::CaGmres<ThisBackend>>(method);
}
} // namespace femgpu::linalg
