#include "physics/advice.h"

#include "linalg/direct_fallback.h"

namespace femgpu
{
using linalg::Outcome;

bool indicates_no_solution(const linalg::SolveReport &report)
{
  constexpr double largest_backward_error = 1e-13;
  switch (report.outcome) {
  case Outcome::diverged:
  case Outcome::not_finite:
  case Outcome::indefinite_matrix:
    return true;
  case Outcome::stagnated:
    return report.backward_error > largest_backward_error;
  default:
    return false;
  }
}

bool is_unstable(const linalg::SolveReport &report, const bool may_be_unstable)
{
  return may_be_unstable && (report.outcome == Outcome::indefinite_matrix ||
                             report.outcome == Outcome::indefinite_preconditioner);
}

std::string advice(const linalg::SolveReport &report, const std::size_t n_rows,
                   const bool falls_back, const bool is_one_group, const bool may_be_unstable)
{
  if (report.outcome == Outcome::not_finite || report.outcome == Outcome::not_balanced)
    return "";
  if (report.method.solver == "direct")
    return " Check supports and boundary conditions: the solution may not be unique.";
  if (is_unstable(report, may_be_unstable))
    return " Boundary data that grow with u, such as h*(u - u_0), let in more heat the hotter the "
           "body is; convection is h*(u_0 - u). Change the sign, or set Solver/Solver to minres or "
           "direct to compute the unstable state.";
  if (linalg::permits_fallback(n_rows) && is_one_group) // a permitted fallback was tried already
    return falls_back ? "" : " The system is small enough to try Solver = direct.";
  const std::string others =
      is_one_group ? "fsai or ic, more iterations, or, if memory permits, Solver = direct."
                   : "more iterations, or, if one device is enough, Solver/Devices = 1.";
  if (report.method.preconditioner == "multigrid")
    return " Multigrid is slow for nearly incompressible materials, thin shells and wave "
           "equations. Try Preconditioner = multigrid cycle=W, " +
           others;
  return " Try Preconditioner = multigrid, " + others;
}
} // namespace femgpu
