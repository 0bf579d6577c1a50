#ifndef femgpu_linalg_nonlinear_continuation_options_h
#define femgpu_linalg_nonlinear_continuation_options_h

#include "linalg/solvers/linear_solver_options.h"
#include "linalg/solvers/report.h"

#include <limits>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/**
 * Options for tracing a branch. Its arclength is defined by λ̇² + θ ‖ẋ‖² = 1 with ‖x‖² = Σ w_i x_i²
 * / Σ w_i, so that steps do not depend on the mesh.
 */
struct ContinuationOptions
{
  /// Value of lambda_end and lambda_end_upper if they do not end the branch.
  static constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();

  /// Methods for the linear systems with J = A − λ W φ'(x), which is indefinite beyond a fold; the
  /// preconditioner is made from A. Only the relative tolerance and the iteration limit of
  /// linear.control are used.
  LinearSolverOptions linear;
  /// Stopping criteria for correcting a point, where each correction counts as an iteration; the
  /// tolerance is relative to ‖b‖ + |λ| ‖W φ(x)‖, whatever control.reference is.
  SolveControl control;

  double lambda_start = 0.;
  double direction = 1.; ///< sign of λ̇ at lambda_start: 1 or -1
  double theta = 1.;

  double first_step = 0.1; ///< steps are measured in arclength
  double smallest_step = 1e-6;
  double largest_step = 0.5;

  int max_points = 1000;                                      ///< maximum number of accepted steps
  double largest_u = std::numeric_limits<double>::infinity(); ///< max |u| that ends the branch
  double lambda_end = nowhere;       ///< λ that ends the branch before the first fold
  double lambda_end_upper = nowhere; ///< λ that ends the branch after the first fold
  std::vector<double> targets; ///< λ at which solutions are requested, before and after each fold

  ContinuationOptions()
  {
    linear.solver = "minres";
    linear.control.relative_tolerance = 1e-8;
    control.relative_tolerance = 1e-9;
    control.max_iterations = 8;
  }
};

/// A recorded point of the branch.
struct BranchRecord
{
  enum class Kind
  {
    point,
    fold,
    target
  };

  Kind kind = Kind::point;
  int index = 0;         ///< position along the branch: 0, 1, ...
  int folds = 0;         ///< folds passed: 0 on the lower branch, 1 on the upper one
  double arclength = 0.; ///< distance from the first point along the branch
  double lambda = 0., lambda_dot = 0.;
  double largest_u = 0.; ///< max |u|
  double norm = 0.;      ///< ‖u‖ in the norm of ContinuationOptions
  int corrections = 0, linear_iterations = 0;
  double residual = 0., residual_target = 0.; ///< ‖b + λ W φ(x) − A x‖₂, and its target
};

/// Returns "point", "fold" or "target".
std::string to_string(BranchRecord::Kind kind);

/// Returns "lower" before the first fold, "upper" after it, then "branch 2" and so on.
std::string branch_name(int folds);

/// The work of tracing a branch.
struct BranchCounts
{
  int points = 0;       ///< accepted steps
  int failed_steps = 0; ///< steps that failed and were repeated with half the length
  int corrections = 0;  ///< corrections, including those of failed steps
  int linear_iterations = 0;

  template <class F, class... Self>
  static void for_each_member(const F &f, Self &...counts)
  {
    f("points", counts.points...);
    f("failed_steps", counts.failed_steps...);
    f("corrections", counts.corrections...);
    f("linear_iterations", counts.linear_iterations...);
  }
};

/// The state between two steps along a branch, besides the point and the tangent x, ẋ.
struct BranchState
{
  double lambda = 0., lambda_dot = 0.;
  double step = 0.;      ///< length of the next step
  double arclength = 0.; ///< of the point
  int folds = 0;         ///< folds passed
  BranchCounts counts;
  std::vector<BranchRecord> records; ///< of all points so far

  /// Serialises all members except the records, for archives in the style of Boost.
  template <class Archive>
  void serialize(Archive &archive, const unsigned int /* version */)
  {
    archive &lambda &lambda_dot &step &arclength &folds;
    BranchCounts::for_each_member([&](const char *, auto &member) { archive &member; }, counts);
  }
};

/// The report of tracing a branch.
struct ContinuationReport : BranchCounts
{
  /// `converged` if the branch reached an end set by the options; then every record is a solution.
  Outcome outcome = Outcome::breakdown;
  std::string message; ///< a sentence: why the branch ended and, after a failure, the usual remedy

  std::vector<BranchRecord> records;
  double last_step = 0.;
  SolveCosts costs; ///< `transfer` ends before the first point; `solve_seconds` includes later
                    ///< transfers, and callbacks
  std::string communicator = "none"; ///< kind of communication between ranks

  bool converged() const
  {
    return outcome == Outcome::converged;
  }

  /// Serialises all members except the records, for archives in the style of Boost.
  template <class Archive>
  void serialize(Archive &archive, const unsigned int /* version */)
  {
    const auto add = [&](const char *, auto &member) { archive &member; };
    archive &outcome &message &last_step &communicator;
    for_each_member(add, *this);
    SolveCosts::for_each_member(add, costs);
  }
};
} // namespace femgpu::linalg

#endif
