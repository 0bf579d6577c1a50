#include "physics/diffusion_reaction.h"

#include "linalg/base/error.h"
#include "physics/data_checks.h"
#include "physics/mesh/periodicity.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
using namespace dealii;

DiffusionReactionParameters::DiffusionReactionParameters(const std::string &section)
    : ParameterAcceptor("/" + section), section(section)
{}

void DiffusionReactionParameters::declare(TextParameter &parameter, const std::string &key,
                                          const std::string &documentation, const std::string &text)
{
  parameter = {section + "/" + key, text};
  add_parameter(key, parameter.text, documentation);
}

void DiffusionReactionParameters::declare_dirichlet(const std::string &documentation)
{
  declare(dirichlet, "Dirichlet",
          "u = g on parts of the boundary: 'ids: g; ids: g', for example '0, 1: sin(pi*x); 2: 0'." +
              documentation);
}

void DiffusionReactionParameters::declare_transient(const std::string &key,
                                                    const std::string &documentation,
                                                    const std::string &text)
{
  declare(capacity, key, documentation, text);
  declare(initial_value, "Initial value",
          "u at t = 0 of a transient analysis: an expression of x, y, z.", "0");
}

void DiffusionReactionParameters::declare_periodic()
{
  declare(periodic, "Periodic",
          "Pairs of periodic sides, 'id, id: axis; ...', such as 'left, right: x; 2, 3: y'. The "
          "second side is the first one moved along the axis; u and the flux are equal on both.");
}

void DiffusionReactionParameters::declare_exact_solution()
{
  declare(exact_solution, "Exact solution",
          "Exact u, an expression of x, y, z, and of t in a transient analysis. If given, femgpu "
          "computes the errors in L2, H1 and Linf.");
}

namespace
{
using TextParameter = DiffusionReactionParameters::TextParameter;

/// Returns the largest degree in u of all components of @p fields.
template <class Fields>
int degree_in_u(const Fields &fields)
{
  int result = 0;
  for (const auto &entry : fields)
    for (unsigned int c = 0; c < entry.second->n_components; ++c)
      result = std::max(result, entry.second->degree_in_u(c));
  return result;
}
} // namespace

template <int dim>
DiffusionReaction<dim>::DiffusionReaction(const DiffusionReactionParameters &p,
                                          const MeshRegions &regions,
                                          const std::optional<Reaction> &reaction_)
    : parameters(p),
      k(make_material_fields<dim>(p.conductivity.path, p.conductivity.text, dim, regions,
                                  Variables::position_and_solution, /* allow_single */ true)),
      f(make_material_fields<dim>(p.source.path, p.source.text, 1, regions,
                                  Variables::position_and_solution)),
      dirichlet(make_boundary_fields<dim>(p.dirichlet.path, p.dirichlet.text, 1, regions)),
      neumann(make_boundary_fields<dim>(p.neumann.path, p.neumann.text, 1, regions,
                                        Variables::position_and_solution)),
      robin(make_boundary_fields<dim>(p.robin.path, p.robin.text, 2, regions)),
      boundary_reaction(make_boundary_fields<dim>(p.boundary_reaction.path,
                                                  p.boundary_reaction.text, 2, regions)),
      periodic(parse_periodic_sides(p.periodic.path, p.periodic.text, dim, regions)),
      exact(make_optional_field<dim>(p.exact_solution.path, p.exact_solution.text, 1, regions)),
      reaction(reaction_)
{
  if (regions.clock && !p.capacity.path.empty()) {
    if (is_blank(p.capacity.text))
      throw ParameterError("A transient analysis needs a capacity. Set " + p.capacity.path +
                               ", for heat the product of density and specific heat.",
                           p.capacity.path);
    storage_capacity = make_material_fields<dim>(p.capacity.path, p.capacity.text, 1, regions,
                                                 Variables::position_and_solution);
    initial = std::make_unique<Field<dim>>(p.initial_value.path,
                                           std::vector<std::string>{p.initial_value.text},
                                           Variables::position, regions.definitions);
  }
  if (!is_blank(p.reaction_coefficient.text))
    c = make_material_fields<dim>(p.reaction_coefficient.path, p.reaction_coefficient.text, 1,
                                  regions);
  reject_overlap(p.neumann.path, neumann, dirichlet);
  reject_overlap(p.robin.path, robin, dirichlet);
  reject_overlap(p.robin.path, robin, neumann);
  reject_overlap(p.boundary_reaction.path, boundary_reaction, dirichlet);
  for (const auto &[path, ids] : DiffusionReaction<dim>::named_boundaries())
    if (path != p.periodic.path)
      reject_conditions_on(p.periodic.path, periodic, path, ids);
  const bool has_nonlinear_reaction =
      reaction && !reaction->affine &&
      !(nonzero_ids(c).empty() && nonzero_ids(boundary_reaction).empty());
  problem_traits.has_nonlinear_terms = degree_in_u(k) > 0 || degree_in_u(storage_capacity) > 0 ||
                                       degree_in_u(f) > 1 || degree_in_u(neumann) > 1;
  problem_traits.has_symmetric_matrix = degree_in_u(k) == 0;
  // sources that grow with u model waves, which are indefinite by intent
  problem_traits.may_be_unstable = degree_in_u(neumann) > 0 && degree_in_u(f) == 0;
  has_nodal_reaction = has_nonlinear_reaction && !problem_traits.has_nonlinear_terms;
}

