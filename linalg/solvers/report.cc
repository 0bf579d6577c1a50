#include "linalg/solvers/report.h"

#include <sstream>

namespace femgpu::linalg
{
std::string to_string(const Outcome outcome)
{
  switch (outcome) {
  case Outcome::converged:
    return "converged";
  case Outcome::converged_to_rounding:
    return "converged_to_rounding";
  case Outcome::iteration_limit:
    return "iteration_limit";
  case Outcome::stagnated:
    return "stagnated";
  case Outcome::diverged:
    return "diverged";
  case Outcome::not_finite:
    return "not_finite";
  case Outcome::indefinite_matrix:
    return "indefinite_matrix";
  case Outcome::indefinite_preconditioner:
    return "indefinite_preconditioner";
  case Outcome::breakdown:
    return "breakdown";
  }
  return "unknown";
}

namespace
{
std::string explanation(const Outcome outcome)
{
  switch (outcome) {
  case Outcome::converged:
  case Outcome::converged_to_rounding:
    return "";
  case Outcome::iteration_limit:
    return "the iteration limit came first. Allow more iterations, a larger tolerance, or use a "
           "stronger preconditioner.";
  case Outcome::stagnated:
    return "rounding errors keep it there, or the matrix is singular and the system has no "
           "solution. Use a larger tolerance, or scale the problem.";
  case Outcome::diverged:
    return "the residual grew beyond bounds. The matrix is probably singular, or not "
           "of the kind that the method needs. Use another preconditioner or solver.";
  case Outcome::not_finite:
    return "NaN or infinity appeared. Look at the coefficients, the right-hand side and the mesh.";
  case Outcome::indefinite_matrix:
    return "a direction p with (p, Ap) <= 0 was found: the matrix is not positive definite. Look "
           "at the signs of the coefficients and the boundary conditions, or use minres; where the "
           "matrix is not symmetric either, bicgstab.";
  case Outcome::indefinite_preconditioner:
    return "(r, M⁻¹r) <= 0 was found: the preconditioner is not positive definite. Use another "
           "preconditioner, and look at the signs of the coefficients: the matrix may be to blame.";
  case Outcome::breakdown:
    return "the method divided by zero, again and again. Use another preconditioner, as jacobi, or "
           "solver idr or gmres restart=100.";
  }
  return "";
}

std::string energy_text(const EnergyReport &energy)
{
  if (energy.error < 0.)
    return "energy norm of the error not known yet";
  std::ostringstream text;
  text.precision(3);
  text << "energy norm of the error " << std::scientific << energy.error << " (" << energy.delay
       << " iterations before the last)";
  return text.str();
}
} // namespace

void describe(SolveResult &result, const MethodReport &method, const std::string &residual)
{
  const bool has_met_target = result.outcome == Outcome::converged;
  std::ostringstream text;
  text.precision(3);
  text << method.solver << " with " << method.preconditioner
       << (has_met_target       ? " converged in "
           : result.converged() ? " converged to rounding in "
                                : " did not converge in ")
       << result.iterations << " iterations: " << std::scientific;
  const char *const asked_for = has_met_target ? ", asked for " : ", but asked for ";
  if (result.energy.target >= 0.)
    text << energy_text(result.energy) << asked_for << result.energy.target << "; " << residual
         << " = " << result.true_residual;
  else
    text << residual << " = " << result.true_residual << asked_for << result.target;
  text << ", at the start " << result.initial_residual;
  if (has_met_target)
    text << ".";
  else if (result.converged())
    text << ", which double precision cannot reach here: backward error " << result.backward_error
         << ", estimated error of x " << result.forward_error << " of its size.";
  else
    text << "; " << explanation(result.outcome);
  result.message = text.str();
}
} // namespace femgpu::linalg
