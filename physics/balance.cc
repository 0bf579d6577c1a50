#include "physics/balance.h"

#include "physics/cell_equation.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace femgpu
{
using namespace dealii;
using linalg::Outcome;

namespace
{
/**
 * Collective. Estimates the contribution of rounding to Balance::residual: ε Σ_i (|K||u|)_i for the
 * free dofs i, with the unit roundoff ε = 2⁻⁵³. Recomputes all cell matrices, at the cost of an
 * assembly.
 */
template <int dim>
double rounding_of_balance(DiscreteSolution<dim> &solution, const Problem<dim> &problem)
{
  const Discretization<dim> &discretization = solution.discretization();
  CellEquation<dim> equation(problem, discretization);
  CellTerms terms(discretization.element().n_dofs_per_cell(), problem.nonlinearity().has_value());
  FeVector sums = make_assembly_vector(discretization);
  Vector<double> u_cell(terms.f.size()), size(terms.f.size());
  for (const auto &cell : discretization.owned_cells()) {
    equation.linearize(cell, &solution.u(), terms);
    cell->get_dof_values(solution.u(), u_cell);
    for (unsigned int i = 0; i < size.size(); ++i) {
      size(i) = 0.;
      for (unsigned int j = 0; j < size.size(); ++j)
        size(i) += std::abs(terms.K(i, j) * u_cell(j));
    }
    discretization.conformity().distribute_local_to_global(size, terms.dofs, sums);
  }
  sums.compress(VectorOperation::add);
  double sum = 0.;
  for (unsigned int i = 0; i < sums.locally_owned_size(); ++i)
    if (!discretization.constraints().is_constrained(discretization.owned().nth_index_in_set(i)))
      sum += sums.local_element(i);
  constexpr double unit_roundoff = 0.5 * std::numeric_limits<double>::epsilon();
  return unit_roundoff * Utilities::MPI::sum(sum, discretization.communicator());
}

/// Residuals up to this factor times rounding_of_balance() are attributed to rounding.
constexpr double rounding_factor = 8.;
constexpr int max_further_solves = 3;

/// Returns the imbalance relative to all flows, in the measure that suits @p report: a solve that
/// stops at an energy error leaves oscillating residuals, of which only the sum must be small.
double relative_imbalance(const Balance &balance, const linalg::SolveReport &report)
{
  return report.energy.target >= 0. ? balance.relative_defect() : balance.relative_residual();
}

std::string text_of(const Balance &balance)
{
  std::ostringstream text;
  text.precision(3);
  text << "The fluxes or forces do not balance: their magnitude is " << balance.magnitude
       << ", the defect of their balance is " << balance.defect
       << ", and the residuals at the nodes add up to " << balance.residual << ". ";
  return text.str();
}

/// Sets the outcome for a solution whose balance the solver cannot improve.
void classify_imbalance(const Balance &balance, const double rounding, linalg::SolveReport &report)
{
  const bool is_rounding = balance.residual <= rounding_factor * rounding;
  if (is_rounding && balance.relative_defect() <= largest_balance_defect &&
      balance.magnitude > rounding)
    return; // only the residuals at single nodes are too large
  report.outcome = is_rounding ? Outcome::converged_to_rounding : Outcome::not_balanced;
  std::ostringstream text;
  text.precision(3);
  text << report.message << ' ' << text_of(balance);
  if (is_rounding && balance.magnitude <= rounding_factor * rounding)
    text << "Rounding accounts for up to " << rounding_factor * rounding
         << ", as much as all fluxes or forces: either nothing flows, or coefficients differ so "
            "much "
            "that fluxes and reactions are unknown.";
  else if (is_rounding)
    text << "Rounding accounts for up to " << rounding_factor * rounding
         << ": fluxes and reactions are accurate only where coefficients differ less and the "
            "solution varies more.";
  else
    text << "The defect may be at most " << 100. * largest_balance_defect
         << " %. Set Solver/Solver = direct or Solver/Preconditioner = multigrid, lower "
            "Solver/Relative tolerance, or replace extreme coefficients by boundary "
            "conditions.";
  report.message = text.str();
}
} // namespace

template <int dim>
void require_balance(const Problem<dim> &problem, DiscreteSolution<dim> &solution,
                     linalg::SolveReport &report,
                     const std::function<linalg::SolveReport(double factor)> &resume)
{
  if (!report.converged() || problem.fixes_mean())
    return;
  Balance balance = solution.evaluation().balance;
  const double target = report.target;
  double rounding = 0.;
  int solves = 0;
  while (relative_imbalance(balance, report) > largest_balance_defect) {
    rounding = rounding_of_balance(solution, problem);
    if (balance.residual <= rounding_factor * rounding || report.outcome != Outcome::converged ||
        solves == max_further_solves || !resume)
      break;
    ++solves;
    const double factor = 0.3 * largest_balance_defect / relative_imbalance(balance, report);
    linalg::append_solve(report, resume(std::clamp(factor, 1e-4, 0.1)));
    solution.invalidate();
    balance = solution.evaluation().balance;
  }
  if (solves > 0) {
    if (report.true_residual <= target) // even if a solve to a smaller target failed
      report.outcome = Outcome::converged;
    report.target = target;
    linalg::describe(report);
  }
  if (report.converged() && relative_imbalance(balance, report) > largest_balance_defect)
    classify_imbalance(balance, rounding, report);
}

template void require_balance(const Problem<2> &, DiscreteSolution<2> &, linalg::SolveReport &,
                              const std::function<linalg::SolveReport(double)> &);
template void require_balance(const Problem<3> &, DiscreteSolution<3> &, linalg::SolveReport &,
                              const std::function<linalg::SolveReport(double)> &);
} // namespace femgpu
