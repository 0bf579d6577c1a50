#ifndef femgpu_physics_solve_h
#define femgpu_physics_solve_h

#include "linalg/dealii/group_solver.h"
#include "physics/assembler.h"
#include "physics/parameters.h"
#include "physics/results.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace femgpu
{
/// Is told about a long phase now and then: a short text such as "iteration 120, residual 3e-5".
using Progress = std::function<void(const std::string &)>;

/// @throws ParameterError unless the methods that solve @p problem bear one another and it
template <int dim>
void check_methods(const Problem<dim> &problem, const SolverParameters &linear,
                   const NonlinearParameters &nonlinear);

/// Adds @p costs to the phases "transfer", "setup" and "solve".
void add_seconds(const linalg::SolveCosts &costs, std::map<std::string, double> &seconds);

/// Is it solved by a nonlinear method?
template <int dim>
bool is_nonlinear(const Problem<dim> &problem)
{
  return problem.nonlinearity().has_value() || problem.has_nonlinear_terms();
}

/**
 * Collective. Assembles and solves @p problem in the pattern that @p system has, which moves to the
 * device meanwhile if it is a new one and is freed there at the end, and times the phases
 * "assembly", "transfer", "setup" and "solve".
 * @param u the initial guess, and the solution at the end, with its ghost values and constraints
 */
template <int dim>
class ProblemSolver
{
public:
  /// Collective. @throws ParameterError for methods that do not fit the problem or one another
  ProblemSolver(const Problem<dim> &problem, const SolverParameters &solver_parameters,
                const NonlinearParameters &nonlinear_parameters,
                const linalg::SolverGroups &groups);

  /**
   * @param energy_tolerance of a linear problem: absolute, takes the place of what the parameters
   *        say; 0: none
   * @param seconds gets the times of the phases
   */
  SolveSummary solve(const Discretization<dim> &discretization, linalg::GroupSystem &system,
                     FeVector &u, double energy_tolerance, std::map<std::string, double> &seconds,
                     const Progress &progress);

  /// For messages: "pipelined-cg", or "newton" for nonlinear problems.
  std::string method() const
  {
    return is_nonlinear(problem) ? nonlinear.method : solver_parameters.solver;
  }
  linalg::GroupSolver &group_solver()
  {
    return leader_solver;
  }

private:
  linalg::SolveReport solve_with_mean(const Discretization<dim> &discretization,
                                      linalg::GroupSystem &system, FeVector &u,
                                      linalg::SolveControl control);

  const Problem<dim> &problem;
  const SolverParameters &solver_parameters;
  const NonlinearParameters &nonlinear;
  const std::optional<linalg::Nonlinearity> phi;
  linalg::GroupSolver leader_solver;
};
} // namespace femgpu

#endif
