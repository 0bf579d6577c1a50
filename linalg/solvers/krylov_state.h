#ifndef femgpu_linalg_solvers_krylov_state_h
#define femgpu_linalg_solvers_krylov_state_h

#include "linalg/solvers/energy_error.h"
#include "linalg/solvers/report.h"
#include "linalg/steps/steps.h"

/**
 * @file
 * The state that the epilogues (steps/steps.h) of Krylov solvers check, and the policy that decides
 * on restarts.
 */
namespace femgpu::linalg
{
/// The part of a Krylov solver's state that stopping criteria need, in the executor's memory.
struct KrylovState : LoopState
{
  int iteration = 0; ///< number of updates of x
  int max_iterations = 0;
  double rr = 0.;          ///< (r, r) of the recurrence
  double target_rr = 0.;   ///< converged at or below this
  double diverged_rr = 0.; ///< diverged above this
  static constexpr double divergence_factor = 1e8;
  static constexpr bool supports_variants = false; ///< initial value of has_variants
  /// Smallest target_rr: below it, products within an iteration underflow; the true residual has
  /// stagnated long before.
  static constexpr double smallest_rr = 1e-280;
  Outcome outcome = Outcome::breakdown;
  int restarts = 0;          ///< restarts that the method itself makes
  int history_size = 0;      ///< length of `history`; negative: this copy of the state writes none
  double *history = nullptr; ///< squared residual norms of the first iterations

  // The members from which begin() computes the target.
  double relative_tolerance = 0., absolute_tolerance = 0.;
  bool is_relative_to_rhs = true;
  double value_precision = 0.; ///< relative precision of the entries of A
  /// Growth of the residual that counts as divergence.
  double growth_limit = divergence_factor;
  /// Whether a run without progress may be repeated with another variant of the method.
  bool has_variants = false;
  int failed_runs = 0; ///< number of consecutive failed runs before this one
  /// A run ends once its residual is at most this fraction of the residual at the start, so that
  /// its result is saved; 0: no such end.
  double run_reduction = 0.;
  double target = 0.;      ///< norm that the true residual has to reach
  double initial_rr = -1.; ///< (r, r) of the initial guess; negative: not yet known
  double start_rr = 0.;    ///< (r, r) at the last begin()
  double true_rr = 0.;     ///< (r, r) of r = b − A x, recomputed
  double bb = 0.;          ///< (b, b), or another reference of the tolerance

  /// Whether the error in the energy norm ends the solve; the tolerances then apply to this error.
  bool stops_by_error = false;
  double check_threshold = -1.; ///< copy of EnergyError::check_threshold
  double energy_sum = 0.;       ///< sum of the reductions of the squared error by all updates

  // Members for methods that call count_update(); see LoopState::n_epilogue_values.
  static constexpr int n_energy = sizeof(EnergyError) / sizeof(double);
  FEMGPU_HD
  EnergyError &energy() const
  {
    return *reinterpret_cast<EnergyError *>(history - n_energy);
  }
  /// Disables the checks of the error within the loop.
  FEMGPU_HD
  void disable_deferred()
  {
    stops_by_error = false;
    check_threshold = -1.;
  }
  FEMGPU_HD
  void run_deferred() const
  {
    EnergyError &error = energy();
    if (EnergyError::is_due(iteration, error.term(iteration - 1), check_threshold))
      error.run_deferred(iteration, energy_sum);
  }
  FEMGPU_HD
  void receive_deferred()
  {
    const EnergyError &error = energy();
    wants_deferred = false;
    check_threshold = error.check_threshold;
    if (has_stagnated()) {
      --iteration;
      stop(Outcome::converged);
    }
    if (error.reduction == 0. || !running)
      return;
    target = fmax(largest_drift * sqrt(rr), negligible * error.reduction * sqrt(start_rr));
    --iteration; // the pending update is not made
    stop(Outcome::converged);
  }

  /**
   * Returns whether the recurrence of conjugate gradients stagnates at rounding level: there is a
   * target, and (r, r) has been constant for some iterations and is much smaller than at the start
   * of the run. The run then ends as if it had met its target, and the true residual decides.
   * (While a load travels through a bar, (r, r) is also constant, but not small.) Loops that keep
   * their vectors on a chip do not check this.
   */
  FEMGPU_HD
  bool has_stagnated() const
  {
    const int last = iteration - 1; // last iteration that has been checked
    if (last < max_unchanged_residuals || last >= history_size || target <= 0. ||
        rr > stagnation_reduction * start_rr)
      return false;
    for (int k = last - max_unchanged_residuals; k < last; ++k)
      if (fabs(history[k] - rr) > stagnation_tolerance * rr)
        return false;
    return true;
  }

