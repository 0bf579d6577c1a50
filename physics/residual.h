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
 * The balance of a body: what sources and boundary data bring in and what leaves where u is given,
 * heat of a scalar problem, forces by direction of a solid. The residuals of free dofs are what is
 * missing, so they vanish as far as the system was solved.
 */
struct Balance
{
  double defect = 0.;    ///< |Σ r_i| over the free dofs; the largest of the directions
  double residual = 0.;  ///< Σ |r_i| over the free dofs
  double magnitude = 0.; ///< Σ |loads| over the dofs, net at each, and Σ |reactions|

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
 * What the equations f + λ W φ(u) − K u = 0 say of a function of the space, hanging nodes and
 * periodic sides eliminated but Dirichlet data not.
 */
struct Evaluation
{
  FeVector residual;            ///< f + λ W φ(u) − K u of every dof, with ghost values
  FeVector weights;             ///< diagonal of W; of no elements for linear problems
  double quadratic_energy = 0.; ///< uᵀ K u / 2 − fᵀ u
  double stiffness_energy = 0.; ///< Σ_e u_eᵀ K_e u_e, without boundary terms
  /// Σ_e |K_e u_e|_i of the rows of this rank, all constraints eliminated.
  std::vector<double> internal_forces;
  /// The net exchange of the rows of this rank, ∫ a (g − u) φ_i of a Robin condition; of no
  /// elements if there is none.
  std::vector<double> exchange;
  Balance balance;
  /// Of a scalar problem: what enters through parts of the boundary where a flux is given, which
  /// may depend on u. All ranks have the same.
  std::map<dealii::types::boundary_id, double> inflow;
  SolutionNorms norms; ///< of the function
};

/// Takes part in the one pass over the cells that evaluates a solution, for what a problem reports.
template <int dim>
class CellObserver
{
public:
  virtual ~CellObserver() = default;

  /// Is called for each cell of this rank after CellEquation::evaluate(). May add loads of its own
  /// to those of the equation, for the magnitude of the balance.
  virtual void visit(const ActiveCell<dim> &cell, CellEquation<dim> &equation,
                     const CellTerms &terms) = 0;

  /// Collective. After the pass. @param u with ghost values
  virtual std::vector<Quantity> quantities(const Evaluation &evaluation, const FeVector &u) = 0;

  /// Collective. After the pass: what is implausible about the solution, with the cure.
  virtual std::vector<std::string> warnings()
  {
    return {};
  }
};

/// Collective, by one pass over the cells. @param u has ghost values
template <int dim>
Evaluation evaluate(const Problem<dim> &problem, const Discretization<dim> &discretization,
                    const FeVector &u, CellObserver<dim> *observer = nullptr);

/**
 * A solution of a problem, and what the equations say of it, found once, when it is asked for.
 * Its residual is zero at free dofs as far as the system was solved. At dofs with Dirichlet data it
 * is minus the reaction: the force of a support, or the flux that enters, in the weak sense, so
 * that reactions balance the loads to rounding.
 */
template <int dim>
class DiscreteSolution
{
public:
  /// All outlive this object. @param u has ghost values
  DiscreteSolution(const Problem<dim> &problem, const Discretization<dim> &discretization,
                   const FeVector &u)
      : problem(problem), space(discretization), values(u)
  {}

  const Discretization<dim> &discretization() const
  {
    return space;
  }
  const FeVector &u() const
  {
    return values;
  }
  /// Collective.
  const Evaluation &evaluation()
  {
    if (!evaluated) {
      cell_observer = problem.observer(space);
      evaluated = evaluate(problem, space, values, cell_observer.get());
    }
    return *evaluated;
  }
  /// Collective. The quantities of Problem::observer().
  std::vector<Quantity> observed()
  {
    const Evaluation &all = evaluation();
    return cell_observer->quantities(all, values);
  }
  /// Collective. The warnings of Problem::observer().
  std::vector<std::string> warnings()
  {
    evaluation();
    return cell_observer ? cell_observer->warnings() : std::vector<std::string>();
  }
  /// Forgets the evaluation, because u has changed.
  void begin_again()
  {
    evaluated.reset();
  }

  /**
   * Collective. The field "residual" of a scalar problem: the nodal residual over the lumped mass,
   * a density as the source is; zero at dofs with Dirichlet data. None for quadratic triangles and
   * tetrahedra, some of whose lumped masses are not positive.
   */
  std::vector<NodalField> residual_fields();

  /**
   * Collective. "flux through ID" of a scalar problem for each id with Dirichlet data or a given
   * flux: the flux −∫σ·n that leaves the body there. Where u is given, that is meant in the weak
   * sense (the nodal residuals of a side; a node of two sides counts for the smaller id). And
   * "balance defect", Balance::relative_defect().
   */
  std::vector<Quantity> flux_quantities();

private:
  const Problem<dim> &problem;
  const Discretization<dim> &space;
  const FeVector &values;
  std::optional<Evaluation> evaluated;
  std::unique_ptr<CellObserver<dim>> cell_observer;
};

/// Collective. ∫ φ_i dx by @p quadrature for every dof of a scalar space, hanging nodes and
/// periodic sides eliminated.
template <int dim>
FeVector shape_integrals(const Discretization<dim> &discretization,
                         const dealii::Quadrature<dim> &quadrature);
} // namespace femgpu

#endif
