#ifndef femgpu_linalg_solvers_energy_error_h
#define femgpu_linalg_solvers_energy_error_h

#include "linalg/base/host_device.h"
#include "linalg/solvers/report.h"

#include <cmath>

namespace femgpu::linalg
{
/**
 * Estimates the error of conjugate gradients in the energy norm, ‖e‖²_A = (e, A e), from quantities
 * that the steps compute anyway: step j reduces ‖x − x_j‖²_A by Δ_j = α_j (r_j, M⁻¹r_j) (Hestenes
 * and Stiefel 1952), so that
 *
 *     ‖x − x_l‖²_A >= Δ_l + ... + Δ_k,
 *
 * where the difference is ‖x − x_{k+1}‖²_A. The delay k − l is adaptive (Meurant, Papež, Tichý:
 * Accurate error estimation in CG, Numerical Algorithms 88, 2021): l is the last iterate for which
 *
 *     S Δ_k <= τ (Δ_l + ... + Δ_{k−1}),   S = max_j (Δ_j + ... + Δ_k) / Δ_j
 *
 * over those j since which the squared error has fallen by 10⁴, or over all j. S is the largest
 * ratio of the squared error to a term so far, so that S Δ_k estimates the difference; the bound
 * then has relative accuracy τ.
 *
 * ‖x‖²_A = (b, x₀) + (x₀, r₀) + ‖x − x₀‖²_A, to which a tolerance may be relative, is also
 * estimated from below by these sums.
 *
 * An iteration only stores one number; look() is called occasionally. The latest terms are stored
 * one by one, older ones as sums over intervals of equal length. The length doubles when all
 * intervals are in use, so that any number of iterations fits. S uses the smallest term of an
 * interval, which can only overestimate S. All this memory precedes the history, see
 * LoopState::n_kept; begin() must be called first.
 */
struct EnergyError
{
  static constexpr int n_recent = 256; ///< a power of two
  static constexpr int chunk = 8;      ///< recent terms that are merged at a time
  static constexpr int n_intervals = 64;
  static constexpr double accuracy = 0.25;  ///< τ
  static constexpr double forgotten = 1e-4; ///< smallest Δ_k / (Δ_j + ... + Δ_k) of the j in S
  /// look() is due after each iteration whose number is a multiple of this.
  static constexpr int interval_of_looks = n_recent / 2;

  double relative_tolerance, absolute_tolerance; ///< the larger one applies; 0: none
  double start;                                  ///< (b, x₀) + (x₀, r₀)
  int first;                                     ///< iterate at which the recurrence began
  int n_taken;                                   ///< terms that have been merged into sums
  int length;                                    ///< terms per interval
  double open_sum, open_least;                   ///< of the interval that is not yet full

  double watched;   ///< terms above this imply a large error; negative: the error does not decide
  double reduction; ///< of the error since the recurrence began, once the target is reached; else 0

  double recent[n_recent]; ///< Δ_k at index k mod n_recent
  double sums[n_intervals], least[n_intervals];

  /// Begins a recurrence at iterate @p iteration.
  FEMGPU_HD
  void begin(const int iteration, const double new_start, const double relative,
             const double absolute)
  {
    relative_tolerance = relative;
    absolute_tolerance = absolute;
    first = iteration;
    start = new_start;
    n_taken = 0;
    length = chunk;
    open_sum = open_least = 0.;
    watched = relative > 0. || absolute > 0. ? first_watched : -1.;
    reduction = 0.;
  }

  /// Stores Δ_k.
  FEMGPU_HD
  void store(const int k, const double term)
  {
    recent[k & (n_recent - 1)] = term;
  }
  /// Returns the stored term of a recent iteration.
  FEMGPU_HD
  double term(const int k) const
  {
    return recent[k & (n_recent - 1)];
  }

  /// Returns whether look() is due after @p n_iterations, the last of which has @p term. @p watched
  /// is the member. If the error decides, ‖x‖_A is needed early: look() is also due after 1, 2, 4,
  /// ... iterations. Otherwise the result does not depend on the term, so that nothing waits for
  /// it.
  FEMGPU_HD
  static bool is_due(const int n_iterations, const double term, const double watched)
  {
    constexpr int regular = interval_of_looks - 1;
    if (watched < 0.)
      return (n_iterations & regular) == 0;
    const int mask = n_iterations > interval_of_looks ? regular : n_iterations - 1;
    return (n_iterations & mask) == 0 || term <= watched;
  }

