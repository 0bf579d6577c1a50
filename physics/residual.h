#ifndef femgpu_physics_residual_h
#define femgpu_physics_residual_h

#include "physics/cell_equation.h"
#include "physics/problem.h"

#include <deal.II/base/quadrature.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/**
 * The balance of a body: inflow by sources and boundary data, and outflow where u is given. A
 * scalar problem balances heat, a solid the forces in each direction. The residuals r_i of the free
 * dofs are the imbalance, which vanishes up to the error of the solver.
 */
struct Balance
{
  /// |Σ r_i| over the free dofs; for a solid, the maximum over all directions.
  double defect = 0.;
  double residual = 0.; ///< Σ |r_i| over the free dofs
  /// Σ |load| over all dofs, with the net load at each dof, plus Σ |reaction| over the dofs that
  /// are not free (see DiscreteSolution).
  double magnitude = 0.;

  double relative_defect() const
  {
    return magnitude > 0. ? defect / magnitude : 0.;
  }
  double relative_residual() const
  {
    return magnitude > 0. ? residual / magnitude : 0.;
  }
};

/**
 * The equations f + λ W φ(u) − K u = 0 (linalg/nonlinear/nonlinearity.h), evaluated for a finite
 * element function u. Hanging nodes and periodic sides are eliminated; Dirichlet data are not.
 */
struct Evaluation
{
  FeVector residual;            ///< f + λ W φ(u) − K u at every dof, with ghost values
  FeVector weights;             ///< diagonal of W; empty for linear problems
  double quadratic_energy = 0.; ///< uᵀ K u / 2 − fᵀ u
  double stiffness_energy = 0.; ///< Σ_e u_eᵀ K_e u_e, without boundary terms
  /// Σ_e |K_e u_e|_i for the rows i of this rank, with all constraints eliminated; e is a cell.
  std::vector<double> internal_forces;
  /// The net contribution of boundary fluxes that depend on u, such as ∫ a (g − u) φ_i of a Robin
  /// condition σ·n = a (g − u), to the rows of this rank; empty if there are no such fluxes.
  std::vector<double> exchange;
  Balance balance;
  double storage_rate = 0.; ///< ∫ c (u − w)/τ of a step in time
  /// For scalar problems: the inflow through each boundary with a given flux, including fluxes that
  /// depend on u; equal on all ranks.
  std::map<dealii::types::boundary_id, double> inflow;
  SolutionNorms norms; ///< norms of u
};

/// Observes the loop over cells that evaluates a solution, to compute what a problem reports.
template <int dim>
class CellObserver
{
public:
  virtual ~CellObserver() = default;

  /// Processes a cell of this rank; called after CellEquation::evaluate(). May add loads to
  /// @p equation.loads(); the added loads count in the magnitude of the balance.
  virtual void visit(const ActiveCell<dim> &cell, CellEquation<dim> &equation,
                     const CellTerms &terms) = 0;

  /// Collective. Returns the problem's quantities. @pre the loop has ended
  /// @param u the solution, with ghost values
  virtual std::vector<Quantity> quantities(const Evaluation &evaluation, const FeVector &u) = 0;

  /// Collective. Returns warnings about implausible features of the solution, with remedies.
  virtual std::vector<std::string> warnings()
  {
    return {};
  }
};

/// Collective. Evaluates the equations for @p u, which has ghost values, in one loop over the
/// cells, and passes each cell to @p observer unless it is nullptr.
template <int dim>
Evaluation evaluate(const Problem<dim> &problem, const Discretization<dim> &discretization,
                    const FeVector &u, CellObserver<dim> *observer = nullptr);

/**
 * A solution of a problem. Its Evaluation is computed at the first use. The residual is zero at
 * free dofs up to the error of the solver. At dofs with Dirichlet data, the residual is minus the
 * reaction. The reaction is the force of a support or the inward flux, in the weak sense;
 * therefore the reactions balance the loads up to the error of the solver.
 */
template <int dim>
class DiscreteSolution
{
public:
  /// All arguments must outlive this object.
  /// @param u the solution, with ghost values
  /// @param forces an evaluation of the function whose residual and balance replace those of @p u;
  /// nullptr for @p u itself
  DiscreteSolution(const Problem<dim> &problem, const Discretization<dim> &discretization,
                   const FeVector &u, const Evaluation *forces = nullptr)
      : problem(problem), space(discretization), values(u), forces(forces)
  {}

  const Problem<dim> &solved_problem() const
  {
    return problem;
  }
  const Discretization<dim> &discretization() const
  {
    return space;
  }
  const FeVector &u() const
  {
    return values;
  }
  /// Collective. Returns the evaluation, computed at the first call.
  const Evaluation &evaluation()
  {
    if (!evaluated) {
      cell_observer = problem.observer(space);
      evaluated = evaluate(problem, space, values, cell_observer.get());
      if (forces != nullptr) {
        evaluated->residual = forces->residual;
        evaluated->residual.update_ghost_values();
        evaluated->balance = forces->balance;
      }
    }
    return *evaluated;
  }
  /// Collective. Returns the quantities of Problem::observer(). @pre the problem has an observer
  std::vector<Quantity> observer_quantities()
  {
    const Evaluation &all = evaluation();
    return cell_observer->quantities(all, values);
  }
  /// Collective. Returns the warnings of Problem::observer().
  std::vector<std::string> warnings()
  {
    evaluation();
    return cell_observer ? cell_observer->warnings() : std::vector<std::string>();
  }
  /// Discards the evaluation. To be called after u has changed.
  void invalidate()
  {
    evaluated.reset();
  }

  /**
   * Collective. Returns the field "residual" of a scalar problem: the nodal residual divided by the
   * lumped mass, a density like the source; zero at dofs with Dirichlet data. Returns an empty list
   * for quadratic triangles and tetrahedra, some of whose lumped masses are not positive.
   */
  std::vector<NodalField> residual_fields();

  /**
   * Collective. Returns "flux through ID" of a scalar problem for each id with Dirichlet data or a
   * given flux: the outward flux −∫σ·n. Where u is given, the flux is defined in the weak sense:
   * the sum of the nodal residuals on a side, where a node of two sides belongs to the smaller id.
   * Also returns "balance defect", Balance::relative_defect(), and in a step in time "rate of
   * storage", Evaluation::storage_rate.
   */
  std::vector<Quantity> flux_quantities();

private:
  const Problem<dim> &problem;
  const Discretization<dim> &space;
  const FeVector &values;
  const Evaluation *forces;
  std::optional<Evaluation> evaluated;
  std::unique_ptr<CellObserver<dim>> cell_observer;
};

/// Collective. Returns ∫ φ_i dx by @p quadrature for every dof of a scalar space, with hanging
/// nodes and periodic sides eliminated.
template <int dim>
FeVector shape_integrals(const Discretization<dim> &discretization,
                         const dealii::Quadrature<dim> &quadrature);
} // namespace femgpu

#endif
