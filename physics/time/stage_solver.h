#ifndef femgpu_physics_time_stage_solver_h
#define femgpu_physics_time_stage_solver_h

#include "physics/solve.h"
#include "physics/time/time_parameters.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
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
              ProblemSolver<dim> &solver, linalg::GroupSystem &system, WritableClock clock,
              const TimeParameters &parameters);

  /// Collective. Sets the time, and the Dirichlet data of that time.
  void move_to(double t);
  /// Sets the time and, if supports move, the inhomogeneities of the constraints.
  void move_to(double t, const FeVector &inhomogeneities);
  bool has_moving_supports() const
  {
    return !dependence.dirichlet.empty();
  }

  /**
   * Collective. Solves a stage.
   * @param w with ghost values
   * @param u on return the last iterate, with the constraints of time @p t and ghost values
   * @param seconds times by phase, which are added
   * @param inhomogeneities those of the constraints of @p u, see move_to(); nullptr for the
   * Dirichlet data of time @p t
   * @throws ParameterError if data cannot be evaluated, even at @p w
   */
  linalg::SolveReport solve(double t, double tau, const FeVector &w, FeVector &u,
                            std::map<std::string, double> &seconds,
                            const FeVector *inhomogeneities = nullptr);

  // The following functions require a constant matrix.

  /**
   * Collective. Solves M a = f(t) − K u − M d for the free dofs of a, after move_to() to the
   * constraints of @p u. All vectors have ghost values.
   * @param d its constrained dofs are those of d + a
   * @param a its constrained dofs are unchanged
   */
  linalg::SolveReport solve_mass(double t, double tau, const FeVector &u, const FeVector &d,
                                 FeVector &a, std::map<std::string, double> &seconds);

  /// Collective. Computes forces() for the time @p t, with p and q of @p u and @p inertia, after
  /// move_to() to the constraints of @p u.
  void update_forces(double t, double tau, const FeVector &u, const FeVector &inertia);
  /// Returns the forces f − K p − M q on the rank's free dofs in the last stage, where u = C û + p
  /// is the solution of the stage, with the free dofs û, and (u − w)/τ = C ŷ + q.
  const std::vector<double> &forces() const
  {
    return stage_forces;
  }
  /// Collective. Returns the rows K x̂ or M x̂ of this rank, for the free dofs x̂ of @p x; zero for
  /// constrained dofs.
  std::vector<double> times_stiffness(const FeVector &x) const
  {
    return product(K, 1., x);
  }
  /// Pairs of functions x and y, with ghost values.
  using Pairs = std::vector<std::pair<const FeVector *, const FeVector *>>;
  /// Returns xᵀ K y for @p of_K, then xᵀ M y for @p of_M, less x̂ᵀ K ŷ or x̂ᵀ M ŷ of the free dofs,
  /// summed over the cells of this rank.
  std::vector<double> prescribed_products(const Pairs &of_K, const Pairs &of_M);
  std::vector<double> times_mass(const FeVector &x) const
  {
    return product(M, tau_of_M, x);
  }

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
  void assemble_matrices();
  void assemble_forces(double tau, const FeVector &w);
  void assemble_loads(double tau, const FeVector &w);
  std::vector<double> product(const std::vector<double> &A, double factor, const FeVector &x) const;
  Storage storage(const double tau, const FeVector *const w) const
  {
    return {tau, w, has_lumped_mass};
  }
  std::vector<bool> cells_with_changing_data() const;

  Problem<dim> &problem;
  Discretization<dim> &discretization;
  ProblemSolver<dim> &solver;
  linalg::GroupSystem &system;
  WritableClock clock;
  bool has_other_constraints = false; ///< whether the constraints are not those of the clock
  TimeDependence dependence;
  bool has_nonlinear_problem, has_constant_matrix, has_lumped_mass;
  std::size_t set_ups = 0;
  linalg::SolveCosts all_costs;

  // The following members serve problems with a constant matrix.
  bool has_matrices = false;
  std::vector<double> K, M;         ///< entries of the rank's rows: K, and M/τ for τ = tau_of_M
  double tau_of_M;                  ///< so small that M/τ dominates K, and the same in all runs
  double tau_of_matrix = 0.;        ///< τ of the matrix in `system`
  std::vector<double> steady_loads; ///< the right-hand side from the cells with unchanging data
  std::vector<bool> changing;       ///< the cells whose data depend on t
  bool any_change = false;          ///< whether any rank has such cells
  std::vector<double> stage_forces;
};
} // namespace femgpu

#endif
