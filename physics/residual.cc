#include "physics/residual.h"

#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/dofs/dof_tools.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Adds λ W φ(u) to the residual.
void add_reaction(const linalg::Nonlinearity &phi, const FeVector &u, Evaluation &result)
{
  double sum = 0., magnitude = 0.;
  linalg::visit_term(phi, result.weights.begin(), [&](const auto &term) {
    for (unsigned int i = 0; i < result.residual.locally_owned_size(); ++i) {
      if (result.weights.local_element(i) == 0.)
        continue;
      const double value = term.value(static_cast<int>(i), u.local_element(i));
      result.residual.local_element(i) += value;
      sum += value;
      magnitude += std::abs(value);
    }
  });
  const MPI_Comm comm = u.get_mpi_communicator();
  result.supply += Utilities::MPI::sum(sum, comm);
  result.supply_magnitude += Utilities::MPI::sum(magnitude, comm);
}
} // namespace

template <int dim>
Evaluation evaluate(const Problem<dim> &problem, const Discretization<dim> &discretization,
                    const FeVector &u, const VisitCell<dim> &visit)
{
  const auto phi = problem.nonlinearity();
  CellEquation<dim> equation(problem, discretization);
  CellTerms terms(discretization.element().n_dofs_per_cell(), phi.has_value());
  FeVector sums = vector_for_sums(discretization), weights;
  if (phi)
    weights.reinit(sums);
  double energy = 0., supply = 0., magnitude = 0., L2 = 0., H1 = 0.;
  for (const auto &cell : discretization.owned_cells()) {
    energy += equation.evaluate(cell, u, terms);
    L2 += equation.inside().integral_of_square(equation.inside().batch().u);
    H1 += equation.inside().integral_of_square(equation.inside().batch().gradients);
    const double of_cell = terms.f.mean_value() * terms.f.size();
    supply += of_cell;
    magnitude += std::abs(of_cell);
    discretization.conformity().distribute_local_to_global(terms.f, terms.dofs, sums);
    if (phi)
      discretization.conformity().distribute_local_to_global(terms.w, terms.dofs, weights);
    if (visit)
      visit(cell, equation, terms);
  }
  sums.compress(VectorOperation::add);
  const MPI_Comm comm = discretization.communicator();
  Evaluation result;
  result.quadratic_energy = Utilities::MPI::sum(energy, comm);
  result.supply = Utilities::MPI::sum(supply, comm);
  result.supply_magnitude = Utilities::MPI::sum(magnitude, comm);
  result.norms = {std::sqrt(Utilities::MPI::sum(L2, comm)),
                  std::sqrt(Utilities::MPI::sum(H1, comm))};
  result.residual = discretization.make_vector();
  result.residual.copy_locally_owned_data_from(sums);
  if (phi) {
    weights.compress(VectorOperation::add);
    result.weights = discretization.make_vector();
    result.weights.copy_locally_owned_data_from(weights);
    add_reaction(*phi, u, result);
  }
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
  FeVector sums = vector_for_sums(discretization);
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
  return {field};
}

template <int dim>
std::vector<Quantity> DiscreteSolution<dim>::flux_quantities()
{
  std::set<types::boundary_id> ids;
  for (const auto &condition : problem.dirichlet_conditions())
    ids.insert(condition.id);
  if (ids.empty() || problem.n_components() > 1)
    return {};
  const Evaluation &all = evaluation();
  const MPI_Comm comm = space.communicator();
  std::vector<Quantity> result;
  IndexSet counted(space.dofs().n_dofs());
  double outflow = 0., magnitude = all.supply_magnitude;
  for (const auto id : ids) {
    IndexSet dofs =
        DoFTools::extract_boundary_dofs(space.dofs(), ComponentMask(), {id}) & space.owned();
    dofs.subtract_set(counted);
    counted.add_indices(dofs);
    double flux = 0., absolute = 0.;
    for (const auto dof : dofs) {
      flux += all.residual(dof);
      absolute += std::abs(all.residual(dof));
    }
    flux = Utilities::MPI::sum(flux, comm);
    outflow += flux;
    magnitude += Utilities::MPI::sum(absolute, comm);
    result.push_back({"flux through " + space.mesh().regions.name_of(id), flux});
  }
  result.push_back(
      {"balance defect", magnitude > 0. ? std::abs(all.supply - outflow) / magnitude : 0., false});
  return result;
}

template Evaluation evaluate(const Problem<2> &, const Discretization<2> &, const FeVector &,
                             const VisitCell<2> &);
template Evaluation evaluate(const Problem<3> &, const Discretization<3> &, const FeVector &,
                             const VisitCell<3> &);
template FeVector shape_integrals(const Discretization<2> &, const Quadrature<2> &);
template FeVector shape_integrals(const Discretization<3> &, const Quadrature<3> &);
template class DiscreteSolution<2>;
template class DiscreteSolution<3>;
} // namespace femgpu
