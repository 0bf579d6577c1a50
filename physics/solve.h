#ifndef femgpu_physics_solve_h
#define femgpu_physics_solve_h

#include "linalg/dealii/node_solver.h"
#include "physics/assembler.h"
#include "physics/parameters.h"
#include "physics/results.h"

#include <functional>
#include <map>
#include <string>

namespace femgpu
{
/// Is told about a long phase now and then: a short text such as "iteration 120, residual 3e-5".
using Progress = std::function<void(const std::string &)>;

/**
 * Collective. Assembles and solves @p problem in the pattern that @p system has, and times the
 * phases "assembly", "transfer", "setup" and "solve".
 * @param u the initial guess, and the solution at the end, with its ghost values and constraints
 */
template <int dim>
class ProblemSolver
{
public:
  ProblemSolver(const Problem<dim> &problem, const SolverParameters &solver_parameters,
                const NewtonParameters &newton_parameters, linalg::NodeSolver &node_solver)
      : problem(problem), solver_parameters(solver_parameters), newton(newton_parameters),
        node_solver(node_solver)
  {}

  /// @param seconds gets the times of the phases
  SolveSummary solve(const Discretization<dim> &discretization, linalg::NodeSystem &system,
                     FeVector &u, std::map<std::string, double> &seconds, const Progress &progress);

private:
  SolveSummary solve_linear(const Discretization<dim> &discretization, linalg::NodeSystem &system,
                            FeVector &u, std::map<std::string, double> &seconds,
                            const Progress &progress);
  SolveSummary solve_newton(const Discretization<dim> &discretization, linalg::NodeSystem &system,
                            FeVector &u, std::map<std::string, double> &seconds,
                            const Progress &progress);
  double line_search(const Discretization<dim> &discretization, linalg::NodeSystem &system,
                     double norm, const FeVector &update, FeVector &u);

  const Problem<dim> &problem;
  const SolverParameters &solver_parameters;
  const NewtonParameters &newton;
  linalg::NodeSolver &node_solver;
};
} // namespace femgpu

#endif