  /// Begins to estimate the error in the energy norm.
  /// @param energy_start (b, x) + (x, r)
  FEMGPU_HD
  void begin_energy(const double energy_start)
  {
    check_threshold = stops_by_error ? EnergyError::initial_threshold : -1.;
    energy_sum = 0.;
    if (history_size >= 0)
      energy().begin(iteration, energy_start, stops_by_error ? relative_tolerance : 0.,
                     stops_by_error ? absolute_tolerance : 0.);
  }

  /// Prepares to iterate from an x with (r, r) = @p new_rr, or stops.
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
    if (stops_by_error)
      target = 0.; // receive_deferred() sets it once the error is small
    // Checked first, because an infinite b makes the target infinite too.
    if (!is_finite(rr) || !is_finite(bb))
      stop(Outcome::not_finite);
    else if (sqrt(rr) <= target)
      stop(Outcome::converged);
    // If the values of A are rounded, the recurrence uses only a few digits of A. Each start then
    // refines the solution by as many digits.
    const bool is_rounded = value_precision > 1e-15;
    const double reduction = fmax(is_rounded ? 100. * value_precision : 0., run_reduction);
    const double next_target = fmax(target, reduction * sqrt(rr));
    target_rr = fmax(next_target * next_target, smallest_rr);
  }

  FEMGPU_HD
  void stop(const Outcome o)
  {
    outcome = o;
    running = false;
  }

  /// Checks the residual @p new_rr = (r, r) after `iteration` updates of x, and stops if a
  /// criterion is met.
  FEMGPU_HD
  void check(const double new_rr)
  {
    record(new_rr);
    if (!should_continue())
      end();
  }

  /// Checks the residual as check() does; in addition, @p rMr = (r, M⁻¹r) and @p pAp = (p, A p) of
  /// the next direction must be positive.
  FEMGPU_HD
  void check_spd(const double new_rr, const double rMr, const double pAp)
  {
    record(new_rr);
    if (should_continue() & (rMr > 0.) & (rMr <= largest) & (pAp > 0.) & (pAp <= largest))
      return;
    end();
    // If several criteria are met, the residual takes precedence, then the signs of rMr and pAp,
    // then the iteration limit.
    if (!running && outcome != Outcome::iteration_limit)
      return;
    if (!is_finite(rMr) || !is_finite(pAp))
      stop(Outcome::not_finite);
    else if (rMr <= 0.)
      stop(Outcome::indefinite_preconditioner);
    else if (pAp <= 0.)
      stop(Outcome::indefinite_matrix);
  }

  /**
   * Counts the next update x += α p of conjugate gradients, which reduces the squared energy norm
   * of the error by @p alpha_gamma = α (r, M⁻¹r). If the error has already reached its target,
   * receive_deferred() cancels the update. The recomputed residual must then agree with the
   * residual of the recurrence, on which the estimate relies, or must be so small that their
   * difference is negligible. A stopped state does not change. Contains no branches, because a GPU
   * waits at each branch.
   */
  FEMGPU_HD
  void count_update(const double alpha_gamma)
  {
    if (running & (history_size >= 0))
      energy().store(iteration, alpha_gamma);
    energy_sum = running ? energy_sum + alpha_gamma : energy_sum;
    iteration += running ? 1 : 0;
    wants_deferred = running & (EnergyError::is_due(iteration, alpha_gamma, check_threshold) |
                                ((iteration & (check_interval - 1)) == 0));
  }

  FEMGPU_HD
  static bool is_finite(const double value)
  {
    return value - value == 0.;
  }

  static constexpr double largest = 1.7976931348623157e308;
  /// The recurrence stagnates if (r, r) is at most stagnation_reduction times its initial value and
  /// changes by at most stagnation_tolerance (relative) in max_unchanged_residuals iterations.
  static constexpr double stagnation_tolerance = 1e-10, stagnation_reduction = 1e-20;
  static constexpr int max_unchanged_residuals = 10;
  static constexpr int check_interval = 32; ///< iterations between stagnation checks; a power of 2
  /// If the energy error ends the solve, the true residual may be up to largest_drift times the
  /// residual of the recurrence, or negligible times the initial residual times the reduction of
  /// the energy error, whichever is larger.
  static constexpr double largest_drift = 2., negligible = 0.01;

private:
  FEMGPU_HD
  void record(const double new_rr)
  {
    rr = new_rr;
    if (iteration < history_size)
      history[iteration] = new_rr;
  }

