#ifndef femgpu_linalg_solvers_krylov_h
#define femgpu_linalg_solvers_krylov_h

#include "linalg/base/error.h"
#include "linalg/execution/this_backend.h"
#include "linalg/execution/vector_steps.h"
#include "linalg/matrices/csr_matrix.h"
#include "linalg/solvers/method_report.h"
#include "linalg/solvers/solver.h"
#include "linalg/solvers/work_vectors.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

/**
 * @file
 * What Krylov solvers share: the state that their epilogues check, and the outer loop that lets
 * only the true residual decide.
 */
namespace femgpu::linalg
{
/// The part of a Krylov solver's state that stopping needs; lives where the steps run.
struct KrylovState : LoopState
{
  int iteration = 0; ///< number of updates of x
  int max_iterations = 0;
  double rr = 0.;          ///< (r, r) of the recurrence
  double target_rr = 0.;   ///< converged at or below
  double diverged_rr = 0.; ///< diverged above
  static constexpr double divergence_factor = 1e8;
  static constexpr bool can_vary = false; ///< see has_variants
  /// Below this the products of an iteration lose their bits; the true residual has long stood
  /// still.
  static constexpr double smallest_rr = 1e-280;
  Outcome outcome = Outcome::breakdown;
  int restarts = 0; ///< that the method has made by itself
  int history_size = 0;
  double *history = nullptr; ///< squared norms of the first iterations

  // What the target is made of; begin() makes it.
  double relative_tolerance = 0., absolute_tolerance = 0.;
  bool is_relative_to_rhs = true;
  double value_precision = 0.; ///< of the entries of A
  /// The residual grew by this factor: nothing good will come.
  double growth_limit = divergence_factor;
  /// May a run that has brought nothing be tried in another way?
  bool has_variants = false;
  int failed_runs = 0; ///< one after the other, before this one
  /// Of the residual, after which a run is to end, so that what it has brought is kept; 0: none.
  double stage = 0.;
  double target = 0.;      ///< that the true residual has to reach
  double initial_rr = -1.; ///< of the first guess; negative: not known yet
  double start_rr = 0.;    ///< of the last begin()
  double true_rr = 0.;     ///< (r, r) of r = b − A x, computed anew
  double bb = 0.;          ///< (b, b), or what else the tolerance is relative to

  /// Makes ready to iterate from an x with the residual @p new_rr, or stops.
  FEMGPU_HD
  void begin(const double new_rr, const double new_bb)
  {
    rr = start_rr = true_rr = new_rr;
    bb = new_bb;
    if (initial_rr < 0.) {
      initial_rr = rr;
      target = fmax(absolute_tolerance, relative_tolerance * sqrt(is_relative_to_rhs ? bb : rr));
      diverged_rr = fmin(fmax(rr, bb) * growth_limit * growth_limit, largest);
    }
    // First of all: an infinite b would make the target infinite too.
    if (!is_finite(rr) || !is_finite(bb))
      stop(Outcome::not_finite);
    else if (sqrt(rr) <= target)
      stop(Outcome::converged);
    // With rounded values a recurrence knows no more of A than some digits: each start refines the
    // solution by these.
    const bool is_rounded = value_precision > 1e-15;
    const double reduction = fmax(is_rounded ? 100. * value_precision : 0., stage);
    const double next_target = fmax(target, reduction * sqrt(rr));
    target_rr = fmax(next_target * next_target, smallest_rr);
  }

  FEMGPU_HD
  void stop(const Outcome o)
  {
    outcome = o;
    running = false;
  }

  /// Looks at the residual @p new_rr = (r, r) after `iteration` updates of x; stops or goes on.
  FEMGPU_HD
  void check(const double new_rr)
  {
    record(new_rr);
    if (!goes_on())
      end();
  }

  /// The same; @p rMr = (r, M⁻¹r) and @p pAp = (p, A p) of the next direction must be positive.
  FEMGPU_HD
  void check_spd(const double new_rr, const double rMr, const double pAp)
  {
    record(new_rr);
    if (goes_on() & (rMr > 0.) & (rMr <= largest) & (pAp > 0.) & (pAp <= largest))
      return;
    end();
    // What the residual says comes first, then the directions, then the number of iterations.
    if (!running && outcome != Outcome::iteration_limit)
      return;
    if (!is_finite(rMr) || !is_finite(pAp))
      stop(Outcome::not_finite);
    else if (rMr <= 0.)
      stop(Outcome::indefinite_preconditioner);
    else if (pAp <= 0.)
      stop(Outcome::indefinite_matrix);
  }