template <int dim>
auto DiffusionReaction<dim>::named_boundaries() const
    -> std::vector<std::pair<std::string, std::set<types::boundary_id>>>
{
  std::vector<std::pair<std::string, std::set<types::boundary_id>>> result;
  const auto add = [&](const TextParameter &parameter, const std::set<types::boundary_id> &ids) {
    if (!parameter.path.empty())
      result.emplace_back(parameter.path, ids);
  };
  add(parameters.dirichlet, ids_of(dirichlet));
  add(parameters.neumann, ids_of(neumann));
  add(parameters.robin, ids_of(robin));
  add(parameters.boundary_reaction, ids_of(boundary_reaction));
  add(parameters.periodic, ids_of(periodic));
  return result;
}

template <int dim>
DeterminingRegions DiffusionReaction<dim>::determining_regions() const
{
  DeterminingRegions result;
  result.boundary_ids = ids_of(dirichlet);
  result.boundary_ids.merge(nonzero_ids(robin));
  for (const auto &[id, field] : neumann)
    if (field->degree_in_u() > 0)
      result.boundary_ids.insert(id);
  for (const auto &[id, field] : f)
    if (field->degree_in_u() > 0)
      result.material_ids.insert(id);
  for (const auto &entry : storage_capacity) // c ∂u/∂t determines u
    result.material_ids.insert(entry.first);
  if (reaction && reaction->depends_on_u()) {
    result.boundary_ids.merge(nonzero_ids(boundary_reaction));
    result.material_ids.merge(nonzero_ids(c));
  }
  result.parameters = parameters.dirichlet.path;
  for (const TextParameter *const other : {&parameters.robin, &parameters.boundary_reaction})
    if (!other->path.empty())
      result.parameters += " or " + other->path;
  return result;
}

template <int dim>
unsigned int DiffusionReaction<dim>::highest_degree(const bool is_simplex) const
{
  return has_nodal_reaction && is_simplex ? 1 : Problem<dim>::highest_degree(is_simplex);
}

