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
 * Newton's method for a problem with nonlinear terms: each step assembles the equation that is
 * linearised at the last iterate, whose solution is the next one, and halves its way there until
 * the residual falls enough (Armijo). The matrices have one pattern, so that a device gets values
 * alone. Its residual is that of the assembled equation, f − K u at u.
 *
 * Tolerances are relative to the residual of u = 0, or, where the data have no value there, to that
 * of 0 in the equation linearised at the first iterate. Fails as the linear solver does; stagnated
 * where no step makes the residual smaller.
 */
template <int dim>
class AssembledNewton
{
public:
  /// @param method "newton" with its options. All that is given outlives this object.
  AssembledNewton(const Problem<dim> &problem, const Discretization<dim> &discretization,
                  const std::string &method, linalg::GroupSolver &solver);

  /**
   * Collective.
   * @param control of the nonlinear iteration
   * @param linear of its linear systems, but for the tolerances
   * @param u the first iterate, with constraints, and the last, with ghost values too
   * @param seconds gets the times of the phases
   * @throws ParameterError if the data have no value at the first iterate
   */
  linalg::SolveReport solve(linalg::GroupSystem &system, const linalg::SolveControl &control,
                            linalg::SolveControl linear, FeVector &u,
                            std::map<std::string, double> &seconds);

private:
  std::optional<double> norm_at_zero(linalg::GroupSystem &system);
  double linearize(linalg::GroupSystem &system, const FeVector &u);
  bool search_line(linalg::GroupSystem &system, const std::vector<double> &before, FeVector &u,
                   linalg::SolveReport &report, std::string &refusal);

  const Problem<dim> &problem;
  const Discretization<dim> &discretization;
  linalg::ForcingOptions forcing_options;
  linalg::GroupSolver &solver;
  double assembly_seconds = 0.;
};
} // namespace femgpu

#endif
