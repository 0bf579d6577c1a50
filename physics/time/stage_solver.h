#ifndef femgpu_physics_time_stage_solver_h
#define femgpu_physics_time_stage_solver_h

#include "physics/solve.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace femgpu
{
/// The time t of a problem, which the driver of a transient analysis sets.
using WritableClock = std::shared_ptr<double>;

/**
 * Solves the equation c (u − w)/τ = F(t, u) of a stage, where F contains all terms of a Problem but
 * the capacity.
 *
 * For a linear problem whose matrix does not depend on t, two matrices are assembled once for each
 * mesh: K, without the storage term, and M/τ. Later stages combine them, so that a change of τ
 * needs no assembly, and an unchanged τ no set-up of the preconditioner. The right-hand side is
 * assembled in those cells only whose data depend on t. All other problems are assembled in each
 * stage.
 */
template <int dim>
class StageSolver
{
public:
  /// All arguments must outlive this object. @p system must have the pattern of the current mesh.
  StageSolver(Problem<dim> &problem, Discretization<dim> &discretization,
              ProblemSolver<dim> &solver, linalg::GroupSystem &system, WritableClock clock);

  /// Collective. Sets the time, and the Dirichlet data of that time.
  void move_to(double t);

  /**
   * Collective. Solves a stage.
   * @param w with ghost values
   * @param u on return the last iterate, with the constraints of time @p t and ghost values
   * @param seconds times by phase, which are added
   * @throws ParameterError if data cannot be evaluated, even at @p w
   */
  linalg::SolveReport solve(double t, double tau, const FeVector &w, FeVector &u,
                            std::map<std::string, double> &seconds);

  bool is_nonlinear() const
  {
    return has_nonlinear_problem;
  }
  /// Returns how often a preconditioner was set up so far.
  std::size_t n_set_ups() const
  {
    return set_ups;
  }

  /// Returns the costs of all solves.
  const linalg::SolveCosts &costs() const
  {
    return all_costs;
  }

private:
  linalg::SolveReport solve_constant(double tau, const FeVector &w, FeVector &u,
                                     std::map<std::string, double> &seconds);
  void assemble_matrices(double tau);
  void assemble_loads(double tau, const FeVector &w);
  std::vector<bool> cells_with_changing_data() const;

  Problem<dim> &problem;
  Discretization<dim> &discretization;
  ProblemSolver<dim> &solver;
  linalg::GroupSystem &system;
  WritableClock clock;
  TimeDependence dependence;
  bool has_nonlinear_problem, has_constant_matrix;
  std::size_t set_ups = 0;
  linalg::SolveCosts all_costs;

  // The following members serve problems with a constant matrix.
  std::vector<double> K, M;         ///< entries of the rank's rows: K, and M/τ for τ = tau_of_M
  double tau_of_M = 0.;             ///< 0: nothing is assembled yet
  double tau_of_matrix = 0.;        ///< τ of the matrix in `system`
  std::vector<double> steady_loads; ///< the right-hand side from the cells with unchanging data
  std::vector<bool> changing;       ///< the cells whose data depend on t
  bool any_change = false;          ///< whether any rank has such cells
};
} // namespace femgpu

#endif