template <int dim>
void DiffusionReaction<dim>::check(const Mesh<dim> &mesh, const unsigned int degree) const
{
  if (has_nodal_reaction && mesh.is_simplex && degree > 1)
    throw ParameterError(
        parameters.section +
            " with a nonlinear reaction needs a nodal quadrature with positive weights, but "
            "triangles and tetrahedra have one for degree 1 only. Set "
            "Discretization/Degree to 1, or use quadrilaterals or hexahedra.",
        "Discretization/Degree");
  require_matching_sides(parameters.periodic.path, mesh, periodic);
  require_constrained_components(mesh, periodic, determining_regions(), parameters.dirichlet.path);
  if (!dirichlet.empty() || has_capacity())
    return;
  if (const auto growing = find_growing_flux(mesh); growing && growing->dominates)
    throw ParameterError(
        text_of(mesh, *growing) +
            " Nothing else holds u, so that no stable state exists. Change the sign.",
        parameters.neumann.path);
}

template <int dim>
std::vector<std::string>
DiffusionReaction<dim>::warnings(const Discretization<dim> &discretization,
                                 const unsigned int /* refinements */) const
{
  std::vector<std::string> result;
  for (const std::string &entry : entries_of(parameters.conductivity.text))
    if (split_expressions(entry, ',').size() > 1 && !decimal_comma_in(entry).empty())
      result.push_back(parameters.conductivity.path + " = '" + entry +
                       "' gives one value per direction, k_x, k_y" + (dim == 3 ? ", k_z." : ".") +
                       advice_on_decimal_comma(entry));
  if (const auto growing = find_growing_flux(discretization.mesh()))
    result.push_back(text_of(discretization.mesh(), *growing) +
                     " Change the sign unless this is intended.");
  return result;
}

/// Returns the boundary flux that grows fastest with u; nullopt if none grows. Uses data of the
/// coarse mesh, which is replicated on all ranks.
template <int dim>
auto DiffusionReaction<dim>::find_growing_flux(const Mesh<dim> &mesh) const
    -> std::optional<GrowingFlux>
{
  if (degree_in_u(neumann) != 1)
    return {};
  std::optional<GrowingFlux> result;
  double integral = 0.;
  PointTerms terms;
  PointBatch<dim> at;
  const auto derivative_at = [&](const std::vector<Point<dim>> &centre) {
    at.evaluation_points = &centre;
    at.u.reinit(1, 1);
    at.u[0][0] = 0.;
    terms.reinit(1, 1, dim, 1);
    at.is_on_side() ? DiffusionReaction::boundary_flux(at, terms)
                    : DiffusionReaction::source(at, terms);
    return *terms.u_derivative(0, 0);
  };
  for (const auto &cell : mesh.coarse().cell_iterators_on_level(0)) {
    at.material = cell->material_id();
    at.boundary = numbers::internal_face_boundary_id;
    integral += cell->measure() * derivative_at({cell->center()});
    for (const unsigned int f : cell->face_indices()) {
      const auto id = mesh.side_id(cell, f);
      if (!has_boundary_flux(id) || !InnerSides<dim>::is_integrated_from(cell, f))
        continue;
      at.boundary = id;
      const double derivative = derivative_at({cell->face(f)->center()});
      integral += cell->face(f)->measure() * derivative;
      if (derivative > 0. && (!result || derivative > result->derivative))
        result = {id, derivative, false};
    }
  }
  if (result)
    result->dominates = integral > 0. && !problem_traits.has_nonlinear_terms && !has_nodal_reaction;
  return result;
}

template <int dim>
std::string DiffusionReaction<dim>::text_of(const Mesh<dim> &mesh, const GrowingFlux &growing) const
{
  std::ostringstream text;
  text << parameters.neumann.path << " grows with u on boundary '"
       << mesh.regions.name_of(growing.id) << "', by " << growing.derivative
       << " per unit of u: the hotter the body, the more heat enters. Convection is h*(u_0 - u) "
          "with the temperature u_0 of the surroundings.";
  return text.str();
}

