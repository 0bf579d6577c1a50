#ifndef femgpu_linalg_solvers_energy_error_h
#define femgpu_linalg_solvers_energy_error_h

#include "linalg/base/host_device.h"
#include "linalg/solvers/report.h"

#include <cmath>

namespace femgpu::linalg
{
/**
 * Estimates the error of conjugate gradients in the energy norm, ‖e‖²_A = (e, A e), from quantities
 * that the method computes anyway: iteration j reduces ‖x − x_j‖²_A by Δ_j = α_j (r_j, M⁻¹r_j)
 * (Hestenes and Stiefel 1952), so that
 *
 *     ‖x − x_l‖²_A >= Δ_l + ... + Δ_k,
 *
 * where the two sides differ by ‖x − x_{k+1}‖²_A. The delay k − l is adaptive (Meurant, Papež,
 * Tichý: Accurate error estimation in CG, Numerical Algorithms 88, 2021): l is the last iterate for
 * which
 *
 *     S Δ_k <= τ (Δ_l + ... + Δ_{k−1}),   S = max_j (Δ_j + ... + Δ_k) / Δ_j
 *
 * where j goes back from k until the squared error at j is 10⁴ times as large as at k, or to the
 * first iterate if the error has not fallen as much. S is the largest ratio of the squared error at
 * j to Δ_j, so that S Δ_k estimates ‖x − x_{k+1}‖²_A; the bound then has relative accuracy τ.
 *
 * A tolerance may be relative to ‖x‖²_A = (b, x₀) + (x₀, r₀) + ‖x − x₀‖²_A, which is also estimated
 * from below: the sum of all Δ_j replaces ‖x − x₀‖²_A.
 *
 * An iteration only stores its term Δ_k; run_deferred() is called occasionally. The latest terms
 * are stored one by one, older ones as sums over intervals of equal length. The length doubles when
 * all intervals are in use, so that any number of iterations fits. S uses the smallest term of an
 * interval, which can only overestimate S. This struct is stored before the history of residuals,
 * see LoopState::n_epilogue_values; begin() must be called first.
 */
struct EnergyError
{
  static constexpr int n_recent = 256; ///< a power of two
  static constexpr int chunk = 8;      ///< number of recent terms that are merged at a time
  static constexpr int n_intervals = 64;
  static constexpr double accuracy = 0.25; ///< τ
  static constexpr double negligible_share =
      1e-4; ///< in S, j goes back until Δ_k / (Δ_j + ... + Δ_k) is at most this
  /// run_deferred() is due after each iteration whose number is a multiple of this.
  static constexpr int check_interval = n_recent / 2;

  double relative_tolerance, absolute_tolerance; ///< the larger one applies; 0: none
  double start;                                  ///< (b, x₀) + (x₀, r₀)
  int first;                                     ///< iterate at which the recurrence began
  int n_merged;                                  ///< number of terms merged into sums
  int length;                                    ///< number of terms per interval
  double open_sum, open_min_term; ///< sum and smallest term of the interval that is not full

  double check_threshold; ///< while Δ_k exceeds this, the bound cannot meet the target; negative:
                          ///< the error does not end the solve
  double reduction; ///< if the error has reached its target: the target divided by the initial
                    ///< error; else 0

  double recent[n_recent]; ///< Δ_k at index k mod n_recent
  double sums[n_intervals], min_term[n_intervals];

  /// Begins a recurrence at iterate @p iteration.
  FEMGPU_HD
  void begin(const int iteration, const double new_start, const double relative,
             const double absolute)
  {
    relative_tolerance = relative;
    absolute_tolerance = absolute;
    first = iteration;
    start = new_start;
    n_merged = 0;
    length = chunk;
    open_sum = open_min_term = 0.;
    check_threshold = relative > 0. || absolute > 0. ? initial_threshold : -1.;
    reduction = 0.;
  }

  /// Stores @p term as Δ_k.
  FEMGPU_HD
  void store(const int k, const double term)
  {
    recent[k & (n_recent - 1)] = term;
  }
  /// Returns Δ_k of a recent iteration @p k.
  FEMGPU_HD
  double term(const int k) const
  {
    return recent[k & (n_recent - 1)];
  }

  /// Returns whether run_deferred() is due after @p n_iterations iterations; @p term is Δ_k of the
  /// last one. If the error ends the solve, run_deferred() is also due if the term does not exceed
  /// the threshold, and after 1, 2, 4, ... iterations, because ‖x‖_A is needed early. Otherwise the
  /// result does not depend on the term, and the caller need not wait for the term.
  /// @param check_threshold the value of the member of that name
  FEMGPU_HD
  static bool is_due(const int n_iterations, const double term, const double check_threshold)
  {
    constexpr int regular = check_interval - 1;
    if (check_threshold < 0.)
      return (n_iterations & regular) == 0;
    const int mask = n_iterations > check_interval ? regular : n_iterations - 1;
    return (n_iterations & mask) == 0 || term <= check_threshold;
  }

