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
 * How a branch is traced. Its arclength is that of λ̇² + θ ‖ẋ‖², ‖x‖² = Σ w_i x_i² / Σ w_i, so that
 * steps do not depend on the mesh.
 */
struct ContinuationOptions
{
  static constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();

  /// Of J = A − λ W φ'(x), which is indefinite beyond a fold; the preconditioner is made from A.
  /// Of its control, the relative tolerance and the limit of iterations hold.
  LinearSolverOptions linear;
  /// Of the residual, relative to ‖b‖ + |λ| ‖W φ(x)‖, whatever its reference; iterations are
  /// corrections of a point.
  SolveControl control;

  double lambda_start = 0.;
  double direction = 1.; ///< in which λ leaves lambda_start: 1 or -1
  double theta = 1.;

  double first_step = 0.1; ///< arclength
  double smallest_step = 1e-6;
  double largest_step = 0.5;

  int most_points = 1000;                                     ///< accepted steps, at most
  double largest_u = std::numeric_limits<double>::infinity(); ///< max |u| that ends the branch
  double lambda_end = nowhere;       ///< λ that ends the branch before the first fold
  double lambda_end_upper = nowhere; ///< and after it
  std::vector<double> targets;       ///< λ for which solutions are wanted, on all branches passed

  ContinuationOptions()
  {
    linear.solver = "minres";
    linear.control.relative_tolerance = 1e-8;
    control.relative_tolerance = 1e-9;
    control.max_iterations = 8;
  }
};

/// A point that was found. Norms are those of ContinuationOptions, but the residual's.
struct BranchRecord
{
  enum class Kind
  {
    point,
    fold,
    target
  };

  Kind kind = Kind::point;
  int index = 0;         ///< 0, 1, ... in the order along the branch
  int folds = 0;         ///< passed before: 0 on the lower branch, 1 on the upper one
  double arclength = 0.; ///< from the first point
  double lambda = 0., lambda_dot = 0.;
  double largest_u = 0.; ///< max |u|
  double norm = 0.;      ///< ‖u‖
  int corrections = 0, linear_iterations = 0;
  double residual = 0., residual_target = 0.; ///< ‖b + λ W φ(x) − A x‖, Euclidean
};

/// "point", "fold" or "target".
std::string to_string(BranchRecord::Kind kind);

/// "lower" before the first fold, "upper" after it, then "branch 2" and so on.
std::string branch_name(int folds);

/// What tracing a branch took.
struct BranchCounts
{
  int points = 0;       ///< accepted steps
  int failed_steps = 0; ///< tried again with half the step
  int corrections = 0;  ///< with those of failed steps
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

/// What tracing a branch did.
struct ContinuationReport : BranchCounts
{
  /// `converged` if the branch went to where the options end it; then every record is a solution.
  Outcome outcome = Outcome::breakdown;
  std::string message; ///< a sentence: why it ended and, after a failure, the usual cure

  std::vector<BranchRecord> records;
  double last_step = 0.;
  SolveCosts costs; ///< transfer: before the first point; solve: x of points and the caller's part
  std::string communicator = "none"; ///< of parts

  bool converged() const
  {
    return outcome == Outcome::converged;
  }

  /// All but the records, for an archive of Boost's kind.
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
