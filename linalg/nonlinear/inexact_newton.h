#ifndef femgpu_linalg_nonlinear_inexact_newton_h
#define femgpu_linalg_nonlinear_inexact_newton_h

#include "linalg/base/method.h"
#include "linalg/solvers/report.h"

#include <algorithm>
#include <cmath>
#include <string>

/**
 * @file
 * Shared parts of inexact Newton methods, wherever their systems are assembled: tolerances of the
 * linear systems, acceptance of directions, and the line search.
 */
namespace femgpu::linalg
{
struct ForcingOptions
{
  bool is_adaptive = true;
  double eta = 0.1; ///< largest relative tolerance if adaptive, else the constant one
};

/// Reads the options forcing=eisenstat-walker|constant and eta=ETA of @p method.
inline ForcingOptions read_forcing(Method &method)
{
  ForcingOptions options;
  options.is_adaptive = method.word("forcing", "eisenstat-walker",
                                    {"eisenstat-walker", "constant"}) == "eisenstat-walker";
  options.eta = method.number("eta", options.is_adaptive ? 0.1 : 1e-4, 1e-14, 0.9);
  return options;
}

/// Chooses the relative tolerances of the linear systems of a Newton iteration.
class Forcing
{
public:
  explicit Forcing(const ForcingOptions &options)
      : options(options), eta(options.is_adaptive ? std::min(0.1, options.eta) : options.eta)
  {}

  double first() const
  {
    return eta;
  }

  /**
   * Returns the relative tolerance of the next linear system: the constant one or, if adaptive,
   * choice 2 of Eisenstat and Walker (1996), η = γ (‖r‖/‖r_previous‖)², with their safeguard
   * against a sudden decrease, but not tighter than the @p target for ‖r‖ requires.
   */
  double next(const double norm, const double previous, const double target)
  {
    if (!options.is_adaptive)
      return options.eta;
    constexpr double gamma = 0.9;
    const double memory = gamma * eta * eta;
    const double ratio = norm / previous;
    eta = gamma * ratio * ratio;
    if (memory > 0.1)
      eta = std::max(eta, memory);
    eta = std::min(options.eta, std::max(eta, 0.5 * target / norm));
    return eta;
  }

private:
  ForcingOptions options;
  double eta;
};

/// Returns whether a linear solve yields a usable direction: it has converged, or it has reduced
/// the residual to less than 0.1 ‖b‖ and something other than the iteration limit, such as
/// rounding, ended it.
inline bool is_usable_direction(const SolveReport &step)
{
  return step.converged() ||
         (step.outcome != Outcome::iteration_limit && step.true_residual < 0.1 * step.rhs_norm);
}

/// Maximum number of halvings of a step along a direction: lengths 1, 1/2, 1/4, … are tried.
constexpr int max_halvings = 10;

/// Returns whether Armijo's condition holds for ‖r‖²/2, whose slope along Newton's direction is
/// −‖r‖², after a step of length @p alpha that has changed ‖r‖ from @p before to @p norm.
inline bool satisfies_armijo(const double norm, const double alpha, const double before)
{
  constexpr double sufficient = 1e-4;
  return std::isfinite(norm) && norm <= (1. - sufficient * alpha) * before;
}

/**
 * The inexact Newton method with backtracking (Eisenstat and Walker 1996, Algorithm INB, here with
 * Armijo's condition): steps until report.true_residual, ‖r‖, is at most report.target, or the
 * iteration limit is reached.
 * @param linear control of the linear systems, except the relative tolerance
 * @param solve_linear solve_linear(linear) solves the linear system of a step and returns its
 * report
 * @param search_line search_line() moves x along the step's direction so that ‖r‖ decreases
 * sufficiently, and updates report.true_residual; if no step length achieves this, it sets
 * report.outcome and returns false
 * @return text to append to the message of the report, which may be empty
 */
template <class SolveLinear, class SearchLine>
std::string iterate_newton(const SolveControl &control, const ForcingOptions &options,
                           SolveControl linear, SolveReport &report,
                           const SolveLinear &solve_linear, const SearchLine &search_line)
{
  Forcing forcing(options);
  linear.relative_tolerance = forcing.first();
  for (;; ++report.iterations) {
    const double norm = report.true_residual;
    report.history.push_back(norm);
    if (control.progress)
      control.progress(report.iterations, norm);
    const bool is_finite = std::isfinite(norm) && std::isfinite(report.rhs_norm);
    if (!is_finite || norm <= report.target || report.iterations == control.max_iterations) {
      report.outcome = !is_finite              ? Outcome::not_finite
                       : norm <= report.target ? Outcome::converged
                                               : Outcome::iteration_limit;
      return "";
    }
    const SolveReport step = solve_linear(linear);
    if (!is_usable_direction(step)) {
      report.outcome = step.outcome;
      // omits the remedies of the linear solver: describe() adds those for the nonlinear solve
      return " The linear system of a Newton step could not be solved: " +
             step.message.substr(0, step.message.find(';')) + ".";
    }
    if (!search_line())
      return report.converged() ? "" : " No step along the Newton direction reduces the residual.";
    linear.relative_tolerance = forcing.next(report.true_residual, norm, report.target);
  }
}
} // namespace femgpu::linalg

#endif