  FEMGPU_HD
  static bool is_finite(const double value)
  {
    return value - value == 0.;
  }

  static constexpr double largest = 1.7976931348623157e308;

private:
  FEMGPU_HD
  void record(const double new_rr)
  {
    rr = new_rr;
    if (iteration < history_size)
      history[iteration] = new_rr;
  }

  /// Without branches: a GPU waits for each. False where rr is not a number.
  FEMGPU_HD
  bool goes_on() const
  {
    return (rr > target_rr) & (rr <= diverged_rr) & (iteration < max_iterations);
  }

  FEMGPU_HD
  void end()
  {
    if (rr <= target_rr)
      stop(Outcome::converged);
    else if (!is_finite(rr))
      stop(Outcome::not_finite);
    else if (rr > diverged_rr)
      stop(Outcome::diverged);
    else if (iteration >= max_iterations)
      stop(Outcome::iteration_limit);
  }
};

struct ResidualState : LoopState
{
  double rr = 0., bb = 0.;
};

struct ResidualSums
{
  double rr, bb;
};

/// The sums of a method and those of the true residual.
template <class Sums>
struct WithResidual : Sums
{
  double true_rr, bb;
};

/// r = b − A x, with (r, r) and (b, b).
template <class Sums>
struct TrueResidual
{
  const double *b;
  double *r;

  using Contributes = SumList<&WithResidual<Sums>::true_rr, &WithResidual<Sums>::bb>;
  FEMGPU_HD
  void operator()(const KrylovState & /* s */, const int i, const double Ax_i,
                  WithResidual<Sums> &sums) const
  {
    r[i] = of_row(b[i], Ax_i, sums);
  }

  /// r_i
  FEMGPU_HD
  static double of_row(const double b_i, const double Ax_i, WithResidual<Sums> &sums)
  {
    const double r_i = b_i - Ax_i;
    sums.true_rr += r_i * r_i;
    sums.bb += b_i * b_i;
    return r_i;
  }
};

/// The same before the first iteration: keeps x, makes the target, and may end the solve.
template <class Sums>
struct BeginWithResidual : TrueResidual<Sums>
{
  const double *x;
  double *kept; ///< x as the run found it

  FEMGPU_HD
  void operator()(const KrylovState &s, const int i, const double Ax_i,
                  WithResidual<Sums> &sums) const
  {
    kept[i] = x[i];
    TrueResidual<Sums>::operator()(s, i, Ax_i, sums);
  }

  using Completes = typename TrueResidual<Sums>::Contributes;
  FEMGPU_HD
  void finish(KrylovState &s, const WithResidual<Sums> &sums) const
  {
    s.begin(sums.true_rr, sums.bb);
    if (sums.bb == 0.) // x = 0
      s.stop(Outcome::converged);
  }
};

/// The same when the iterations have ended.
template <class Sums>
struct EndWithResidual : TrueResidual<Sums>
{
  static constexpr bool runs_always = true;
  using Completes = typename TrueResidual<Sums>::Contributes;
  FEMGPU_HD
  void finish(KrylovState &s, const WithResidual<Sums> &sums) const
  {
    s.true_rr = sums.true_rr;
    s.bb = sums.bb;
  }
};

/// So many runs one after the other that leave the residual as it is end the solve.
constexpr int most_failed_runs = 5;

/**
 * Judges each run of a method by the residual that was computed anew, whatever the recurrence says,
 * and knows that of the best x, from which each run starts: a run that makes x worse is undone. If
 * the residual misses a target that the recurrence has met, the method is to start again, until
 * that no longer halves the residual: then it has stagnated. It is to start again after a breakdown
 * too, unless it breaks down at once or again and again without progress. A method that has
 * variants gets as many runs where its recurrence has left the residual or diverged; they end as
 * soon as they have brought something.
 */
struct TrueResidualJudge
{
  Outcome outcome = Outcome::breakdown; ///< of the solve
  int restarts = 0;
  double best_rr = -1.; ///< (r, r) of the best x; negative: not known yet
  bool keeps_x = true;  ///< of the last run; else x must become what the run has found again

  /// To be called before each run.
  FEMGPU_HD
  void prepare(KrylovState &s) const
  {
    s.running = true;
    s.failed_runs = failed_runs;
    s.stage = is_careful ? careful_stage : 0.;
  }

