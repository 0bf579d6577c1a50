#ifndef femgpu_physics_residual_h
#define femgpu_physics_residual_h

#include "physics/cell_equation.h"
#include "physics/problem.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature.h>

#include <functional>
#include <optional>
#include <vector>

namespace femgpu
{
/**
 * What the equations f + λ W φ(u) − K u = 0 say of a function of the space, hanging nodes and
 * periodic sides eliminated but Dirichlet data not.
 */
struct Evaluation
{
  FeVector residual;            ///< f + λ W φ(u) − K u of every dof, with ghost values
  FeVector weights;             ///< diagonal of W; of no elements for linear problems
  double quadratic_energy = 0.; ///< uᵀ K u / 2 − fᵀ u
  double supply = 0.; ///< sum of the residuals of the cells: what all data bring into the body
  double supply_magnitude = 0.; ///< sum of their absolute values
  SolutionNorms norms;          ///< of the function
};

/// Sees each cell of this rank after its CellEquation::evaluate().
template <int dim>
using VisitCell =
    std::function<void(const ActiveCell<dim> &, CellEquation<dim> &, const CellTerms &)>;

/// Collective, by one pass over the cells. @param u has ghost values
template <int dim>
Evaluation evaluate(const Problem<dim> &problem, const Discretization<dim> &discretization,
                    const FeVector &u, const VisitCell<dim> &visit = {});

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
  /// Collective. @param visit comes along in the pass over the cells
  const Evaluation &evaluation(const VisitCell<dim> &visit = {})
  {
    if (!evaluated || visit)
      evaluated = evaluate(problem, space, values, visit);
    return *evaluated;
  }

  /**
   * Collective. The field "residual" of a scalar problem: the nodal residual over the lumped mass,
   * a density as the source is; zero at dofs with Dirichlet data. None for quadratic triangles and
   * tetrahedra, some of whose lumped masses are not positive.
   */
  std::vector<NodalField> residual_fields();

  /**
   * Collective. Of a scalar problem, "flux through ID" for each id with Dirichlet data: the flux
   * −∫σ·n that leaves the body there, in the weak sense (the nodal residuals of a side; a node of
   * two sides counts for the smaller id). And "balance defect": what all sources bring and no flux
   * takes away, relative to the magnitude of both. None without such data.
   */
  std::vector<Quantity> flux_quantities();

private:
  const Problem<dim> &problem;
  const Discretization<dim> &space;
  const FeVector &values;
  std::optional<Evaluation> evaluated;
};

/// Collective. ∫ φ_i dx by @p quadrature for every dof of a scalar space, hanging nodes and
/// periodic sides eliminated.
template <int dim>
FeVector shape_integrals(const Discretization<dim> &discretization,
                         const dealii::Quadrature<dim> &quadrature);

/**
 * Collective. −λ Σ w_i Φ(u_i), the energy of a reaction, with @p potential Φ' = φ.
 */
template <class Potential>
double reaction_energy(const Evaluation &evaluation, const double lambda, const FeVector &u,
                       const Potential &potential)
{
  double sum = 0.;
  for (unsigned int i = 0; i < evaluation.weights.locally_owned_size(); ++i)
    if (const double w = evaluation.weights.local_element(i); w != 0.)
      sum -= lambda * w * potential(u.local_element(i));
  return dealii::Utilities::MPI::sum(sum, u.get_mpi_communicator());
}
} // namespace femgpu

#endif