  /// Merges old terms to make room for those from @p end on, and determines whether the error has
  /// reached its target, if there is one. @param sum of all terms
  FEMGPU_HD_CALLED
  void look(const int end, const double sum)
  {
    FEMGPU_ROLLED
    while (end - first - n_taken >= n_recent / 2)
      take_chunk();
    if (watched < 0.)
      return;
    const double target = squared_target(sum);
    const double last = term(end - 1);
    if (!(last <= accuracy * target)) { // S >= 1
      watched = accuracy * target;
      return;
    }
    const double S = safety(end);
    const Bound bound = bound_of(end, S * last);
    watched = accuracy * target / S;
    if (bound.squared >= 0. && bound.squared <= target)
      reduction = sqrt(target / sum);
  }

  /// Returns the estimates after @p n_iterations, from all terms, whose sum is @p sum; if look()
  /// was never called, from the recent terms.
  FEMGPU_HD_CALLED
  EnergyReport report(const int n_iterations, const double sum)
  {
    EnergyReport known;
    // at the target, the last term belongs to an update that was not made
    const int end = reduction > 0. ? n_iterations + 1 : n_iterations;
    if (end == first)
      return known;
    if (end - first - n_taken > n_recent)
      first = end - n_recent - n_taken;
    known.norm = sqrt(squared_norm(sum));
    if (watched >= 0.)
      known.target = sqrt(squared_target(sum));
    const Bound bound = bound_of(end, safety(end) * term(end - 1));
    if (bound.squared >= 0.) {
      known.error = sqrt(bound.squared);
      known.delay = n_iterations - end + bound.terms;
    }
    return known;
  }

  static constexpr double first_watched = 1.7976931348623157e308;

private:
  struct Bound
  {
    double squared; ///< negative: no bound
    int terms;      ///< number of terms in the sum
  };
  /// Consecutive terms.
  struct Piece
  {
    double sum, least;
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
  int n_pieces(const int end) const
  {
    const int open = n_taken % length > 0 ? 1 : 0;
    return end - first - n_taken + open + n_taken / length;
  }
  /// Returns a piece, counted backwards from the last term before @p end.
  FEMGPU_HD
  Piece piece(const int number, const int end) const
  {
    const int n_single = end - first - n_taken, n_complete = n_taken / length;
    const int open_terms = n_taken % length;
    if (number < n_single) {
      const double single = term(end - 1 - number);
      return {single, single, 1};
    }
    if (number == n_single && open_terms > 0)
      return {open_sum, open_least, open_terms};
    const int k = n_single + (open_terms > 0 ? 1 : 0) + n_complete - 1 - number;
    return {sums[k], least[k], length};
  }

  /// Returns S.
  FEMGPU_HD
  double safety(const int end) const
  {
    const double last = term(end - 1);
    const int n = n_pieces(end);
    double sum = 0., ratio = 1.;
    FEMGPU_ROLLED
    for (int number = 0; number < n && last > forgotten * sum; ++number) {
      const Piece at = piece(number, end);
      sum += at.sum;
      if (sum > ratio * at.least)
        ratio = sum / at.least;
    }
    return ratio;
  }

  /// Returns the bound Δ_l + ... + Δ_k with the adaptive delay, where S Δ_k is @p lacking.
  FEMGPU_HD
  Bound bound_of(const int end, const double lacking) const
  {
    const double last = term(end - 1);
    const int n = n_pieces(end);
    Bound bound{0., 0};
    FEMGPU_ROLLED
    for (int number = 0; number < n; ++number) {
      const Piece at = piece(number, end);
      bound = {bound.squared + at.sum, bound.terms + at.terms};
      if (lacking <= accuracy * (bound.squared - last))
        return bound;
    }
    return {-1., 0};
  }

  /// Merges the oldest of the recent terms into the open interval.
  FEMGPU_HD
  void take_chunk()
  {
    double terms[chunk];
    FEMGPU_UNROLL
    for (int k = 0; k < chunk; ++k)
      terms[k] = term(first + n_taken + k);
    double sum = terms[0], smallest = terms[0];
    FEMGPU_UNROLL
    for (int k = 1; k < chunk; ++k) {
      sum += terms[k];
      smallest = fmin(smallest, terms[k]);
    }
    const bool is_open = n_taken % length > 0;
    open_sum = is_open ? open_sum + sum : sum;
    open_least = is_open ? fmin(open_least, smallest) : smallest;
    n_taken += chunk;
    if (n_taken % length == 0)
      close_interval();
  }

  FEMGPU_HD
  void close_interval()
  {
    const int n = n_taken / length;
    sums[n - 1] = open_sum;
    least[n - 1] = open_least;
    if (n < n_intervals)
      return;
    FEMGPU_ROLLED
    for (int i = 0, pair = 0; pair < n_intervals; ++i, pair += 2) {
      sums[i] = sums[pair] + sums[pair + 1];
      least[i] = fmin(least[pair], least[pair + 1]);
    }
    length *= 2;
  }
};
} // namespace femgpu::linalg

#endif
