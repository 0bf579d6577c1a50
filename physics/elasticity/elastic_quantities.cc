#include "physics/elasticity/elastic_quantities.h"

#include "physics/elasticity/reactions.h"
#include "physics/residual.h"

#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria_base.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace femgpu
{
using namespace dealii;

namespace
{
/// What is found in one pass over the cells.
template <int dim>
class Pass
{
public:
  Pass(const ElasticBody<dim> &body, DiscreteSolution<dim> &solution);

  /// Collective.
  std::vector<Quantity> quantities();

private:
  void add_cell(const ActiveCell<dim> &cell, CellEquation<dim> &equation, const CellTerms &terms);
  void add_loads(const Vector<double> &loads);
  void add_energy(CellEquation<dim> &equation);
  void find_extremes();
  std::vector<Quantity> extremes() const;
  std::vector<Quantity> forces(const FeVector &residual);

  const ElasticBody<dim> &body;
  DiscreteSolution<dim> &solution;
  const Discretization<dim> &discretization;
  MPI_Comm comm;
  CellPoints<dim> nodes;
  Vector<double> f_cell;
  PointTerms thermal;

  FeVector load; ///< f with the thermal load; hanging nodes eliminated
  double energy = 0., work = 0.;
  double largest_displacement = 0., largest_von_mises = 0., smallest_safety = largest_safety_factor;
  double largest_stress = -std::numeric_limits<double>::max();
  double smallest_stress = std::numeric_limits<double>::max();
  Wrench loads;
};

template <int dim>
Pass<dim>::Pass(const ElasticBody<dim> &body, DiscreteSolution<dim> &solution)
    : body(body), solution(solution), discretization(solution.discretization()),
      comm(discretization.communicator()), nodes(discretization, discretization.nodal_quadrature()),
      load(vector_for_sums(discretization))
{}

template <int dim>
void Pass<dim>::add_loads(const Vector<double> &f)
{
  for (unsigned int i = 0; i < f.size(); ++i)
    if (f(i) != 0.) {
      const auto [component, node] = discretization.element().system_to_component_index(i);
      loads.add<dim>(nodes.batch().points()[node] - body.moment_point, component, f(i));
    }
}

/// The energy, and the thermal load (p_T, div φ_i).
template <int dim>
void Pass<dim>::add_energy(CellEquation<dim> &equation)
{
  CellPoints<dim> &inside = equation.inside();
  const PointBatch<dim> &at = inside.batch();
  if (!body.materials.has_temperature()) {
    for (const unsigned int r : equation.flux().values.written())
      for (unsigned int q = 0; q < at.size(); ++q)
        energy += 0.5 * equation.flux().values[r][q] * at.gradients[r][q] * inside.JxW(q);
    return;
  }
  const auto moduli = body.materials.moduli(at.points(), at.material);
  thermal.reinit(dim * dim, dim, dim, at.size());
  for (unsigned int q = 0; q < at.size(); ++q) {
    energy += body.materials.state(moduli[q], gradient_at(at, q)).energy_density * inside.JxW(q);
    for (unsigned int c = 0; c < dim; ++c)
      thermal.value(c * dim + c)[q] = -body.materials.law(moduli[q]).thermal_pressure;
  }
  inside.subtract_flux(thermal, f_cell);
}

template <int dim>
void Pass<dim>::find_extremes()
{
  const PointBatch<dim> &at = nodes.batch();
  const auto moduli = body.materials.moduli(at.points(), at.material);
  const auto yield = body.materials.yield_stress(at.points(), at.material);
  for (unsigned int node = 0; node < at.size(); ++node) {
    double square = 0.;
    for (unsigned int c = 0; c < dim; ++c)
      square += at.u[c][node] * at.u[c][node];
    largest_displacement = std::max(largest_displacement, std::sqrt(square));
    const ElasticState state = body.materials.state(moduli[node], gradient_at(at, node));
    const double equivalent = von_mises(state.stress), mean = trace(state.stress) / 3.;
    // No principal stress is further from the mean than 2/3 of the von Mises stress.
    const double furthest = (2. / 3. + 1e-10) * equivalent;
    if (mean + furthest > largest_stress || mean - furthest < smallest_stress) {
      const auto principal = principal_stresses(state.stress);
      largest_stress = std::max(largest_stress, principal[0]);
      smallest_stress = std::min(smallest_stress, principal[2]);
    }
    largest_von_mises = std::max(largest_von_mises, equivalent);
    if (!yield.empty())
      smallest_safety = std::min(smallest_safety, safety_factor(yield[node], equivalent));
  }
}

template <int dim>
void Pass<dim>::add_cell(const ActiveCell<dim> &cell, CellEquation<dim> &equation,
                         const CellTerms &terms)
{
  nodes.reinit(cell);
  nodes.set_solution(equation.u_of_cell());
  find_extremes();
  f_cell = equation.loads();
  work += 0.5 * (f_cell * equation.u_of_cell());
  add_loads(f_cell);
  add_energy(equation);
  if (body.reports_reactions && !f_cell.all_zero())
    discretization.conformity().distribute_local_to_global(f_cell, terms.dofs, load);
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
std::vector<Quantity> Pass<dim>::forces(const FeVector &residual)
{
  load.compress(VectorOperation::add);
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
  const FeVector &residual =
      solution
          .evaluation([this](const ActiveCell<dim> &cell, CellEquation<dim> &equation,
                             const CellTerms &terms) { add_cell(cell, equation, terms); })
          .residual;
  std::vector<Quantity> result = extremes();
  if (!body.reports_reactions)
    return result;
  for (const Quantity &quantity : forces(residual))
    result.push_back(quantity);
  return result;
}
} // namespace

template <int dim>
std::vector<Quantity> elastic_quantities(const ElasticBody<dim> &body,
                                         DiscreteSolution<dim> &solution)
{
  return Pass<dim>(body, solution).quantities();
}

template std::vector<Quantity> elastic_quantities(const ElasticBody<2> &, DiscreteSolution<2> &);
template std::vector<Quantity> elastic_quantities(const ElasticBody<3> &, DiscreteSolution<3> &);
} // namespace femgpu
