#ifndef femgpu_linalg_solvers_energy_error_h
#define femgpu_linalg_solvers_energy_error_h

#include "linalg/base/host_device.h"

#include <cmath>

namespace femgpu::linalg
{
/**
 * Estimates the error of conjugate gradients in the energy norm, ‖e‖²_A = (e, A e), from what the
 * steps have at hand: step j takes Δ_j = α_j (r_j, M⁻¹r_j) off ‖x − x_j‖²_A (Hestenes, Stiefel
 * 1952), so that
 *
 *     ‖x − x_l‖²_A >= Δ_l + ... + Δ_k,
 *
 * which lacks but ‖x − x_{k+1}‖²_A. The delay k − l is adaptive (Meurant, Papež, Tichý: Accurate
 * error estimation in CG, Numerical Algorithms 88, 2021): l is the last iterate for which
 *
 *     S Δ_k <= τ (Δ_l + ... + Δ_{k−1}),   S = max_j (Δ_j + ... + Δ_k) / Δ_j
 *
 * over those j since which the squared error has fallen by 10⁴, or all. S Δ_k stands for what is
 * lacking, as S is the most that has been lacking so far; the bound then has relative accuracy τ.
 *
 * ‖x‖²_A = (b, x₀) + (x₀, r₀) + ‖x − x₀‖²_A, to which a tolerance may be relative, is estimated by
 * the same sums, from below too.
 *
 * The terms are kept as sums over intervals of equal length, which doubles when the window is full,
 * so that any number of iterations has its place; S takes the least term of an interval, so that it
 * comes out larger, never smaller. An interval begins with two terms: when one is stored, nothing
 * is looked at. So threads that each have this struct can share the window, if they meet once for
 * each term.
 */
struct EnergyError
{
  static constexpr int intervals = 64;
  static constexpr int memory = 2 * intervals; ///< numbers of a window
  static constexpr double accuracy = 0.25;     ///< τ
  static constexpr double forgotten = 1e-4;    ///< Δ_k / (Δ_j + ... + Δ_k) of the first j for S

  double relative_tolerance = 0., absolute_tolerance = 0.; ///< the larger counts; 0: none
  double *window = nullptr; ///< sums, then the least terms; without it nothing is known
  bool writes = true;       ///< to the window; of those who share it, one does

  int first = 0;        ///< iterate with which the recurrence began
  int n_terms = 0;      ///< since then
  int length = 2;       ///< of an interval, a power of two
  double start = 0.;    ///< (b, x₀) + (x₀, r₀)
  double sum = 0.;      ///< of all terms
  double last = 0.;     ///< Δ_k
  double open_sum = 0.; ///< of the interval that is not complete
  double open_least = 0.;

  double squared = -1.; ///< the estimate; negative: not known
  int iterate = 0;      ///< l, of which the estimate is

  /// Is the error what decides when to stop?
  FEMGPU_HD
  bool decides() const
  {
    return relative_tolerance > 0. || absolute_tolerance > 0.;
  }

  /// A recurrence begins with the iterate number @p iteration.
  FEMGPU_HD
  void begin(const int iteration, const double new_start)
  {
    first = iteration;
    start = new_start;
    n_terms = 0;
    length = 2;
    sum = last = open_sum = open_least = 0.;
    squared = -1.;
  }

  /// ‖x‖²_A
  FEMGPU_HD
  double squared_norm() const
  {
    return fmax(0., start + sum);
  }
  /// That the squared error has to reach; 0 where it does not decide.
  FEMGPU_HD
  double squared_target() const
  {
    return fmax(absolute_tolerance * absolute_tolerance,
                relative_tolerance * relative_tolerance * squared_norm());
  }

  /// Takes @p term = Δ_k. Is it now known that the error has reached its target?
  FEMGPU_HD
  bool add(const double term)
  {
    open_least = open_sum == 0. ? term : fmin(open_least, term);
    open_sum += term;
    sum += term;
    last = term;
    ++n_terms;
    if ((n_terms & (length - 1)) == 0) {
      store();
      return false;
    }
    // First what costs nothing: S >= 1.
    if (!(term <= accuracy * squared_target()))
      return false;
    estimate();
    return squared >= 0. && squared <= squared_target();
  }

  /// Finds l, and sets squared and iterate.
  FEMGPU_HD
  void estimate()
  {
    const int open_terms = n_terms & (length - 1);
    const Bound bound =
        bound_of(window, n_terms / length, length, {open_sum, open_least, open_terms}, last);
    squared = bound.squared;
    iterate = first + n_terms - bound.terms;
  }

private:
  /// The interval that is not complete.
  struct OpenInterval
  {
    double sum, least;
    int terms;
  };
  struct Bound
  {
    double squared; ///< negative: there is none
    int terms;      ///< that it has
  };

  // What follows is called now and then, and by values: the registers of a kernel, and the state in
  // them, serve its loop.

  /// Δ_l + ... + Δ_k
  FEMGPU_HD_CALLED
  static Bound bound_of(const double *const window, int interval, const int length,
                        const OpenInterval open, const double last)
  {
    const double lacking = safety(window, interval, open, last) * last;
    Bound bound{open.sum, open.terms};
    while (lacking > accuracy * (bound.squared - last) && --interval >= 0) {
      bound.squared += window[interval];
      bound.terms += length;
    }
    if (interval < 0 || bound.terms == 0)
      bound.squared = -1.;
    return bound;
  }

  /// S
  FEMGPU_HD
  static double safety(const double *const window, int interval, const OpenInterval &open,
                       const double last)
  {
    double sum = open.sum;
    double ratio = open.sum > 0. ? open.sum / open.least : 1.;
    while (--interval >= 0 && last > forgotten * sum) {
      sum += window[interval];
      const double least = window[intervals + interval];
      if (sum > ratio * least)
        ratio = sum / least;
    }
    return ratio;
  }

  /// Makes one interval of two neighbours each.
  FEMGPU_HD_CALLED
  static void merge(double *const window)
  {
    double *const least = window + intervals;
    for (int i = 0, pair = 0; pair < intervals; ++i, pair += 2) {
      window[i] = window[pair] + window[pair + 1];
      least[i] = fmin(least[pair], least[pair + 1]);
    }
  }

  FEMGPU_HD
  void store()
  {
    const int n = n_terms / length;
    if (writes) {
      window[n - 1] = open_sum;
      window[intervals + n - 1] = open_least;
      if (n == intervals)
        merge(window);
    }
    open_sum = 0.;
    if (n == intervals)
      length *= 2;
  }
};
} // namespace femgpu::linalg

#endif
