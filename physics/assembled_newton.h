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
 * at the last iterate and solves it for the next one. Steps are halved until the residual decreases
 * sufficiently (Armijo). All matrices share one sparsity pattern, so only values are copied to the
 * device. The residual is that of the assembled equation, f − K u at u.
 *
 * Tolerances are relative to the residual at u = 0. If the data cannot be evaluated there, they are
 * relative to the residual at 0 of the equation linearised at the first iterate. The method fails
 * like the linear solver, and stagnates if no step decreases the residual.
 */
template <int dim>
class AssembledNewton
{
public:
  /// @param method "newton" with its options. All arguments must outlive this object.
  AssembledNewton(const Problem<dim> &problem, const Discretization<dim> &discretization,
                  const std::string &method, linalg::GroupSolver &solver);

  /**
   * Collective. Solves the problem.
   * @param control of the nonlinear iteration
   * @param linear of the linear systems, without tolerances
   * @param u first iterate with constraints; on return the last one, with ghost values
   * @param seconds the times of the phases are added
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
