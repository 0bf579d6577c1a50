#include "physics/discretization.h"

#include "linalg/base/error.h"
#include "physics/base/deal_ii_compat.h"
#include "physics/curves_and_point_sets.h"
#include "physics/mesh/mesh_check.h"
#include "physics/mesh/mesh_mapping.h"
#include "physics/normal_constraints.h"
#include "physics/periodic_constraints.h"
#include "physics/problem.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_q_iso_q1.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/fe/mapping_fe.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/reference_cell.h>
#include <deal.II/numerics/vector_tools_boundary.h>

#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

namespace femgpu
{
using namespace dealii;

DiscretizationParameters::DiscretizationParameters() : ParameterAcceptor("/Discretization")
{
  add_parameter(
      "Degree", degree,
      "Polynomial degree p of the finite elements: 1 to 4 on quadrilaterals and hexahedra (FE_Q), "
      "1 or 2 on triangles and tetrahedra (FE_SimplexP). If the solution is smooth, the L2 norm of "
      "the error decreases like h^(p+1), with the cell size h. auto: 2 for second-order mesh files "
      "if the physics supports it, otherwise 1.",
      prm, Patterns::Selection("auto|1|2|3|4"));
}

namespace
{
template <int dim>
std::unique_ptr<FiniteElement<dim>> make_element(const bool is_simplex, const unsigned int degree,
                                                 const unsigned int n_components)
{
  const unsigned int highest = is_simplex ? 2 : 4;
  if (degree < 1 || degree > highest)
    throw ParameterError(
        "Degree " + std::to_string(degree) + " is not available on " +
            (is_simplex ? "triangles and tetrahedra" : "quadrilaterals and hexahedra") +
            "; choose 1 to " + std::to_string(highest) + ".",
        "Discretization/Degree");
  std::unique_ptr<FiniteElement<dim>> scalar;
  if (is_simplex)
    scalar = std::make_unique<FE_SimplexP<dim>>(degree);
  else
    scalar = std::make_unique<FE_Q<dim>>(degree);
  if (n_components == 1)
    return scalar;
  return std::make_unique<FESystem<dim>>(*scalar, n_components);
}
} // namespace

template <int dim>
unsigned int degree_of(const DiscretizationParameters &parameters, const Mesh<dim> &mesh,
                       const Problem<dim> &problem)
{
  if (parameters.degree == "auto")
    return std::min(mesh.order, problem.highest_degree(mesh.is_simplex));
  return static_cast<unsigned int>(Utilities::string_to_int(parameters.degree));
}

template <int dim>
Discretization<dim>::Discretization(const Mesh<dim> &mesh, const unsigned int degree,
                                    const unsigned int n_components)
    : the_mesh(&mesh), fe(make_element<dim>(mesh.is_simplex, degree, n_components)),
      the_mapping(make_mapping(mesh, degree)), dof_handler(*mesh.triangulation)
{}

namespace
{
/// Returns numbers for renumber_dofs() that make the components of a node consecutive. From degree
/// 3 on, a line has several nodes, and deal.II numbers all nodes of one component, then those
/// of the next.
template <int dim>
std::vector<types::global_dof_index> numbers_by_nodes(const DoFHandler<dim> &dof_handler)
{
  const FiniteElement<dim> &element = dof_handler.get_fe();
  const IndexSet &owned = dof_handler.locally_owned_dofs();
  /// The first dof of a node, and a component.
  using ComponentOfNode = std::pair<types::global_dof_index, unsigned int>;
  std::vector<std::pair<ComponentOfNode, types::global_dof_index>> in_order(owned.n_elements());
  std::vector<types::global_dof_index> dofs(element.n_dofs_per_cell());
  for (const auto &cell : dof_handler.active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    cell->get_dof_indices(dofs);
    for (unsigned int i = 0; i < dofs.size(); ++i) {
      if (!owned.is_element(dofs[i]))
        continue;
      const auto [component, node] = element.system_to_component_index(i);
      const auto position = owned.index_within_set(dofs[i]);
      in_order[position] = {{dofs[element.component_to_system_index(0, node)], component},
                            position};
    }
  }
  std::sort(in_order.begin(), in_order.end());
  std::vector<types::global_dof_index> result(in_order.size());
  for (std::size_t k = 0; k < in_order.size(); ++k)
    result[in_order[k].second] = owned.nth_index_in_set(k);
  return result;
}
} // namespace

template <int dim>
double Discretization<dim>::largest_diameter() const
{
  if (!the_blocks)
    return GridTools::maximal_cell_diameter(*the_mesh->triangulation, *the_mapping);
  double largest = 0.;
  for (const auto &block : dof_handler.active_cell_iterators())
    if (block->is_locally_owned())
      largest = std::max(largest, the_blocks->largest_diameter(block));
  return Utilities::MPI::max(largest, communicator());
}

template <int dim>
std::size_t Discretization<dim>::n_owned_cells() const
{
  return the_mesh->triangulation->n_locally_owned_active_cells() *
         Utilities::pow(the_mesh->cells_per_block, dim);
}

template <int dim>
unsigned int Discretization<dim>::n_cell_indices() const
{
  return the_mesh->triangulation->n_active_cells() * Utilities::pow(the_mesh->cells_per_block, dim);
}

template <int dim>
void Discretization<dim>::distribute_dofs()
{
  const unsigned int n = the_mesh->cells_per_block, n_components = fe->n_components();
  if (n == 1)
    dof_handler.distribute_dofs(*fe);
  else if (n_components == 1)
    dof_handler.distribute_dofs(FE_Q_iso_Q1<dim>(n));
  else
    dof_handler.distribute_dofs(FESystem<dim>(FE_Q_iso_Q1<dim>(n), n_components));
  if (n_components > 1 && std::max(fe->degree, n) > 2)
    dof_handler.renumber_dofs(numbers_by_nodes(dof_handler));
  if (n > 1)
    the_blocks = std::make_unique<Blocks<dim>>(n, dof_handler, *fe);
  if (!the_mesh->inner_sides.empty())
    inner_sides =
        std::make_unique<InnerSidesOfCells<dim>>(the_mesh->inner_sides, *the_mesh->triangulation);
  relevant_dofs = dofs_of(cells(), fe->n_dofs_per_cell(), owned());
}

namespace
{
using Index = types::global_dof_index;
using Line = AffineConstraints<double>::ConstraintLine;
using Lines = std::map<Index, Line>;

/// Collective. Returns the constraints of @p dofs, fetched from the ranks that own these dofs; free
/// dofs have none.
/// @param known the constraints of the dofs that this rank owns, and possibly of other dofs
std::vector<Line> fetch_constraints(const IndexSet &owned, const IndexSet &dofs, const Lines &known,
                                    MPI_Comm communicator)
{
  const auto owners = Utilities::MPI::compute_index_owner(owned, dofs, communicator);
  std::map<unsigned int, std::vector<Index>> requests;
  auto owner = owners.begin();
  for (const Index dof : dofs)
    requests[*owner++].push_back(dof);
  std::map<unsigned int, std::vector<Line>> answers;
  for (const auto &[rank, requested_dofs] : Utilities::MPI::some_to_some(communicator, requests)) {
    std::vector<Line> &answer = answers[rank];
    for (const Index dof : requested_dofs)
      if (const auto line = known.find(dof); line != known.end())
        answer.push_back(line->second);
  }
  std::vector<Line> lines;
  for (const auto &[rank, answer] : Utilities::MPI::some_to_some(communicator, answers))
    lines.insert(lines.end(), answer.begin(), answer.end());
  return lines;
}

/// Returns the dofs on which the constraints @p lines depend.
IndexSet masters_of(const Lines &lines, const IndexSet::size_type size)
{
  std::vector<Index> masters;
  for (const auto &[dof, line] : lines)
    for (const auto &entry : line.entries)
      masters.push_back(entry.first);
  std::sort(masters.begin(), masters.end());
  IndexSet set(size);
  set.add_indices(masters.begin(), masters.end());
  set.compress();
  return set;
}

/**
 * Collective. Adds to @p constraints, which are not closed, the owners' constraints of all other
 * relevant dofs, of the dofs that these depend on, and so on. Each rank has all cells around the
 * dofs it owns, so its constraints for owned dofs are complete. Its constraints for ghosts may be
 * incomplete: a ghost may be on a boundary or depend on a cell that only other ranks have.
 * AffineConstraints::make_consistent_in_parallel() of deal.II 9.4.1 leaves some ghosts incomplete:
 * tests/physics/hanging_nodes_at_corner.prm has a mesh that shows this on 4 ranks.
 */
template <int dim>
void make_constraints_consistent(const Discretization<dim> &discretization,
                                 AffineConstraints<double> &constraints)
{
  const MPI_Comm communicator = discretization.communicator();
  if (Utilities::MPI::n_mpi_processes(communicator) == 1)
    return; // this rank owns all dofs
  const IndexSet &owned = discretization.owned();
  Lines lines;
  for (const auto &line : constraints.get_lines())
    if (owned.is_element(line.index))
      lines[line.index] = line;
  IndexSet known = owned, unknown = discretization.relevant();
  unknown.subtract_set(known);
  while (Utilities::MPI::max(unknown.n_elements(), communicator) > 0) {
    for (Line &line : fetch_constraints(owned, unknown, lines, communicator))
      lines[line.index] = std::move(line);
    known.add_indices(unknown);
    unknown = masters_of(lines, owned.size());
    unknown.subtract_set(known);
  }
  known.compress();

  constraints.clear();
  compat::reinit(constraints, owned, known);
  for (const auto &[dof, line] : lines) {
    constraints.add_line(dof);
    constraints.add_entries(dof, line.entries);
    constraints.set_inhomogeneity(dof, line.inhomogeneity);
  }
}

/**
 * Collective. Returns the free dof with the lowest position along a fixed direction. If the dof
 * with the lowest position is constrained to equal another dof, returns the latter. Positions,
 * unlike dof numbers, do not depend on the number of ranks, so the same dof is fixed on any number
 * of ranks.
 */
template <int dim>
types::global_dof_index lowest_free_dof(const Discretization<dim> &discretization)
{
  double lowest = std::numeric_limits<double>::max();
  types::global_dof_index result = numbers::invalid_dof_index;
  for_each_owned_node(discretization, [&](const auto dof, const Point<dim> &node) {
    const auto *const entries = discretization.conformity().get_constraint_entries(dof);
    const bool is_unconstrained = entries == nullptr;
    if (!is_unconstrained && !(entries->size() == 1 && std::abs((*entries)[0].second - 1.) < 1e-12))
      return;
    // This is no symmetry direction of usual bodies, so the lowest node is unique despite rounding.
    const double slopes[3] = {1., 0.6180339887, 0.3141592654};
    double position = 0.;
    for (unsigned int d = 0; d < dim; ++d)
      position += slopes[d] * node[d];
    if (position < lowest) {
      lowest = position;
      result = is_unconstrained ? dof : (*entries)[0].first;
    }
  });
  const auto all =
      Utilities::MPI::all_gather(discretization.communicator(), std::make_pair(lowest, result));
  return std::min_element(all.begin(), all.end())->second;
}

/// Prescribes the values of dofs on inner sides that have no other condition.
template <int dim>
void constrain_inner_sides(const Discretization<dim> &discretization,
                           const DirichletCondition<dim> &condition,
                           AffineConstraints<double> &constraints)
{
  const FiniteElement<dim> &element = discretization.dofs().get_fe();
  FEValues<dim> nodes(discretization.mapping(), element,
                      Quadrature<dim>(element.get_unit_support_points()), update_quadrature_points);
  for_each_face_with_id(
      discretization, {condition.id},
      [&](const auto &cell, unsigned int /* face */, const auto &dofs, const auto &on_face) {
        nodes.reinit(cell);
        for (const unsigned int i : on_face) {
          const unsigned int component = element.system_to_component_index(i).first;
          if (!condition.mask[component] || !constraints.can_store_line(dofs[i]) ||
              constraints.is_constrained(dofs[i]))
            continue;
          constraints.add_line(dofs[i]);
          constraints.set_inhomogeneity(
              dofs[i], condition.values->value(nodes.quadrature_point(i), component));
        }
      });
}

/// Prescribes the values of dofs on @p region that have no other condition.
template <int dim>
void constrain_curve_or_point_set(const Discretization<dim> &discretization,
                                  const CurveOrPointSet &region,
                                  const DirichletCondition<dim> &condition,
                                  AffineConstraints<double> &constraints)
{
  for (const auto &[dof, node] : dofs_on(region, discretization))
    if (condition.mask[node.component] && constraints.can_store_line(dof) &&
        !constraints.is_constrained(dof)) {
      constraints.add_line(dof);
      constraints.set_inhomogeneity(dof, condition.values->value(node.position, node.component));
    }
}
} // namespace

template <int dim>
void Discretization<dim>::make_constraints(const Problem<dim> &problem)
{
  const bool has_hanging_nodes = the_mesh->triangulation->has_hanging_nodes();
  the_constraints.clear();
  compat::reinit(the_constraints, owned(), relevant_dofs);
  if (has_hanging_nodes) // this check is faster than a search for hanging nodes
    DoFTools::make_hanging_node_constraints(dof_handler, the_constraints);
  const auto sides = problem.periodic_sides();
  if (!sides.empty())
    add_periodic_constraints(*this, sides, the_constraints);
  const bool has_dof_dependencies = has_hanging_nodes || !sides.empty();
  the_conformity.clear();
  the_conformity.copy_from(the_constraints);
  if (has_dof_dependencies)
    make_constraints_consistent(*this, the_conformity);
  the_conformity.close();
  const auto conditions = problem.dirichlet_conditions();
  for (const auto &condition : conditions)
    if (the_mesh->regions.boundaries.inner.count(condition.id) > 0)
      constrain_inner_sides(*this, condition, the_constraints);
    else if (the_mesh->regions.curve_or_point_set(condition.id) == nullptr)
      VectorTools::interpolate_boundary_values(*the_mapping, dof_handler, condition.id,
                                               *condition.values, the_constraints, condition.mask);
  for (const auto &condition : conditions)
    if (const CurveOrPointSet *const region = the_mesh->regions.curve_or_point_set(condition.id))
      constrain_curve_or_point_set(*this, *region, condition, the_constraints);
  const auto planes = problem.symmetry_planes();
  if (!planes.empty())
    add_normal_constraints(*this, planes, the_constraints);
  if (problem.fixes_mean())
    if (const auto dof = lowest_free_dof(*this); the_constraints.can_store_line(dof))
      the_constraints.add_line(dof);
  if (has_dof_dependencies || !planes.empty())
    make_constraints_consistent(*this, the_constraints);
  const auto lines = the_constraints.get_lines();
  const bool has_entries = std::any_of(lines.begin(), lines.end(),
                                       [](const auto &line) { return !line.entries.empty(); });
  is_linearly_constrained =
      Utilities::MPI::logical_or(has_dof_dependencies || has_entries, communicator());
  the_constraints.close();
}

template <int dim>
FeVector Discretization<dim>::inhomogeneous_part(const FeVector &x) const
{
  FeVector result = make_vector();
  for (const auto &line : the_constraints.get_lines())
    if (owned().is_element(line.index)) {
      double value = x(line.index);
      for (const auto &[free, weight] : line.entries)
        value -= weight * x(free);
      result(line.index) = value;
    }
  result.update_ghost_values();
  return result;
}

template <int dim>
void Discretization<dim>::set_inhomogeneities(const FeVector &values)
{
  for (const auto dof : relevant_dofs)
    if (the_constraints.is_constrained(dof))
      the_constraints.set_inhomogeneity(dof, values(dof));
}

template <int dim>
void Discretization<dim>::constrain(FeVector &x, const FeVector &inhomogeneities) const
{
  x.update_ghost_values();
  for (const auto &line : the_constraints.get_lines())
    if (owned().is_element(line.index)) {
      double value = inhomogeneities(line.index);
      for (const auto &[free, weight] : line.entries)
        value += weight * x(free);
      x(line.index) = value;
    }
  x.update_ghost_values();
}

template <int dim>
MPI_Comm Discretization<dim>::communicator() const
{
  return compat::communicator(*the_mesh->triangulation);
}

template <int dim>
unsigned int Discretization<dim>::geometry_degree() const
{
  if (const auto *const of_cubes = dynamic_cast<const MappingQ<dim> *>(the_mapping.get()))
    return of_cubes->get_degree();
  return dynamic_cast<const MappingFE<dim> &>(*the_mapping).get_degree();
}

template <int dim>
FeVector Discretization<dim>::make_vector() const
{
  return FeVector(owned(), relevant(), communicator());
}

template <int dim>
std::string Discretization<dim>::check_cells() const
{
  return check_curved_cells(*the_mesh, *the_mapping, cell_quadrature(), degree());
}

template <int dim>
Quadrature<dim> Discretization<dim>::cell_quadrature(const unsigned int extra_points) const
{
  unsigned int n_points = fe->degree + extra_points;
  if (the_mesh->is_simplex)
    n_points = std::min(n_points, 4U); // the largest rule in deal.II 9.4
  return fe->reference_cell().template get_gauss_type_quadrature<dim>(n_points);
}

template <int dim>
Quadrature<dim - 1> Discretization<dim>::face_quadrature() const
{
  return fe->reference_cell().face_reference_cell(0).template get_gauss_type_quadrature<dim - 1>(
      fe->degree + 1);
}

namespace
{
/// Returns the nodes of @p element, weighted by the integrals of their shape functions.
template <int dim>
Quadrature<dim> nodes_with_weights(const FiniteElement<dim> &element, const Quadrature<dim> &exact)
{
  std::vector<double> weights(element.n_dofs_per_cell(), 0.);
  for (unsigned int i = 0; i < weights.size(); ++i)
    for (unsigned int q = 0; q < exact.size(); ++q)
      weights[i] += element.shape_value(i, exact.point(q)) * exact.weight(q);
  return Quadrature<dim>(element.get_unit_support_points(), weights);
}
} // namespace

template <int dim>
Quadrature<dim> Discretization<dim>::nodal_quadrature() const
{
  return nodes_with_weights(fe->base_element(0), cell_quadrature(1));
}

template <int dim>
Quadrature<dim - 1> Discretization<dim>::nodal_face_quadrature() const
{
  return nodes_with_weights(*make_element<dim - 1>(the_mesh->is_simplex, fe->degree, 1),
                            face_quadrature());
}

template unsigned int degree_of(const DiscretizationParameters &, const Mesh<2> &,
                                const Problem<2> &);
template unsigned int degree_of(const DiscretizationParameters &, const Mesh<3> &,
                                const Problem<3> &);
template class Discretization<2>;
template class Discretization<3>;
} // namespace femgpu
