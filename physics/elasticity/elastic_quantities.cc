#include "physics/elasticity/elastic_quantities.h"

#include "physics/elasticity/reactions.h"
#include "physics/elasticity/stress_output.h"
#include "physics/residual.h"

#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/fe_values_extractors.h>

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
  Pass(const ElasticBody<dim> &body, const Discretization<dim> &discretization, const FeVector &u);

  /// Collective.
  std::vector<Quantity> quantities();

private:
  using Cell = typename DoFHandler<dim>::active_cell_iterator;

  void add_cell(const Cell &cell);
  void add_loads(const Cell &cell);
  void add_internal_forces(const Cell &cell);
  void find_extremes(const Cell &cell);
  std::vector<Quantity> extremes() const;
  std::vector<Quantity> forces();

  const ElasticBody<dim> &body;
  const Discretization<dim> &discretization;
  const FiniteElement<dim> &element;
  const FeVector &u;
  MPI_Comm comm;
  FEValues<dim> fe, nodal;
  FEFaceValues<dim> face;
  FEValuesExtractors::Vector displacement;
  std::vector<types::global_dof_index> dofs;
  Vector<double> u_cell, f_cell, r_cell;
  std::vector<Tensor<2, dim>> gradients, nodal_gradients;

  FeVector load, residual; ///< f with the thermal load, and f − K u; hanging nodes eliminated
  double energy = 0., work = 0.;
  double largest_displacement = 0., largest_von_mises = 0., smallest_safety = largest_safety_factor;
  double largest_stress = -std::numeric_limits<double>::max();
  double smallest_stress = std::numeric_limits<double>::max();
  Wrench loads;
};

template <int dim>
Pass<dim>::Pass(const ElasticBody<dim> &body, const Discretization<dim> &discretization,
                const FeVector &u)
    : body(body), discretization(discretization), element(discretization.element()), u(u),
      comm(discretization.communicator()),
      fe(discretization.mapping(), element, discretization.cell_quadrature(),
         update_values | update_gradients | update_quadrature_points | update_JxW_values),
      nodal(discretization.mapping(), element,
            Quadrature<dim>(element.base_element(0).get_unit_support_points()),
            update_gradients | update_quadrature_points),
      face(discretization.mapping(), element, discretization.face_quadrature(),
           update_values | update_quadrature_points | update_JxW_values | update_normal_vectors),
      displacement(0), dofs(element.n_dofs_per_cell()), u_cell(dofs.size()), f_cell(dofs.size()),
      r_cell(dofs.size()), gradients(fe.n_quadrature_points),
      nodal_gradients(nodal.n_quadrature_points), load(vector_for_sums(discretization)),
      residual(vector_for_sums(discretization))
{}

template <int dim>
void Pass<dim>::add_loads(const Cell &cell)
{
  f_cell = 0.;
  body.loads.add_cell_terms(fe, f_cell);
  if (cell->at_boundary())
    for (const auto f : cell->face_indices())
      if (cell->face(f)->at_boundary() && body.loads.acts_on(cell->face(f)->boundary_id())) {
        face.reinit(cell, f);
        body.loads.add_face_terms(face, cell->face(f)->boundary_id(), f_cell);
      }
  work += 0.5 * (f_cell * u_cell);
  for (unsigned int i = 0; i < dofs.size(); ++i) {
    const auto [component, node] = element.system_to_component_index(i);
    loads.add<dim>(nodal.quadrature_point(node) - body.moment_point, component, f_cell(i));
  }
}

/// r_i = f_i − (σ(u), ∇φ_i) with the quadrature of the stiffness matrix: f − K u to rounding.
template <int dim>
void Pass<dim>::add_internal_forces(const Cell &cell)
{
  fe[displacement].get_function_gradients(u, gradients);
  r_cell = f_cell;
  for (const unsigned int q : fe.quadrature_point_indices()) {
    const ElasticState state =
        body.materials.state({fe.quadrature_point(q), cell->material_id()}, gradients[q]);
    energy += state.energy_density * fe.JxW(q);
    for (unsigned int i = 0; i < dofs.size(); ++i) {
      const unsigned int c = element.system_to_component_index(i).first;
      const Tensor<1, dim> &gradient = fe.shape_grad(i, q);
      double product = 0.;
      for (unsigned int a = 0; a < dim; ++a)
        product += state.stress[c][a] * gradient[a];
      r_cell(i) -= product * fe.JxW(q);
    }
  }
  add_thermal_terms(fe, body.materials, f_cell);
  discretization.conformity().distribute_local_to_global(f_cell, dofs, load);
  discretization.conformity().distribute_local_to_global(r_cell, dofs, residual);
}

template <int dim>
void Pass<dim>::find_extremes(const Cell &cell)
{
  nodal[displacement].get_function_gradients(u, nodal_gradients);
  for (const unsigned int node : nodal.quadrature_point_indices()) {
    double square = 0.;
    for (unsigned int c = 0; c < dim; ++c)
      square += std::pow(u_cell(element.component_to_system_index(c, node)), 2);
    largest_displacement = std::max(largest_displacement, std::sqrt(square));
    const Place<dim> place = {nodal.quadrature_point(node), cell->material_id()};
    const ElasticState state = body.materials.state(place, nodal_gradients[node]);
    const auto principal = eigenvectors(state.stress);
    largest_stress = std::max(largest_stress, principal[0].first);
    smallest_stress = std::min(smallest_stress, principal[2].first);
    const double equivalent = von_mises(state.stress);
    largest_von_mises = std::max(largest_von_mises, equivalent);
    if (body.materials.has_yield_stress())
      smallest_safety =
          std::min(smallest_safety, safety_factor(body.materials.yield_stress(place), equivalent));
  }
}

template <int dim>
void Pass<dim>::add_cell(const Cell &cell)
{
  fe.reinit(cell);
  nodal.reinit(cell);
  cell->get_dof_indices(dofs);
  cell->get_dof_values(u, u_cell);
  add_loads(cell);
  add_internal_forces(cell);
  find_extremes(cell);
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

/// The name of a part of the boundary, or its number.
std::string name_of(const types::boundary_id id, const MeshRegions &regions)
{
  for (const auto &[name, named] : regions.boundary_names)
    if (named == id)
      return name;
  return std::to_string(id);
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
    add_components<dim>("reaction", "moment", " of " + name_of(id, discretization.mesh().regions),
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
std::vector<Quantity> elastic_quantities(const ElasticBody<dim> &body,
                                         const Discretization<dim> &discretization,
                                         const FeVector &u)
{
  return Pass<dim>(body, discretization, u).quantities();
}

template std::vector<Quantity> elastic_quantities(const ElasticBody<2> &, const Discretization<2> &,
                                                  const FeVector &);
template std::vector<Quantity> elastic_quantities(const ElasticBody<3> &, const Discretization<3> &,
                                                  const FeVector &);
} // namespace femgpu
