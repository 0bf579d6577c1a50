#include "physics/elasticity/elastic_quantities.h"

#include "physics/cell_equation.h"
#include "physics/elasticity/reactions.h"
#include "physics/elasticity/stress_output.h"
#include "physics/residual.h"

#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_values.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace femgpu
{
using namespace dealii;

namespace
{
/// One pass over the cells of a rank.
template <int dim>
class Pass
{
public:
  Pass(const Problem<dim> &problem, const ElasticBody<dim> &body,
       const Discretization<dim> &discretization, const FeVector &u);

  /// Collective.
  std::vector<Quantity> quantities();

private:
  void add_cell(const ActiveCell<dim> &cell);
  void add_loads();
  void add_internal_forces();
  void find_extremes();
  std::vector<Quantity> extremes() const;
  std::vector<Quantity> forces();

  const ElasticBody<dim> &body;
  const Discretization<dim> &discretization;
  const FiniteElement<dim> &element;
  const FeVector &u;
  MPI_Comm comm;
  CellEquation<dim> equation;
  CellTerms terms; ///< of the cell: its residual
  FEValues<dim> at_nodes;
  CellPoints<dim> nodes;
  Vector<double> u_cell, f_cell;
  PointTerms thermal;

  FeVector load, residual; ///< f with the thermal load, and f − K u; hanging nodes eliminated
  double energy = 0., work = 0.;
  double largest_displacement = 0., largest_von_mises = 0., smallest_safety = largest_safety_factor;
  double largest_stress = -std::numeric_limits<double>::max();
  double smallest_stress = std::numeric_limits<double>::max();
  Wrench loads;
};

template <int dim>
Pass<dim>::Pass(const Problem<dim> &problem, const ElasticBody<dim> &body,
                const Discretization<dim> &discretization, const FeVector &u)
    : body(body), discretization(discretization), element(discretization.element()), u(u),
      comm(discretization.communicator()), equation(problem, discretization),
      terms(element.n_dofs_per_cell(), false),
      at_nodes(discretization.mapping(), element.base_element(0),
               Quadrature<dim>(element.base_element(0).get_unit_support_points()),
               update_values | update_gradients | update_quadrature_points),
      nodes(discretization), u_cell(terms.dofs.size()), f_cell(terms.dofs.size()),
      load(vector_for_sums(discretization)), residual(vector_for_sums(discretization))
{}

template <int dim>
void Pass<dim>::add_loads()
{
  f_cell = equation.loads();
  work += 0.5 * (f_cell * u_cell);
  for (unsigned int i = 0; i < f_cell.size(); ++i) {
    const auto [component, node] = element.system_to_component_index(i);
    loads.add<dim>(nodes.batch().points()[node] - body.moment_point, component, f_cell(i));
  }
}

template <int dim>
Tensor<2, dim> gradient_at(const PointBatch<dim> &at, const unsigned int q)
{
  Tensor<2, dim> gradient;
  for (unsigned int c = 0; c < dim; ++c)
    for (unsigned int d = 0; d < dim; ++d)
      gradient[c][d] = at.gradient(c, d)[q];
  return gradient;
}

/// The energy, and the thermal load (p_T, div φ_i).
template <int dim>
void Pass<dim>::add_internal_forces()
{
  const CellPoints<dim> &inside = equation.inside();
  const PointBatch<dim> &at = inside.batch();
  const auto moduli = body.materials.moduli(at.points(), at.material);
  thermal.reinit(dim * dim, dim, dim, at.size());
  for (unsigned int q = 0; q < at.size(); ++q) {
    energy += body.materials.state(moduli[q], gradient_at(at, q)).energy_density * inside.JxW(q);
    for (unsigned int c = 0; c < dim && body.materials.has_temperature(); ++c)
      thermal.value(c * dim + c)[q] = -body.materials.law(moduli[q]).thermal_pressure;
  }
  inside.subtract_flux(thermal, f_cell);
  discretization.conformity().distribute_local_to_global(f_cell, terms.dofs, load);
  discretization.conformity().distribute_local_to_global(terms.f, terms.dofs, residual);
}

template <int dim>
void Pass<dim>::find_extremes()
{
  const PointBatch<dim> &at = nodes.batch();
  const auto moduli = body.materials.moduli(at.points(), at.material);
  std::vector<double> yield;
  if (body.materials.has_yield_stress())
    yield = body.materials.yield_stress(at.points(), at.material);
  for (unsigned int node = 0; node < at.size(); ++node) {
    double square = 0.;
    for (unsigned int c = 0; c < dim; ++c)
      square += std::pow(at.u[c][node], 2);
    largest_displacement = std::max(largest_displacement, std::sqrt(square));
    const ElasticState state = body.materials.state(moduli[node], gradient_at(at, node));
    const auto principal = eigenvectors(state.stress);
    largest_stress = std::max(largest_stress, principal[0].first);
    smallest_stress = std::min(smallest_stress, principal[2].first);
    const double equivalent = von_mises(state.stress);
    largest_von_mises = std::max(largest_von_mises, equivalent);
    if (!yield.empty())
      smallest_safety = std::min(smallest_safety, safety_factor(yield[node], equivalent));
  }
}

template <int dim>
void Pass<dim>::add_cell(const ActiveCell<dim> &cell)
{
  equation.evaluate(cell, u, terms);
  cell->get_dof_values(u, u_cell);
  nodes.reinit(cell, at_nodes);
  nodes.set_solution(u_cell);
  add_loads();
  add_internal_forces();
  find_extremes();
}

/// Collective.
template <int dim>
std::vector<Quantity> Pass<dim>::extremes() const
{
  const auto largest = [&](const double value) { return Utilities::MPI::max(value, comm); };
  const auto smallest = [&](const double value) { return Utilities::MPI::min(value, comm); };
  std::vector<Quantity> result = {
      {"max displacement", largest(largest_displacement)},
      {"max von Mises", largest(largest_von_mises)},
      {"max principal stress", largest(largest_stress)},
      {"min principal stress", smallest(smallest_stress)},
  };
  if (body.materials.has_yield_stress())
    result.push_back({"min safety factor", smallest(smallest_safety)});
  result.push_back({"strain energy", Utilities::MPI::sum(energy, comm)});
  result.push_back({"work of loads", Utilities::MPI::sum(work, comm)});
  return result;
}

/// Adds "force x of where" and so on; in 2D the components that a plane problem has.
template <int dim>
void add_components(const std::string &force, const std::string &moment, const std::string &where,
                    const Wrench &wrench, std::vector<Quantity> &result)
{
  for (unsigned int c = 0; c < dim; ++c)
    result.push_back({force + ' ' + "xyz"[c] + where, wrench.force[c]});
  for (unsigned int c = dim == 2 ? 2 : 0; c < 3; ++c)
    result.push_back({moment + ' ' + "xyz"[c] + where, wrench.moment[c]});
}

/// Collective.
template <int dim>
std::vector<Quantity> Pass<dim>::forces()
{
  load.compress(VectorOperation::add);
  residual.compress(VectorOperation::add);
  const double sum_of_loads = load.l1_norm();
  const Reactions reactions =
      compute_reactions(body.supports, discretization, residual, body.moment_point);
  Wrench sum = sum_of(loads, comm);
  std::vector<Quantity> result;
  add_components<dim>("load", "load moment", "", sum, result);
  for (const auto &[id, reaction] : reactions.by_id) {
    add_components<dim>("reaction", "moment", " of " + discretization.mesh().regions.name_of(id),
                        reaction, result);
    sum.force += reaction.force;
    sum.moment += reaction.moment;
  }
  const double scale = std::max(sum_of_loads, reactions.sum_of_magnitudes);
  double largest = 0.;
  for (unsigned int c = 0; c < dim; ++c)
    largest = std::max(largest, std::abs(sum.force[c]));
  result.push_back({"balance defect", scale > 0. ? largest / scale : 0., false});
  return result;
}

template <int dim>
std::vector<Quantity> Pass<dim>::quantities()
{
  for (const auto &cell : discretization.dofs().active_cell_iterators())
    if (cell->is_locally_owned())
      add_cell(cell);
  std::vector<Quantity> result = extremes();
  if (!body.reports_reactions)
    return result;
  for (const Quantity &quantity : forces())
    result.push_back(quantity);
  return result;
}
} // namespace

template <int dim>
std::vector<Quantity> elastic_quantities(const Problem<dim> &problem, const ElasticBody<dim> &body,
                                         const DiscreteSolution<dim> &solution)
{
  return Pass<dim>(problem, body, solution.discretization(), solution.u()).quantities();
}

template std::vector<Quantity> elastic_quantities(const Problem<2> &, const ElasticBody<2> &,
                                                  const DiscreteSolution<2> &);
template std::vector<Quantity> elastic_quantities(const Problem<3> &, const ElasticBody<3> &,
                                                  const DiscreteSolution<3> &);
} // namespace femgpu