  /// Is the method to start again after a run that has ended with @p s? If not, the solve is over.
  FEMGPU_HD
  bool wants_more(const KrylovState &s)
  {
    const double before = best_rr < 0. ? s.initial_rr : best_rr;
    keeps_x = s.true_rr <= before || !KrylovState::is_finite(before);
    best_rr = keeps_x ? s.true_rr : before;
    outcome = s.outcome;
    if (!KrylovState::is_finite(best_rr) || !KrylovState::is_finite(s.bb))
      outcome = Outcome::not_finite;
    else if (sqrt(best_rr) <= s.target)
      outcome = Outcome::converged;
    else if (is_worth_another_run(s, before)) {
      ++restarts;
      iterations_before = s.iteration;
      return true;
    }
    return false;
  }

private:
  static constexpr double careful_stage = 0.01;

  /// @param before (r, r) where the run started
  FEMGPU_HD
  bool is_worth_another_run(const KrylovState &s, const double before)
  {
    const bool has_progressed = best_rr < 0.99 * before;
    const bool has_drifted = s.outcome == Outcome::converged && !(s.true_rr <= 0.25 * before);
    const bool is_lost = s.outcome == Outcome::diverged || !KrylovState::is_finite(s.true_rr);
    const bool has_failed =
        s.outcome == Outcome::breakdown || (s.has_variants && (has_drifted || is_lost));
    if (has_failed && s.iteration > iterations_before) {
      failed_runs = has_progressed ? 0 : failed_runs + 1;
      is_careful = is_careful || !has_progressed;
      if (failed_runs < most_failed_runs && s.iteration < s.max_iterations)
        return true;
    }
    if (has_drifted)
      outcome = Outcome::stagnated;
    if (!KrylovState::is_finite(s.true_rr))
      outcome = Outcome::not_finite;
    return s.outcome == Outcome::converged && !has_drifted;
  }

