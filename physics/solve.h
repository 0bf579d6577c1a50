#ifndef femgpu_physics_solve_h
#define femgpu_physics_solve_h

#include "linalg/dealii/group_solver.h"
#include "physics/assembler.h"
#include "physics/base/solver_parameters.h"
#include "physics/residual.h"
#include "physics/results.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace femgpu
{
/// Is told about a long phase now and then: a short text such as "iteration 120, residual 3e-5".
using Progress = std::function<void(const std::string &)>;

/// Is called on all ranks with each point of a branch, its solution with constraints and ghost
/// values.
using OnBranchPoint = std::function<void(const linalg::BranchRecord &, const FeVector &)>;

/// @throws ParameterError unless the methods that solve @p problem bear one another and it
template <int dim>
void check_methods(const Problem<dim> &problem, const SolverParameters &linear,
                   const NonlinearParameters &nonlinear);

/// Is it solved by a nonlinear method?
template <int dim>
bool is_nonlinear(const Problem<dim> &problem)
{
  return problem.nonlinearity().has_value() || problem.traits().has_nonlinear_terms;
}

/**
 * Collective. Assembles and solves a problem, or traces a branch of its solutions, in the pattern
 * that a system has, which moves to the device meanwhile if it is a new one. The times of the
 * phases "assembly", "transfer", "setup" and "solve" are added to seconds.
 */
template <int dim>
class ProblemSolver
{
public:
  /// Collective. @throws ParameterError for methods that do not fit the problem or one another
  ProblemSolver(const Problem<dim> &problem, const SolverParameters &solver_parameters,
                const NonlinearParameters &nonlinear_parameters,
                const ContinuationParameters &continuation_parameters,
                const linalg::SolverGroups &groups);

  /**
   * The matrix is freed on the device at the end. A solution has its balance, see
   * require_balance().
   * @param solution of @p u
   * @param u the initial guess, and the solution at the end, with its ghost values and constraints
   * @param energy_tolerance of a linear problem: absolute, takes the place of what the parameters
   *        say; 0: none
   */
  SolveSummary solve(DiscreteSolution<dim> &solution, linalg::GroupSystem &system, FeVector &u,
                     double energy_tolerance, std::map<std::string, double> &seconds,
                     const Progress &progress);

  /// Traces the branch of solutions over λ of a nonlinear problem, where this is enabled.
  /// @param u the guess at the first λ, and the solution at the last one
  linalg::ContinuationReport trace(const Discretization<dim> &discretization,
                                   linalg::GroupSystem &system, FeVector &u,
                                   std::map<std::string, double> &seconds,
                                   const OnBranchPoint &on_point);

  /// For messages: "pipelined-cg", "newton" for nonlinear problems, "continuation, minres".
  std::string method() const
  {
    if (continuation.enabled)
      return "continuation, " + continuation.given.linear.solver;
    return is_nonlinear(problem) ? nonlinear.method : solver_parameters.solver;
  }
  linalg::GroupSolver &group_solver()
  {
    return leader_solver;
  }

private:
  void assemble_once(const Discretization<dim> &discretization, linalg::GroupSystem &system,
                     const FeVector &u);
  /// Solves on from the last solution, to another target.
  using SolveOn = std::function<linalg::SolveReport(const linalg::SolveControl &)>;

  linalg::SolveReport solve_system(const Discretization<dim> &discretization,
                                   linalg::GroupSystem &system, FeVector &u,
                                   const linalg::SolveControl &control,
                                   std::map<std::string, double> &seconds);
  void take_solution(const Discretization<dim> &discretization, const linalg::GroupSystem &system,
                     FeVector &u) const;
  std::optional<Accuracy> reach_accuracy(DiscreteSolution<dim> &solution,
                                         linalg::GroupSystem &system, linalg::SolveControl control,
                                         const SolveOn &solve_on, linalg::SolveReport &report);
  void reach_motions(linalg::GroupSystem &system, double energy_tolerance,
                     const linalg::SolveControl &control, const SolveOn &solve_on,
                     linalg::SolveReport &report);
  linalg::SolveReport solve_with_mean(const Discretization<dim> &discretization,
                                      linalg::GroupSystem &system, FeVector &u,
                                      linalg::SolveControl control);

  const Problem<dim> &problem;
  const SolverParameters &solver_parameters;
  const NonlinearParameters &nonlinear;
  const ContinuationParameters &continuation;
  const std::optional<linalg::Nonlinearity> phi;
  linalg::GroupSolver leader_solver;
};
} // namespace femgpu

#endif
