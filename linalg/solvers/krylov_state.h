#ifndef femgpu_linalg_solvers_krylov_state_h
#define femgpu_linalg_solvers_krylov_state_h

#include "linalg/solvers/energy_error.h"
#include "linalg/solvers/report.h"
#include "linalg/steps/steps.h"

/**
 * @file
 * The state that the epilogues of Krylov solvers check, and the judge of their runs.
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
  int restarts = 0;          ///< that the method has made by itself
  int history_size = 0;      ///< negative: where this state is, nothing is written
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

  /// Does the error in the energy norm decide? The tolerances are of that then.
  bool stops_by_error = false;
  double watched = -1.;   ///< see EnergyError
  double energy_sum = 0.; ///< of all that updates have taken off the squared error

  // Of LoopState, for methods that count_update().
  static constexpr int n_energy = sizeof(EnergyError) / sizeof(double);
  FEMGPU_HD
  EnergyError &energy() const
  {
    return *reinterpret_cast<EnergyError *>(history - n_energy);
  }
  /// Nobody will look before the end.
  FEMGPU_HD
  void keep_only()
  {
    stops_by_error = false;
    watched = -1.;
  }
  FEMGPU_HD
  void look() const
  {
    EnergyError &error = energy();
    if (EnergyError::is_due(iteration, error.term(iteration - 1), watched))
      error.look(iteration, energy_sum);
  }
  FEMGPU_HD
  void hear()
  {
    const EnergyError &error = energy();
    asks = false;
    watched = error.watched;
    if (stands_still()) {
      --iteration;
      stop(Outcome::converged);
    }
    if (error.reduction == 0. || !running)
      return;
    target = fmax(largest_drift * sqrt(rr), negligible * error.reduction * sqrt(start_rr));
    --iteration; // the update is not worth it any more
    stop(Outcome::converged);
  }

  /**
   * At its rounding the recurrence of conjugate gradients may stand still. If there is a target and
   * the run has brought much, it has ended then as one that has met its target, and the true
   * residual decides. (A load that travels through a bar leaves (r, r) as it is, too, but at
   * first.) Loops that stay on a chip do not look.
   */
  FEMGPU_HD
  bool stands_still() const
  {
    const int last = iteration - 1; // that has been checked
    if (last < most_unchanged || last >= history_size || target <= 0. || rr > much_less * start_rr)
      return false;
    for (int k = last - most_unchanged; k < last; ++k)
      if (fabs(history[k] - rr) > same_rr * rr)
        return false;
    return true;
  }

  /// The recurrence begins. @p energy_start = (b, x) + (x, r)
  FEMGPU_HD
  void begin_energy(const double energy_start)
  {
    watched = stops_by_error ? EnergyError::first_watched : -1.;
    energy_sum = 0.;
    if (history_size >= 0)
      energy().begin(iteration, energy_start, stops_by_error ? relative_tolerance : 0.,
                     stops_by_error ? absolute_tolerance : 0.);
  }

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
    if (stops_by_error)
      target = 0.; // until the error is small: hear()
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

  /**
   * Conjugate gradients: counts the update x += α p that comes next, which takes @p alpha_gamma =
   * α (r, M⁻¹r) off the squared energy norm of the error. It is not made if that is as small as it
   * is to be: hear(). The residual computed anew then has to agree with that of the recurrence, on
   * which the estimate stands, or to be so small that the difference does not count. Of a state
   * that has been stopped nothing changes; without branches, see goes_on().
   */
  FEMGPU_HD
  void count_update(const double alpha_gamma)
  {
    if (running & (history_size >= 0))
      energy().store(iteration, alpha_gamma);
    energy_sum = running ? energy_sum + alpha_gamma : energy_sum;
    iteration += running ? 1 : 0;
    asks = running & (EnergyError::is_due(iteration, alpha_gamma, watched) |
                      ((iteration & (interval_of_looks - 1)) == 0));
  }

  FEMGPU_HD
  static bool is_finite(const double value)
  {
    return value - value == 0.;
  }

  static constexpr double largest = 1.7976931348623157e308;
  /// Of a recurrence that stands still: the relative change of (r, r), what it has become of that
  /// at the start, and iterations one after the other.
  static constexpr double same_rr = 1e-10, much_less = 1e-20;
  static constexpr int most_unchanged = 10;
  static constexpr int interval_of_looks = 32; ///< a power of two
  /// Of the true residual, in units of the recurrence's; or of one that has fallen since the
  /// recurrence began as the energy error has.
  static constexpr double largest_drift = 2., negligible = 0.01;

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

/// So many runs one after the other that leave the residual as it is end the solve.
constexpr int most_failed_runs = 5;

/**
 * Judges each run of a method by the residual that was computed anew, whatever the recurrence says,
 * and knows that of the best x, from which each run starts: a run that makes x worse is undone. If
 * the residual misses a target that the recurrence has met, the method is to start again, until
 * that no longer halves the residual: then it has stagnated. It is to start again after a breakdown
 * too, unless it breaks down again and again without progress. A method that has variants starts
 * again with another one, also where a run broke down in its first step, where it diverged, up to
 * infinity, or where its recurrence has left the residual; such runs end as soon as they have
 * brought something. From finite data a solve that has made an iteration never ends as not_finite.
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
    // While the error falls the residual may grow.
    const bool has_small_error = s.stops_by_error && sqrt(s.true_rr) <= s.target;
    keeps_x = s.true_rr <= before || !KrylovState::is_finite(before) || has_small_error;
    best_rr = keeps_x ? s.true_rr : before;
    outcome = s.outcome;
    if (!KrylovState::is_finite(best_rr) || !KrylovState::is_finite(s.bb))
      outcome = Outcome::not_finite;
    else if (keeps_x && sqrt(best_rr) <= s.target)
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
    const bool is_not_finite =
        s.outcome == Outcome::not_finite || !KrylovState::is_finite(s.true_rr);
    const bool is_lost = s.outcome == Outcome::diverged || is_not_finite;
    const bool has_failed =
        s.outcome == Outcome::breakdown || (s.has_variants && (has_drifted || is_lost));
    // Without variants a run that did nothing would be repeated.
    if (has_failed && (s.has_variants || s.iteration > iterations_before)) {
      failed_runs = has_progressed ? 0 : failed_runs + 1;
      is_careful = is_careful || !has_progressed;
      if (failed_runs < most_failed_runs && s.iteration < s.max_iterations)
        return true;
    }
    if (has_drifted)
      outcome = Outcome::stagnated;
    if (is_not_finite) // though the best x is finite: unless A or M is to blame, numbers grew
      outcome = s.iteration > 0 ? Outcome::diverged : Outcome::not_finite;
    return s.outcome == Outcome::converged && !has_drifted;
  }

  int iterations_before = 0; // the run that has ended
  int failed_runs = 0;
  bool is_careful = false;
};
} // namespace femgpu::linalg

#endif
