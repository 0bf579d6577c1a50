#include "linalg/solvers/report.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

namespace femgpu::linalg
{
namespace
{
struct Ending
{
  Outcome outcome;
  const char *name, *explanation;
};

constexpr Ending endings[] = {
    {Outcome::converged, "converged", ""},
    {Outcome::converged_to_rounding, "converged_to_rounding", ""},
    {Outcome::iteration_limit, "iteration_limit",
     "the iteration limit came first. Allow more iterations, a larger tolerance, or use a stronger "
     "preconditioner."},
    {Outcome::stagnated, "stagnated",
     "rounding errors keep it there, or the matrix is singular and the system has no solution. Use "
     "a larger tolerance, or scale the problem."},
    {Outcome::diverged, "diverged",
     "the residual grew beyond bounds. The matrix is probably singular, or not of the kind that "
     "the method needs. Use another preconditioner or solver."},
    {Outcome::not_finite, "not_finite",
     "NaN or infinity appeared. Look at the coefficients, the right-hand side and the mesh."},
    {Outcome::indefinite_matrix, "indefinite_matrix",
     "a direction p with (p, Ap) <= 0 was found: the matrix is not positive definite. Look at the "
     "signs of the coefficients and the boundary conditions, or use minres; where the matrix is "
     "not symmetric either, bicgstab."},
    {Outcome::indefinite_preconditioner, "indefinite_preconditioner",
     "(r, M⁻¹r) <= 0 was found: the preconditioner is not positive definite. Use another "
     "preconditioner, and look at the signs of the coefficients: the matrix may be to blame."},
    {Outcome::breakdown, "breakdown",
     "the method divided by zero, again and again. Use another preconditioner, as jacobi, or "
     "solver idr or gmres restart=100."},
    {Outcome::not_balanced, "not_balanced",
     "the residual is small in norm, but large against the fluxes or reactions."}};

const Ending &ending(const Outcome outcome)
{
  return *std::find_if(std::begin(endings), std::end(endings),
                       [outcome](const Ending &e) { return e.outcome == outcome; });
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

std::string to_string(const Outcome outcome)
{
  return ending(outcome).name;
}

void add_work(const SolveReport &step, SolveReport &report)
{
  report.iterations += step.iterations;
  report.restarts += step.restarts + 1;
  report.costs += step.costs;
}

void continue_with(SolveReport &report, SolveReport rest)
{
  const double initial_residual = report.initial_residual;
  std::vector<double> history = std::move(report.history);
  if (!rest.history.empty()) // whose first is the last of those before
    history.insert(history.end(), rest.history.begin() + 1, rest.history.end());
  add_work(report, rest);
  report = std::move(rest);
  report.initial_residual = initial_residual;
  report.history = std::move(history);
}

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
  else if (result.converged()) {
    text << ", which double precision cannot reach here: backward error " << result.backward_error;
    if (result.forward_error >= 0.)
      text << ", estimated error of x " << result.forward_error << " of its size";
    text << '.';
  }
  else
    text << "; " << ending(result.outcome).explanation;
  result.message = text.str();
}
} // namespace femgpu::linalg
