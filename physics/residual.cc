#include "physics/residual.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Adds the entries of λ W φ(u) in the rows of this rank to the residual and the loads, and the sum
/// of these entries to @p supply.
void add_reaction(const linalg::Nonlinearity &phi, const FeVector &u, Evaluation &result,
                  FeVector &loads, double &supply)
{
  linalg::visit_term(phi, result.weights.begin(), [&](const auto &term) {
    for (unsigned int i = 0; i < result.residual.locally_owned_size(); ++i) {
      if (result.weights.local_element(i) == 0.)
        continue;
      const double value = term.value(static_cast<int>(i), u.local_element(i));
      result.residual.local_element(i) += value;
      loads.local_element(i) += value;
      supply += value;
    }
  });
}

/// Collective. Returns Evaluation::inflow, summed over all ranks.
template <int dim>
std::map<types::boundary_id, double>
sum_inflow(const Problem<dim> &problem, const CellEquation<dim> &equation,
           const Discretization<dim> &discretization, const FeVector &u)
{
  std::set<types::boundary_id> ids; // ids of this rank's faces and of all parameters
  for (const auto &[path, named] : problem.named_boundaries())
    for (const auto id : named)
      if (problem.has_boundary_flux(id))
        ids.insert(id);
  for (const auto &entry : equation.boundary_flows())
    ids.insert(entry.first);
  std::map<types::boundary_id, double> result;
  for (const auto id : Utilities::MPI::compute_set_union(ids, discretization.communicator()))
    result[id] = 0.;
  const auto phi = problem.nonlinearity();
  const AffineConstraints<double> &conformity = discretization.conformity();
  for (const auto &[id, flow] : equation.boundary_flows()) {
    double &sum = result[id];
    sum += flow.integral;
    const auto add = [&, &flow = flow](const auto &reaction) {
      for (const auto &[dof, weight] : flow.weights)
        if (!conformity.is_constrained(dof))
          sum += phi->lambda * weight * reaction.value(u(dof));
        else
          for (const auto &[master, share] : *conformity.get_constraint_entries(dof))
            sum += phi->lambda * weight * share * reaction.value(u(master));
    };
    if (!flow.weights.empty())
      std::visit(add, phi->reaction);
  }
  for (auto &entry : result)
    entry.second = Utilities::MPI::sum(entry.second, discretization.communicator());
  return result;
}

/// Returns the dofs of this rank with support reactions or inward fluxes: dofs with Dirichlet data,
/// and all dofs of nodes on oblique symmetry planes.
template <int dim>
IndexSet dofs_with_reactions(const Discretization<dim> &discretization)
{
  std::vector<types::global_dof_index> dofs;
  const auto add = [&](const types::global_dof_index dof) {
    if (discretization.owned().is_element(dof))
      dofs.push_back(dof);
  };
  for (const auto &line : discretization.constraints().get_lines()) {
    if (discretization.conformity().is_constrained(line.index))
      continue;
    add(line.index);
    for (const auto &entry : line.entries)
      add(entry.first);
  }
  std::sort(dofs.begin(), dofs.end());
  IndexSet result(discretization.dofs().n_dofs());
  result.add_indices(dofs.begin(), dofs.end());
  return result;
}

/// Collective. Returns Evaluation::balance.
/// @param supply the sum of all loads of this rank, for each component
template <int dim>
Balance balance_of(const Problem<dim> &problem, const Discretization<dim> &discretization,
                   const FeVector &residual, const FeVector &loads, std::array<double, 3> supply)
{
  double magnitude = 0., of_residual = 0.;
  for (const double load : loads)
    magnitude += std::abs(load);
  for (const double r : residual)
    of_residual += std::abs(r);
  if (!problem.fixes_mean()) // a dof fixed for the mean has no reaction
    for (const auto dof : dofs_with_reactions(discretization)) {
      supply[dof % problem.n_components()] -= residual(dof); // dofs are numbered node by node
      magnitude += std::abs(residual(dof));
      of_residual -= std::abs(residual(dof));
    }
  Balance result;
  const MPI_Comm comm = discretization.communicator();
  for (const double of_component : supply)
    result.defect = std::max(result.defect, std::abs(Utilities::MPI::sum(of_component, comm)));
  result.magnitude = Utilities::MPI::sum(magnitude, comm);
  result.residual = std::max(0., Utilities::MPI::sum(of_residual, comm));
  return result;
}
} // namespace

