#include "linalg/solvers/report.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

namespace femgpu::linalg
{
namespace
{
struct OutcomeName
{
  Outcome outcome;
  const char *name;
};

constexpr OutcomeName outcome_names[] = {
    {Outcome::converged, "converged"},
    {Outcome::converged_to_rounding, "converged_to_rounding"},
    {Outcome::iteration_limit, "iteration_limit"},
    {Outcome::stagnated, "stagnated"},
    {Outcome::diverged, "diverged"},
    {Outcome::not_finite, "not_finite"},
    {Outcome::indefinite_matrix, "indefinite_matrix"},
    {Outcome::indefinite_preconditioner, "indefinite_preconditioner"},
    {Outcome::breakdown, "breakdown"},
    {Outcome::not_balanced, "not_balanced"}};

const OutcomeName &entry_of(const Outcome outcome)
{
  return *std::find_if(std::begin(outcome_names), std::end(outcome_names),
                       [outcome](const OutcomeName &e) { return e.outcome == outcome; });
}

bool contains(const std::string &text, const char *const substring)
{
  return text.find(substring) != std::string::npos;
}

/// Returns advice, for messages, on methods that may succeed where @p method has failed.
std::string stronger_methods(const MethodReport &method)
{
  std::string text = "For an unsymmetric matrix use ";
  if (contains(method.solver, "gmres"))
    text += "a larger restart such as restart=256, ";
  if (method.scaling != "matching")
    text += "scaling matching with preconditioner ilu, ";
  else if (method.preconditioner != "ilu")
    text += "preconditioner ilu, ";
  if (method.solver != "idr")
    text += "solver idr s=8, ";
  return text + "or, for a small system, solver direct.";
}

/// Backward errors up to this may be due to rounding alone, however many entries rows have.
constexpr double largest_rounding = 1e-13;

std::string explain_stagnation(const SolveResult &result, const MethodReport &method)
{
  if (contains(method.solver, "direct"))
    return "the matrix is singular to working precision, or rounding errors limit the residual. "
           "Scale the problem, or use a larger tolerance.";
  if (result.backward_error >= 0. && result.backward_error <= largest_rounding)
    return "rounding errors limit the residual. Use a larger tolerance, or solver direct.";
  return "the residual no longer falls: the matrix is too ill-conditioned for these methods, or it "
         "is singular and the system has no solution. " +
         stronger_methods(method);
}

std::string explain_divergence(const MethodReport &method)
{
  const std::string text = "the residual grew without bound. ";
  if (contains(method.solver, "richardson") || contains(method.solver, "multigrid"))
    return text + "Use solver pipelined-cg, or gmres for an unsymmetric matrix, with the same "
                  "preconditioner.";
  return text + (contains(method.solver, "cg") && !contains(method.solver, "bicg")
                     ? "The matrix is not positive definite: use solver minres with preconditioner "
                       "identity."
                     : stronger_methods(method));
}

/// Returns why a solve has failed, and the usual remedy.
std::string explain(const SolveResult &result, const MethodReport &method)
{
  switch (result.outcome) {
  case Outcome::converged:
  case Outcome::converged_to_rounding:
    return "";
  case Outcome::iteration_limit:
    return std::string("the iteration limit was reached. Allow more iterations, ") +
           (contains(method.solver, "gmres") ? "a larger restart, " : "") +
           "a larger tolerance, or use a stronger preconditioner.";
  case Outcome::stagnated:
    return explain_stagnation(result, method);
  case Outcome::diverged:
    return explain_divergence(method);
  case Outcome::not_finite:
    return "NaN or infinity appeared. Check the matrix, the right-hand side and the initial guess "
           "for numbers that are not finite or very large.";
  case Outcome::indefinite_matrix:
    return "a direction p with (p, Ap) <= 0 was found: the matrix is not positive definite. If it "
           "should be, check the signs of its coefficients; else use solver minres with "
           "preconditioner identity, or for an unsymmetric matrix bicgstab.";
  case Outcome::indefinite_preconditioner:
    return "(r, M⁻¹r) <= 0 was found: the preconditioner is not positive definite. Check the signs "
           "of the matrix, whose diagonal may be negative, or use preconditioner identity, with "
           "solver minres if the matrix is indefinite.";
  case Outcome::breakdown:
    return contains(method.solver, "direct")
               ? "the matrix is singular, or nearly so. Check that its rows are independent." +
                     std::string(
                         method.backend == "host"
                             ? ""
                             : " If they are, use backend host: UMFPACK exchanges more rows "
                               "than cuDSS to avoid small pivots.")
               : "the method broke down repeatedly by a division by zero. " +
                     stronger_methods(method);
  case Outcome::not_balanced:
    return "the residual is small in norm, but large compared with the fluxes or reactions.";
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

std::string to_string(const Outcome outcome)
{
  return entry_of(outcome).name;
}

void add_work(const SolveReport &step, SolveReport &report)
{
  report.iterations += step.iterations;
  report.restarts += step.restarts + 1;
  report.costs += step.costs;
}

void append_solve(SolveReport &report, SolveReport rest)
{
  const double initial_residual = report.initial_residual;
  std::vector<double> history = std::move(report.history);
  if (!rest.history.empty()) // its first entry repeats the last one of history
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
  if (result.energy.target >= 0.)
    text << energy_text(result.energy) << ", target " << result.energy.target << "; " << residual
         << " = " << result.true_residual;
  else
    text << residual << " = " << result.true_residual << ", target " << result.target;
  text << ", initially " << result.initial_residual;
  if (has_met_target)
    text << ".";
  else if (result.converged()) {
    text << "; double precision cannot reach the target here: backward error "
         << result.backward_error;
    if (result.forward_error >= 0.)
      text << ", estimated relative error of x " << result.forward_error;
    text << '.';
  }
  else
    text << "; " << explain(result, method);
  result.message = text.str();
}
} // namespace femgpu::linalg