  /// Merges old terms to free memory for Δ_k with k >= @p end, and determines whether the error has
  /// reached its target, if there is one.
  /// @param sum sum of all terms
  FEMGPU_HD_CALLED
  void run_deferred(const int end, const double sum)
  {
    FEMGPU_ROLLED
    while (end - first - n_merged >= n_recent / 2)
      merge_chunk();
    if (check_threshold < 0.)
      return;
    const double target = squared_target(sum);
    const double last = term(end - 1);
    if (!(last <= accuracy * target)) { // the bound cannot meet the target, because S >= 1
      check_threshold = accuracy * target;
      return;
    }
    const double S = safety_factor(end);
    const Bound bound = bound_of(end, S * last);
    check_threshold = accuracy * target / S;
    if (bound.squared >= 0. && bound.squared <= target)
      reduction = sqrt(target / sum);
  }

  /// Returns the estimates after @p n_iterations iterations. They use all terms, whose sum is
  /// @p sum, or only the recent terms if run_deferred() was never called.
  FEMGPU_HD_CALLED
  EnergyReport report(const int n_iterations, const double sum)
  {
    EnergyReport estimates;
    // at the target, the last term belongs to an update that was not made
    const int end = reduction > 0. ? n_iterations + 1 : n_iterations;
    if (end == first)
      return estimates;
    if (end - first - n_merged > n_recent)
      first = end - n_recent - n_merged;
    estimates.norm = sqrt(squared_norm(sum));
    if (check_threshold >= 0.)
      estimates.target = sqrt(squared_target(sum));
    const Bound bound = bound_of(end, safety_factor(end) * term(end - 1));
    if (bound.squared >= 0.) {
      estimates.error = sqrt(bound.squared);
      estimates.delay = n_iterations - end + bound.terms;
    }
    return estimates;
  }

  static constexpr double initial_threshold = 1.7976931348623157e308;

private:
  struct Bound
  {
    double squared; ///< negative: no bound
    int terms;      ///< number of terms in the sum
  };
  /// A group of consecutive terms: their sum, their minimum and their number.
  struct Segment
  {
    double sum, min_term;
    int terms;
  };

  FEMGPU_HD
  double squared_norm(const double sum) const
  {
    return fmax(0., start + sum);
  }
  FEMGPU_HD
  double squared_target(const double sum) const
  {
    return fmax(absolute_tolerance * absolute_tolerance,
                relative_tolerance * relative_tolerance * squared_norm(sum));
  }

  FEMGPU_HD
  int n_segments(const int end) const
  {
    const int open = n_merged % length > 0 ? 1 : 0;
    return end - first - n_merged + open + n_merged / length;
  }
  /// Returns segment @p number, counted backwards from the last term before @p end.
  FEMGPU_HD
  Segment segment_at(const int number, const int end) const
  {
    const int n_single = end - first - n_merged, n_complete = n_merged / length;
    const int open_terms = n_merged % length;
    if (number < n_single) {
      const double single = term(end - 1 - number);
      return {single, single, 1};
    }
    if (number == n_single && open_terms > 0)
      return {open_sum, open_min_term, open_terms};
    const int k = n_single + (open_terms > 0 ? 1 : 0) + n_complete - 1 - number;
    return {sums[k], min_term[k], length};
  }

  /// Returns the factor S for which S Δ_k estimates ‖x − x_{k+1}‖²_A.
  FEMGPU_HD
  double safety_factor(const int end) const
  {
    const double last = term(end - 1);
    const int n = n_segments(end);
    double sum = 0., ratio = 1.;
    FEMGPU_ROLLED
    for (int number = 0; number < n && last > negligible_share * sum; ++number) {
      const Segment segment = segment_at(number, end);
      sum += segment.sum;
      if (sum > ratio * segment.min_term)
        ratio = sum / segment.min_term;
    }
    return ratio;
  }

  /// Returns the lower bound Δ_l + ... + Δ_k of the squared error, with the adaptive delay.
  /// @p remainder is S Δ_k.
  FEMGPU_HD
  Bound bound_of(const int end, const double remainder) const
  {
    const double last = term(end - 1);
    const int n = n_segments(end);
    Bound bound{0., 0};
    FEMGPU_ROLLED
    for (int number = 0; number < n; ++number) {
      const Segment segment = segment_at(number, end);
      bound = {bound.squared + segment.sum, bound.terms + segment.terms};
      if (remainder <= accuracy * (bound.squared - last))
        return bound;
    }
    return {-1., 0};
  }

  /// Merges the oldest of the recent terms into the open interval.
  FEMGPU_HD
  void merge_chunk()
  {
    double terms[chunk];
    FEMGPU_UNROLL
    for (int k = 0; k < chunk; ++k)
      terms[k] = term(first + n_merged + k);
    double sum = terms[0], smallest = terms[0];
    FEMGPU_UNROLL
    for (int k = 1; k < chunk; ++k) {
      sum += terms[k];
      smallest = fmin(smallest, terms[k]);
    }
    const bool is_open = n_merged % length > 0;
    open_sum = is_open ? open_sum + sum : sum;
    open_min_term = is_open ? fmin(open_min_term, smallest) : smallest;
    n_merged += chunk;
    if (n_merged % length == 0)
      close_interval();
  }

  FEMGPU_HD
  void close_interval()
  {
    const int n = n_merged / length;
    sums[n - 1] = open_sum;
    min_term[n - 1] = open_min_term;
    if (n < n_intervals)
      return;
    FEMGPU_ROLLED
    for (int i = 0, pair = 0; pair < n_intervals; ++i, pair += 2) {
      sums[i] = sums[pair] + sums[pair + 1];
      min_term[i] = fmin(min_term[pair], min_term[pair + 1]);
    }
    length *= 2;
  }
};
} // namespace femgpu::linalg

#endif