template <int dim>
Evaluation evaluate(const Problem<dim> &problem, const Discretization<dim> &discretization,
                    const FeVector &u, CellObserver<dim> *const observer)
{
  const auto phi = problem.nonlinearity();
  const FiniteElement<dim> &element = discretization.element();
  CellEquation<dim> equation(problem, discretization);
  CellTerms terms(element.n_dofs_per_cell(), phi.has_value());
  FeVector sums = make_assembly_vector(discretization), loads = sums, forces = sums,
           exchange = sums, weights;
  Vector<double> magnitudes(element.n_dofs_per_cell());
  if (phi)
    weights.reinit(sums);
  double energy = 0., stiffness = 0., L2 = 0., H1 = 0.;
  std::array<double, 3> supply = {};
  const auto distribute = [&](const Vector<double> &of_cell, FeVector &to) {
    discretization.conformity().distribute_local_to_global(of_cell, terms.dofs, to);
  };
  for (const auto &cell : discretization.owned_cells()) {
    energy += equation.evaluate(cell, u, terms);
    L2 += equation.inside().integral_of_square(equation.inside().batch().u);
    H1 += equation.inside().integral_of_square(equation.inside().batch().gradients);
    for (unsigned int i = 0; i < terms.f.size(); ++i)
      supply[element.system_to_component_index(i).first] += equation.loads()(i);
    distribute(terms.f, sums);
    if (phi)
      distribute(terms.w, weights);
    if (observer)
      observer->visit(cell, equation, terms);
    if (!equation.loads().all_zero())
      distribute(equation.loads(), loads);
    const Vector<double> &internal = equation.internal_forces();
    stiffness += internal * equation.u_of_cell();
    for (unsigned int i = 0; i < internal.size(); ++i)
      magnitudes(i) = std::abs(internal(i));
    discretization.constraints().distribute_local_to_global(magnitudes, terms.dofs, forces);
    if (!equation.exchange().all_zero())
      discretization.constraints().distribute_local_to_global(equation.exchange(), terms.dofs,
                                                              exchange);
  }
  for (FeVector *const vector : {&sums, &loads, &forces, &exchange})
    vector->compress(VectorOperation::add);
  const MPI_Comm comm = discretization.communicator();
  Evaluation result;
  result.quadratic_energy = Utilities::MPI::sum(energy, comm);
  result.stiffness_energy = Utilities::MPI::sum(stiffness, comm);
  result.storage_rate = Utilities::MPI::sum(equation.storage_rate(), comm);
  result.internal_forces.assign(forces.begin(), forces.begin() + forces.locally_owned_size());
  if (!exchange.all_zero()) // the same on all ranks
    result.exchange.assign(exchange.begin(), exchange.begin() + exchange.locally_owned_size());
  result.norms = {std::sqrt(Utilities::MPI::sum(L2, comm)),
                  std::sqrt(Utilities::MPI::sum(H1, comm))};
  result.residual = discretization.make_vector();
  result.residual.copy_locally_owned_data_from(sums);
  if (phi) {
    weights.compress(VectorOperation::add);
    result.weights = discretization.make_vector();
    result.weights.copy_locally_owned_data_from(weights);
    add_reaction(*phi, u, result, loads, supply[0]);
  }
  result.balance = balance_of(problem, discretization, result.residual, loads, supply);
  if (problem.n_components() == 1)
    result.inflow = sum_inflow(problem, equation, discretization, u);
  result.residual.update_ghost_values();
  return result;
}

template <int dim>
FeVector shape_integrals(const Discretization<dim> &discretization,
                         const Quadrature<dim> &quadrature)
{
  CellPoints<dim> points(discretization, quadrature);
  const unsigned int n = discretization.element().n_dofs_per_cell();
  std::vector<types::global_dof_index> dofs(n);
  Vector<double> integrals(n);
  PointTerms one;
  one.reinit(1, 1, dim, quadrature.size());
  std::fill_n(one.value(0), quadrature.size(), 1.);
  FeVector sums = make_assembly_vector(discretization);
  for (const auto &cell : discretization.owned_cells()) {
    points.reinit(cell);
    cell->get_dof_indices(dofs);
    integrals = 0.;
    points.add_source(one, integrals);
    discretization.conformity().distribute_local_to_global(integrals, dofs, sums);
  }
  sums.compress(VectorOperation::add);
  FeVector result = discretization.make_vector();
  result.copy_locally_owned_data_from(sums);
  return result;
}

template <int dim>
std::vector<NodalField> DiscreteSolution<dim>::residual_fields()
{
  if (space.mesh().is_simplex && space.degree() > 1)
    return {};
  const FeVector &residual = evaluation().residual;
  const FeVector mass = shape_integrals(space, space.nodal_quadrature());
  NodalField field = {"residual", space.make_vector()};
  for (unsigned int i = 0; i < mass.locally_owned_size(); ++i)
    if (!space.constraints().is_constrained(space.owned().nth_index_in_set(i)))
      field.values.local_element(i) = residual.local_element(i) / mass.local_element(i);
  space.conformity().distribute(field.values);
  field.values.update_ghost_values();
  std::vector<NodalField> result;
  result.push_back(std::move(field)); // a copy would have no ghost values
  return result;
}

template <int dim>
std::vector<Quantity> DiscreteSolution<dim>::flux_quantities()
{
  if (problem.n_components() > 1)
    return {};
  const Evaluation &all = evaluation();
  std::map<types::boundary_id, double> outflow;
  for (const auto &[id, inflow] : all.inflow)
    outflow[id] = 0. - inflow; // avoids −0
  std::set<types::boundary_id> held;
  for (const auto &condition : problem.dirichlet_conditions())
    held.insert(condition.id);
  IndexSet counted(space.dofs().n_dofs());
  for (const auto id : held) {
    IndexSet dofs = owned_dofs_on(space, {id});
    dofs.subtract_set(counted);
    counted.add_indices(dofs);
    double flux = 0.;
    for (const auto dof : dofs)
      flux += all.residual(dof);
    outflow[id] += Utilities::MPI::sum(flux, space.communicator());
  }
  std::vector<Quantity> result;
  for (const auto &[id, flux] : outflow)
    result.push_back({"flux through " + space.mesh().regions.name_of(id), flux});
  if (problem.storage() != nullptr)
    result.push_back({"rate of storage", all.storage_rate});
  result.push_back({"balance defect", all.balance.relative_defect(), false});
  return result;
}

template Evaluation evaluate(const Problem<2> &, const Discretization<2> &, const FeVector &,
                             CellObserver<2> *);
template Evaluation evaluate(const Problem<3> &, const Discretization<3> &, const FeVector &,
                             CellObserver<3> *);
template FeVector shape_integrals(const Discretization<2> &, const Quadrature<2> &);
template FeVector shape_integrals(const Discretization<3> &, const Quadrature<3> &);
template class DiscreteSolution<2>;
template class DiscreteSolution<3>;
} // namespace femgpu