template <int dim>
void DiffusionReaction<dim>::check_data(const Discretization<dim> &discretization) const
{
  if (!parameters.conductivity.path.empty())
    check_sign(/* may be zero */ false, parameters.conductivity.path, discretization, k);
  if (has_capacity())
    check_sign(/* may be zero */ false, parameters.capacity.path, discretization, storage_capacity);
  if (!c.empty())
    check_sign(/* may be zero */ true, parameters.reaction_coefficient.path, discretization, c);
  if (!boundary_reaction.empty())
    largest_coefficient("c", parameters.boundary_reaction.path, discretization, boundary_reaction);
  if (robin.empty())
    return;
  const double largest = largest_coefficient("a", parameters.robin.path, discretization, robin);
  if (dirichlet.empty() && largest == 0. && determining_regions().material_ids.empty())
    throw ParameterError(
        "a of " + parameters.robin.path +
            " is 0 everywhere, so that u is known only up to a constant. Move such conditions to " +
            parameters.neumann.path + ".",
        parameters.robin.path);
}

/// Computes σ = k∇u, with k for each direction.
template <int dim>
void DiffusionReaction<dim>::flux(const PointBatch<dim> &at, PointTerms &sigma) const
{
  const Field<dim> &field = *k.at(at.material);
  const bool is_isotropic = field.n_components == 1;
  std::vector<double> of_direction(at.size()), u_derivative;
  for (unsigned int d = 0; d < dim; ++d) {
    const unsigned int component = is_isotropic ? 0 : d;
    if (d == 0 || !is_isotropic)
      field.evaluate(at, of_direction.data(), component);
    const double *const gradient = at.gradient(0, d);
    double *const value = sigma.value(d), *const gradient_derivative =
                                              sigma.gradient_derivative(d, 0, d);
    for (unsigned int q = 0; q < at.size(); ++q) {
      gradient_derivative[q] = of_direction[q];
      value[q] = of_direction[q] * gradient[q];
    }
    if (field.degree_in_u(component) == 0)
      continue;
    require_positive(parameters.conductivity.path, at, of_direction);
    u_derivative.resize(at.size());
    field.evaluate_u_derivative(at, u_derivative.data(), component);
    for (unsigned int q = 0; q < at.size(); ++q)
      sigma.u_derivative(d, 0)[q] = u_derivative[q] * gradient[q];
  }
}

template <int dim>
TimeDependence DiffusionReaction<dim>::time_dependence() const
{
  TimeDependence result;
  const auto add = [](const auto &fields, const unsigned int component, auto &ids) {
    for (const auto &[id, field] : fields)
      if (field->depends_on_time(component))
        ids.insert(id);
  };
  const auto any = [](const auto &fields, const bool only_if_of_u = false) {
    return std::any_of(fields.begin(), fields.end(), [&](const auto &entry) {
      const auto &field = *entry.second;
      return field.depends_on_time() && (!only_if_of_u || field.degree_in_u() > 0);
    });
  };
  for (const auto &entry : k)
    for (unsigned int d = 0; d < entry.second->n_components; ++d)
      result.matrix = result.matrix || entry.second->depends_on_time(d);
  result.matrix = result.matrix || any(storage_capacity) || any(c) || any(robin) ||
                  any(boundary_reaction) || any(f, true) || any(neumann, true);
  add(f, 0, result.sources);
  add(neumann, 0, result.fluxes);
  add(robin, 1, result.fluxes);
  add(boundary_reaction, 1, result.fluxes);
  add(dirichlet, 0, result.dirichlet);
  return result;
}

namespace
{
/// Adds the field and its derivative with respect to u to @p t.
template <int dim>
void add_field(const PointBatch<dim> &at, const Field<dim> &field, PointTerms &t)
{
  if (field.is_zero())
    return;
  std::vector<double> values(at.size());
  field.evaluate(at, values.data());
  double *const value = t.value(0);
  for (unsigned int q = 0; q < at.size(); ++q)
    value[q] += values[q];
  if (field.degree_in_u() == 0)
    return;
  field.evaluate_u_derivative(at, values.data());
  double *const u_derivative = t.u_derivative(0, 0);
  for (unsigned int q = 0; q < at.size(); ++q)
    u_derivative[q] += values[q];
}
} // namespace