  /// Returns whether the loop continues; false if rr is NaN. Contains no branches, because a GPU
  /// waits at each branch.
  FEMGPU_HD
  bool should_continue() const
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

/// The solve ends after this number of consecutive runs without progress.
constexpr int max_failed_runs = 5;

/**
 * Judges each run of a method by the recomputed residual, whatever the recurrence yields. The
 * policy stores the residual of the best x, from which each run starts; a run that makes x worse is
 * undone.
 *
 * If the true residual misses a target that the recurrence has met, the method restarts, until a
 * restart no longer halves the residual; the outcome then is `stagnated`. The method also restarts
 * after a breakdown, unless breakdowns repeat without progress. A method with variants restarts
 * with another variant, also after a breakdown in the first step, after divergence, even to
 * infinity, or after its recurrence has drifted from the true residual; these runs end as soon as
 * they have made progress. With finite data, a solve that has made an iteration never ends as
 * not_finite.
 */
struct RestartPolicy
{
  Outcome outcome = Outcome::breakdown; ///< outcome of the solve
  int restarts = 0;
  double best_rr = -1.; ///< (r, r) of the best x; negative: not yet known
  bool keeps_x = true;  ///< whether to keep the x of the last run; otherwise x must be restored

  /// Prepares the state for a run.
  FEMGPU_HD
  void prepare(KrylovState &s) const
  {
    s.running = true;
    s.failed_runs = failed_runs;
    s.run_reduction = is_careful ? careful_reduction : 0.;
  }

  /// Returns whether the method restarts after a run that has ended with @p s. If not, the solve is
  /// over.
  FEMGPU_HD
  bool needs_restart(const KrylovState &s)
  {
    const double before = best_rr < 0. ? s.initial_rr : best_rr;
    // The residual may grow while the error falls.
    const bool has_small_error = s.stops_by_error && sqrt(s.true_rr) <= s.target;
    keeps_x = s.true_rr <= before || !KrylovState::is_finite(before) || has_small_error;
    best_rr = keeps_x ? s.true_rr : before;
    outcome = s.outcome;
    if (!KrylovState::is_finite(best_rr) || !KrylovState::is_finite(s.bb))
      outcome = Outcome::not_finite;
    else if (keeps_x && sqrt(best_rr) <= s.target)
      outcome = Outcome::converged;
    else if (should_restart(s, before)) {
      ++restarts;
      iterations_before = s.iteration;
      return true;
    }
    return false;
  }

private:
  static constexpr double careful_reduction = 0.01;

  /// @param before (r, r) at the start of the run
  FEMGPU_HD
  bool should_restart(const KrylovState &s, const double before)
  {
    const bool has_progressed = best_rr < 0.99 * before;
    const bool has_drifted = s.outcome == Outcome::converged && !(s.true_rr <= 0.25 * before);
    const bool is_not_finite =
        s.outcome == Outcome::not_finite || !KrylovState::is_finite(s.true_rr);
    const bool is_lost = s.outcome == Outcome::diverged || is_not_finite;
    const bool has_failed =
        s.outcome == Outcome::breakdown || (s.has_variants && (has_drifted || is_lost));
    // Without variants, a run that did nothing would do nothing again.
    if (has_failed && (s.has_variants || s.iteration > iterations_before)) {
      failed_runs = has_progressed ? 0 : failed_runs + 1;
      is_careful = is_careful || !has_progressed;
      if (failed_runs < max_failed_runs && s.iteration < s.max_iterations)
        return true;
    }
    if (has_drifted)
      outcome = Outcome::stagnated;
    if (is_not_finite) // the best x is finite: numbers have grown, unless A or M is not finite
      outcome = s.iteration > 0 ? Outcome::diverged : Outcome::not_finite;
    return s.outcome == Outcome::converged && !has_drifted;
  }

  int iterations_before = 0; // number of iterations when the previous run ended
  int failed_runs = 0;
  bool is_careful = false;
};
} // namespace femgpu::linalg

#endif
