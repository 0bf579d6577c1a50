#ifndef femgpu_physics_assembled_newton_h
#define femgpu_physics_assembled_newton_h

#include "linalg/dealii/group_solver.h"
#include "linalg/nonlinear/inexact_newton.h"
#include "physics/problem.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/**
 * Newton's method for a problem with nonlinear terms. Each step assembles the equation linearised
 * at the last iterate and solves this linear equation for the next iterate. Steps are halved until
 * the residual decreases sufficiently (Armijo). All matrices share one sparsity pattern, so only
 * values are copied to the device. The residual at u is f − K u, with K and f of the equation
 * linearised at u.
 *
 * A tolerance relative to the right-hand side refers to the residual at u = 0. If the data cannot
 * be evaluated at u = 0, the tolerance refers to the residual at 0 of the equation linearised at
 * the first iterate. If the linear solver fails, the method reports the same outcome; if no step
 * decreases the residual, the outcome is `stagnated`.
 */
template <int dim>
class AssembledNewton
{
public:
  /// All arguments except @p method must outlive this object.
  /// @param method "newton" with its options
  AssembledNewton(const Problem<dim> &problem, const Discretization<dim> &discretization,
                  const std::string &method, linalg::GroupSolver &solver);

  /**
   * Collective. Solves the problem.
   * @param control tolerances and limits of the nonlinear iteration
   * @param linear limits of the linear solves; tolerances are ignored
   * @param u the first iterate, with constraints; on return the last iterate, with ghost values
   * @param seconds times by phase, to which the time of "assembly" is added
   * @throws ParameterError if the data cannot be evaluated at the first iterate
   */
  linalg::SolveReport solve(linalg::GroupSystem &system, const linalg::SolveControl &control,
                            linalg::SolveControl linear, FeVector &u,
                            std::map<std::string, double> &seconds);

private:
  std::optional<double> norm_at_zero(linalg::GroupSystem &system);
  double linearize(linalg::GroupSystem &system, const FeVector &u);
  bool search_line(linalg::GroupSystem &system, const std::vector<double> &before, FeVector &u,
                   linalg::SolveReport &report, std::string &rejection);

  const Problem<dim> &problem;
  const Discretization<dim> &discretization;
  linalg::ForcingOptions forcing_options;
  linalg::GroupSolver &solver;
  double assembly_seconds = 0.;
};
} // namespace femgpu

#endif