template <int dim>
void DiffusionReaction<dim>::capacity(const PointBatch<dim> &at, PointTerms &c) const
{
  const Field<dim> &field = *storage_capacity.at(at.material);
  add_field(at, field, c);
  if (field.degree_in_u() > 0)
    require_positive(parameters.capacity.path, at, {c.value(0), c.value(0) + at.size()});
}

/// Adds λ c φ(u) to s.
template <int dim>
void DiffusionReaction<dim>::add_reaction(const PointBatch<dim> &at, const Field<dim> &c,
                                          PointTerms &s) const
{
  std::vector<double> values(at.size());
  c.evaluate(at, values.data());
  double *const value = s.value(0), *const u_derivative = s.u_derivative(0, 0);
  for (unsigned int q = 0; q < at.size(); ++q) {
    value[q] += values[q] * reaction->value(at.u[0][q]);
    u_derivative[q] += values[q] * reaction->derivative(at.u[0][q]);
  }
}

template <int dim>
void DiffusionReaction<dim>::source(const PointBatch<dim> &at, PointTerms &s) const
{
  add_field(at, *f.at(at.material), s);
  if (reaction && !has_nodal_reaction && !c.empty() && !c.at(at.material)->is_zero())
    add_reaction(at, *c.at(at.material), s);
}

template <int dim>
void DiffusionReaction<dim>::boundary_flux(const PointBatch<dim> &at, PointTerms &g) const
{
  if (const auto q = neumann.find(at.boundary); q != neumann.end())
    add_field(at, *q->second, g);
  std::vector<double> values(at.size()), exterior(at.size());
  if (const auto data = robin.find(at.boundary); data != robin.end()) {
    data->second->evaluate(at, values.data(), 0);
    data->second->evaluate(at, exterior.data(), 1);
    for (unsigned int q = 0; q < at.size(); ++q) {
      g.value(0)[q] += exterior[q] - values[q] * at.u[0][q];
      g.u_derivative(0, 0)[q] -= values[q];
    }
  }
  if (const auto data = boundary_reaction.find(at.boundary); data != boundary_reaction.end()) {
    data->second->evaluate(at, values.data(), 0);
    data->second->evaluate(at, exterior.data(), 1);
    for (unsigned int q = 0; q < at.size(); ++q)
      g.value(0)[q] -= values[q] * reaction->value(exterior[q]);
    if (!has_nodal_reaction)
      add_reaction(at, *data->second, g);
  }
}

template <int dim>
void DiffusionReaction<dim>::reaction_weight(const PointBatch<dim> &at,
                                             std::vector<double> &weights) const
{
  if (at.is_on_side()) {
    if (const auto data = boundary_reaction.find(at.boundary); data != boundary_reaction.end())
      data->second->evaluate(at, weights.data());
  }
  else if (!c.empty())
    c.at(at.material)->evaluate(at, weights.data());
}

template <int dim>
std::vector<Quantity> DiffusionReaction<dim>::quantities(DiscreteSolution<dim> &solution) const
{
  std::vector<Quantity> result;
  if (!problem_traits.has_nonlinear_terms && !has_capacity()) {
    const Evaluation &evaluation = solution.evaluation();
    double energy = evaluation.quadratic_energy;
    if (has_nodal_reaction) {
      double sum = 0.; // −λ Σ w_i Φ(u_i) with Φ' = φ
      for (unsigned int i = 0; i < evaluation.weights.locally_owned_size(); ++i)
        if (const double w = evaluation.weights.local_element(i); w != 0.)
          sum -= reaction->term.lambda * w * reaction->potential(solution.u().local_element(i));
      energy += Utilities::MPI::sum(sum, solution.discretization().communicator());
    }
    result.push_back({"energy", energy});
  }
  for (const Quantity &quantity : solution.flux_quantities())
    result.push_back(quantity);
  return result;
}

template class DiffusionReaction<2>;
template class DiffusionReaction<3>;
} // namespace femgpu
