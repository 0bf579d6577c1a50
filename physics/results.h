#ifndef femgpu_physics_results_h
#define femgpu_physics_results_h

#include "linalg/solvers/report.h"

#include <optional>
#include <string>

namespace femgpu
{
/// Norms of u.
struct SolutionNorms
{
  double L2 = 0.;
  double H1 = 0.; ///< of the gradient
};

/// Norms of u − u_exact.
struct ErrorNorms
{
  double L2 = 0.;
  double H1 = 0.;   ///< of the gradient
  double Linf = 0.; ///< the largest at points between the nodes

  double exact_L2 = 0., exact_H1 = 0.; ///< the same norms of u_exact
};

/// What a solution tells about its own error.
struct ErrorEstimate
{
  double error = 0.; ///< (Σ_K η_K²)^(1/2) with the indicators η_K of all cells
  double size = 0.;  ///< the norm in L2 of the flux σ, of which the error is a part
  std::optional<double> effectivity; ///< the estimated over the true error, where that is known

  double relative() const
  {
    return error / size;
  }
};

/// A number that a run reports in each cycle.
struct Quantity
{
  std::string name;
  double value;
  /// Does it converge? Places of extrema need not, and defects are rounding and what solvers leave.
  bool has_limit = true;
};

/// How the system of one cycle was solved.
struct SolveSummary
{
  linalg::SolveReport report;   ///< of the linear or of the nonlinear solve
  int nonlinear_iterations = 0; ///< 0 for linear problems
  int linear_iterations = 0;    ///< all together; 0 for methods that solve no linear systems
};
} // namespace femgpu

#endif