  int iterations_before = 0; // the run that has ended
  int failed_runs = 0;
  bool is_careful = false;
};

/// The state before the first run of a method whose state is a @p State.
template <class State>
KrylovState state_for(const SolveControl &control)
{
  KrylovState state;
  state.max_iterations = control.max_iterations;
  state.relative_tolerance = control.relative_tolerance;
  state.absolute_tolerance = control.absolute_tolerance;
  state.is_relative_to_rhs = control.reference == SolveControl::Reference::rhs;
  state.growth_limit = State::divergence_factor;
  state.has_variants = State::can_vary;
  return state;
}

/// Iterations whose residuals are kept.
constexpr int longest_history = 1 << 20;

/**
 * The outer loop of every Krylov solver, and of nonlinear conjugate gradients. @p run(state) keeps
 * x, computes the residual from it and calls state.begin(), iterates until an epilogue has stopped
 * the state, and computes the residual anew: true_rr. TrueResidualJudge says whether that is the
 * end. @p restore() makes x again what the last run has kept. The x at the end is the best of those
 * that the runs have ended with, or the guess.
 * @tparam State of the method
 * @param iteration that @p run uses; it keeps the history
 * @param report has the names and counts of the method already
 */
template <class State, class Iteration, class Run, class Restore>
SolveReport solve_to_true_residual(Iteration &iteration, const Matrix &A,
                                   const SolveControl &control, SolveReport report, const Run &run,
                                   const Restore &restore)
{
  const auto begin = std::chrono::steady_clock::now();
  const int history_size = std::min(control.max_iterations, longest_history - 1) + 1;

  KrylovState state = state_for<State>(control);
  state.history = iteration.keep_history(history_size);
  state.history_size = history_size;
  state.value_precision = A.value_precision();
  TrueResidualJudge judge;
  for (bool goes_on = true; goes_on;) {
    judge.prepare(state);
    state = run(state);
    goes_on = judge.wants_more(state);
    if (!judge.keeps_x)
      restore();
  }
  report.outcome = judge.outcome;
  report.restarts = judge.restarts + state.restarts;
  report.rhs_norm = std::sqrt(state.bb);
  report.initial_residual = std::sqrt(state.initial_rr);
  report.target = state.target;
  report.iterations = state.iteration;
  report.true_residual = std::sqrt(judge.best_rr);
  report.history = iteration.history(std::min(state.iteration + 1, history_size));
  for (double &norm : report.history)
    norm = std::sqrt(norm);
  report.history.front() = report.initial_residual; // also where nothing had to be done
  report.solve_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

/// Is the action of M⁻¹ fused into the steps of the solver? (Else a solver gets an Operator.)
template <class MView>
constexpr bool is_fused = !std::is_same_v<std::decay_t<MView>, const Operator *>;

/// The diagonal for the steps of the method: of M⁻¹ where that is fused into them.
template <class M>
auto fused_diagonal(const M &m)
{
  if constexpr (is_fused<M>)
    return m;
  else
    return IdentityView();
}

/// An iteration whose loop comes between two products with the solution. The first of them is run
/// when its result is needed: a GPU may run it together with the loop.
template <class Iteration, class Begin, class End>
class Enclosed
{
public:
  Enclosed(Iteration &iteration, const ProductStep<Begin> &begin, const ProductStep<End> &end)
      : iteration(iteration), begin(begin), end(end)
  {}

  template <class... Steps>
  void once(const Steps &...steps)
  {
    if (!has_begun)
      iteration.once(begin);
    has_begun = true;
    iteration.once(steps...);
  }

  template <class Watch, class... Steps>
  void repeat(const Watch &watch, const Steps &...steps)
  {
    iteration.repeat_between(begin, end, has_begun, watch, steps...);
  }

  /// The loop as @p method, which begins and ends by itself. False: that cannot be, or is not
  /// wanted, and nothing has been done.
  template <class Watch, class Method>
  bool keep_on_chip(const Matrix &A, const Watch &watch, const Method &method)
  {
    return !has_begun && iteration.keep_on_chip(A, watch, method);
  }

private:
  Iteration &iteration;
  ProductStep<Begin> begin;
  ProductStep<End> end;
  bool has_begun = false;
};

/**
 * Solves A x = b with fused steps: @p iterate(iteration, m, kept) gets the view of M⁻¹ and runs the
 * steps of the method, from the residual on, with a new @p State, until an epilogue stops it; its
 * loop comes last. A loop that begins by itself keeps x in the n rows of kept.
 * @param r where the residual is written; n rows
 */
template <class Backend, class State, class Sums, class Iterate>
SolveReport solve_with_steps(const std::string &solver, const Matrix &A, const Preconditioner &M,
                             const Buffer<double> &b, Buffer<double> &x, double *const r,
                             const SolveControl &control, const IterationCosts &costs,
                             const Iterate &iterate)
{
  const auto m_view = M.action();
  const IterationCost &cost =
      std::holds_alternative<const Operator *>(m_view) ? costs.general : costs.fused;
  SolveReport report = report_of_method(A, M, solver, cost, x.bytes());

  Iteration<Backend, State, WithResidual<Sums>> iteration(*A.executor(), A.n());
  iteration.choose(control.execution);
  Buffer<double> kept(A.executor(), x.size());
  // All of it is given to the device before anybody waits.
  const auto run_from_x = [&](const KrylovState &start) -> KrylovState {
    State state;
    static_cast<KrylovState &>(state) = start;
    iteration.set_state(state);
    Enclosed enclosed(
        iteration,
        product(A.csr(), x.data(), BeginWithResidual<Sums>{{b.data(), r}, x.data(), kept.data()}),
        product(A.csr(), x.data(), EndWithResidual<Sums>{{b.data(), r}}));
    std::visit([&](const auto &m) { iterate(enclosed, m, kept.data()); }, m_view);
    return iteration.get_state();
  };
  const auto run = [&](const KrylovState &start) {
    const KrylovState state = run_from_x(start);
    if (state.bb != 0.)
      return state;
    x.fill_zero(); // the solution for b = 0, whatever the guess was
    return run_from_x(start);
  };
  report = solve_to_true_residual<State>(iteration, A, control, std::move(report), run,
                                         [&] { x.copy_from(kept); });
  report.norm = name_of_norm(control);
  report.execution = iteration.execution();
  describe(report);
  return report;
}

/// The same for a method that has no place of its own for the residual: @p iterate(iteration, m, r)
template <class Backend, class State, class Sums, class Iterate>
SolveReport solve_with_steps(const std::string &solver, const Matrix &A, const Preconditioner &M,
                             const Buffer<double> &b, Buffer<double> &x,
                             const SolveControl &control, const IterationCosts &costs,
                             const Iterate &iterate)
{
  Buffer<double> r(A.executor(), static_cast<std::size_t>(A.n()));
  return solve_with_steps<Backend, State, Sums>(
      solver, A, M, b, x, r.data(), control, costs,
      [&](auto &iteration, const auto &m, double * /* kept */) { iterate(iteration, m, r); });
}

/// Sets vectors to zero before the first pass of a loop that begins with an update.
inline void fill_zero(const std::initializer_list<Buffer<double> *> vectors)
{
  for (Buffer<double> *const v : vectors)
    v->fill_zero();
}

/// The watch of a loop that tells @p control about its progress.
template <class State>
Watch<State> watch_for(const SolveControl &control)
{
  if (!control.progress)
    return {};
  return [&control](const State &s) { control.progress(s.iteration, std::sqrt(s.rr)); };
}
} // namespace femgpu::linalg

#endif
