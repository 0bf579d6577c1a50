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
/// A callback for progress in long phases, with a short text such as "iteration 120, residual
/// 3e-5".
using Progress = std::function<void(const std::string &)>;

/// A callback that all ranks call for each point of a branch, with its solution, which satisfies
/// the constraints and has ghost values.
using OnBranchPoint = std::function<void(const linalg::BranchRecord &, const FeVector &)>;

/// A state from which tracing a branch can continue: x of the point is the initial guess.
struct BranchStart
{
  linalg::BranchState state;
  FeVector tangent; ///< ẋ at free dofs
};

/// Checks the linear solver and the nonlinear method with their options.
/// @throws ParameterError unless they are compatible with each other and with @p problem
template <int dim>
void check_methods(const Problem<dim> &problem, const SolverSettings &linear,
                   const NonlinearParameters &nonlinear);

/// Returns whether @p problem is solved by a nonlinear method.
template <int dim>
bool is_nonlinear(const Problem<dim> &problem)
{
  return problem.nonlinearity().has_value() || problem.traits().has_nonlinear_terms;
}

/**
 * Collective. Assembles and solves a problem, or traces a branch of its solutions. The system must
 * have its sparsity pattern; a new pattern is copied to the device during assembly. The times of
 * the phases "assembly", "transfer", "setup" and "solve" are added to `seconds`.
 */
template <int dim>
class ProblemSolver
{
public:
  /// Collective.
  /// @throws ParameterError if methods are incompatible with the problem or each other
  ProblemSolver(const Problem<dim> &problem, const SolverSettings &solver_settings,
                const NonlinearParameters &nonlinear_parameters,
                const ContinuationParameters &continuation_parameters,
                const linalg::SolverGroups &groups);

  /**
   * Solves the problem, checks the balance of the solution (see require_balance()) and releases the
   * matrix on the device.
   * @param solution the object that evaluates @p u
   * @param u the initial guess; on return the solution, with constraints applied and ghost values
   * @param energy_tolerance for linear problems: the absolute tolerance of the energy error, which
   * replaces the tolerance in the parameters; 0 for none
   */
  SolveSummary solve(DiscreteSolution<dim> &solution, linalg::GroupSystem &system, FeVector &u,
                     double energy_tolerance, std::map<std::string, double> &seconds,
                     const Progress &progress);

  /**
   * Solves the equations of one step in time, with the problem's Storage term, to the tolerances of
   * the parameters relative to the residual of the first iterate. Assembles the matrix, which stays
   * on the device.
   * @param u the first iterate, with constraints; on return the solution with ghost values
   */
  linalg::SolveReport solve_step(const Discretization<dim> &discretization,
                                 linalg::GroupSystem &system, FeVector &u,
                                 std::map<std::string, double> &seconds);
  /// Solves A x = b as assembled in @p system, with the x of @p system as initial guess.
  /// @param same_matrix whether A is that of the last call, so that nothing is set up
  linalg::SolveReport solve_linear(linalg::GroupSystem &system, const linalg::SolveControl &control,
                                   bool same_matrix, std::map<std::string, double> &seconds);
  /// Returns the tolerances and limits of steps in time.
  linalg::SolveControl step_control() const;

  /// Traces the branch of solutions of a nonlinear problem as λ varies.
  /// @pre continuation is enabled
  /// @param u the guess at the first λ; on return the solution at the last λ
  linalg::ContinuationReport
  trace(const Discretization<dim> &discretization, linalg::GroupSystem &system, FeVector &u,
        std::map<std::string, double> &seconds, const OnBranchPoint &on_point,
        const std::function<void(BranchStart)> &on_state = {}, const BranchStart *from = nullptr);

  /// Returns the method for messages: the linear solver ("pipelined-cg"), the nonlinear method
  /// ("newton"), or continuation with its linear solver ("continuation, minres").
  std::string method() const
  {
    if (continuation.enabled)
      return "continuation, " + continuation.branch_options.linear.solver;
    return is_nonlinear(problem) ? nonlinear.method : solver_settings.solver;
  }
  linalg::GroupSolver &group_solver()
  {
    return the_group_solver;
  }

private:
  void assemble_once(const Discretization<dim> &discretization, linalg::GroupSystem &system,
                     const FeVector &u);
  /// A function that continues the solve from the last solution, to the target of its argument.
  using Resume = std::function<linalg::SolveReport(const linalg::SolveControl &)>;

  linalg::SolveReport solve_system(const Discretization<dim> &discretization,
                                   linalg::GroupSystem &system, FeVector &u,
                                   const linalg::SolveControl &control,
                                   std::map<std::string, double> &seconds);
  void copy_solution(const Discretization<dim> &discretization, const linalg::GroupSystem &system,
                     FeVector &u) const;
  std::optional<Accuracy> reach_accuracy(DiscreteSolution<dim> &solution,
                                         linalg::GroupSystem &system, linalg::SolveControl control,
                                         const Resume &resume, linalg::SolveReport &report);
  void solve_motions(linalg::GroupSystem &system, double energy_tolerance,
                     const linalg::SolveControl &control, const Resume &resume,
                     linalg::SolveReport &report);
  linalg::SolveReport solve_with_mean(const Discretization<dim> &discretization,
                                      linalg::GroupSystem &system, FeVector &u,
                                      linalg::SolveControl control);

  const Problem<dim> &problem;
  const SolverSettings &solver_settings;
  const NonlinearParameters &nonlinear;
  const ContinuationParameters &continuation;
  const std::optional<linalg::Nonlinearity> phi;
  linalg::GroupSolver the_group_solver;
};
} // namespace femgpu

#endif
